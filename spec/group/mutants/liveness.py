"""Mutants of liveness: mistakes by which something that must come does not. They are not held to the writing rules."""

from kafkaproof.spec.group import deletion, join, loading, membership, network, verdicts
from kafkaproof.spec.group.mutants import liveness_mistakes as wrong
from kafkaproof.spec.group.mutants.group import scope as group_scope
from kafkaproof.spec.language.mutants.mutant import mutant

ONE, TWO, MOVED = group_scope(1, 1, 1, 1, 1, 1), group_scope(1, 2, 2, 2, 1, 2), group_scope(2, 1, 1, 1, 2, 1)
AGED = group_scope(1, 1, 1, 2, 1, 2, periods=1)
GROUP = (
    mutant("rebalance-not-told", "all_work", {verdicts.heartbeat_verdict: wrong.hush_the_rebalance}, TWO),
    mutant("followers-not-answered", "is_answered", {network.answer_syncs: wrong.answer_the_leader}, TWO),
    mutant("initial-delay-endless", "is_answered", {join.join_timeout: wrong.delay_for_ever}, ONE),
    mutant("sessions-endless", "has_left", {membership.expire: wrong.expire_newcomers}, ONE),
    mutant("empty-groups-stay", "is_removed", {deletion.is_forsaken: wrong.keep_forsaken}, AGED),
    mutant("load-endless", "leader_serves", {loading.load: wrong.load_records}, MOVED),
)
