"""Mutants of liveness: mistakes by which something that must come does not. They are not held to the writing rules."""

from kafkaproof.spec.group import deletion, join, loading, membership, network, verdicts
from kafkaproof.spec.group.mutants import liveness_mistakes as wrong
from kafkaproof.spec.group.scopes import scope
from kafkaproof.spec.language.mutants.mutant import mutant

ONE, TWO, MOVED = scope(log=1), scope(clients=2, ids=2, generations=2), scope(brokers=2, epochs=2, log=1)
AGED = scope(generations=2, periods=1)
GROUP = (
    mutant("rebalance-not-told", "all_work", {verdicts.heartbeat_verdict: wrong.hush_the_rebalance}, TWO),
    mutant("followers-not-answered", "is_answered", {network.answer_syncs: wrong.answer_the_leader}, TWO),
    mutant("initial-delay-endless", "is_answered", {join.join_timeout: wrong.delay_for_ever}, ONE),
    mutant("sessions-endless", "has_left", {membership.expire: wrong.expire_newcomers}, ONE),
    mutant("empty-groups-stay", "is_removed", {deletion.is_forsaken: wrong.keep_forsaken}, AGED),
    mutant("load-endless", "leader_serves", {loading.load: wrong.load_records}, MOVED),
)
