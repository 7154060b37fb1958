"""Mutants of liveness outside groups: mistakes by which something that must come does not.

They are made by the functions of `liveness_control_mistakes`, and one by that of `topics_steps`. Each is asked at a
scope where the variant that it is a mutant of keeps the property.
"""

from spec import zookeeper
from spec.controller import election
from spec.language.model import first_paragraph
from spec.museum import consumer_variants as variants
from spec.mutants import liveness_control_mistakes as wrong
from spec.mutants.mutant import Mutant, mutant, within
from spec.mutants.topics import CALM, FAULT, MOVED_FAULT, TWICE
from spec.mutants.topics_steps import look_at_nothing
from spec.partition import brokers, progress, rebalance, triggers
from spec.partition import zookeeper as states
from spec.replica import leader
from spec.requests import network
from spec.topics import brokers as hosts
from spec.topics import deletion, reassignment, reign
from spec.topics import replica as logs
from spec.topics.progress import at_work


def scope(names, *values):
    """A scope of sizes with these names."""
    return dict(zip(names.split(), values))


PARTITION = "brokers replicas partitions epochs leader_epochs faults"
NO_FAULT, ONE_FAULT = scope(PARTITION, 2, 2, 1, 2, 3, 0), scope(PARTITION, 2, 2, 1, 2, 3, 1)
ASKED_TWICE = scope(PARTITION, 1, 1, 1, 1, 1, 2)
ASKED_AND_LOST = scope(PARTITION, 1, 1, 1, 1, 1, 3)
ONE_ELECTION = scope("brokers epochs faults receivers", 1, 1, 2, 1)
TWO_BROKERS = scope("brokers epochs faults receivers", 2, 2, 1, 1)
ONE_REIGN = scope("brokers replicas epochs leader_epochs queue faults", 2, 2, 1, 1, 3, 1)
TWO_REPLICAS = scope("brokers log records epochs faults min_isr unclean", 2, 1, 1, 1, 0, 1, 0)
CONSUMERS = "consumers partitions threads offsets retries changes expiries splits losses"
TWO_CONSUMERS = scope(CONSUMERS, 2, 1, 1, 0, 1, 0, 0, 0, 0)

UNWATCHED = {zookeeper.read_controller: wrong.read_unwatched}
ELECTION = (mutant("deposed-unheard", "one_ruler", UNWATCHED, TWO_BROKERS),)
STANDING = (
    mutant("deletion-unheard", "one_controller", UNWATCHED, TWO_BROKERS),
    mutant("own-write-unconfirmed", "one_controller", {election.register: wrong.register_unconfirmed}, ONE_ELECTION),
)
REQUESTS = (mutant("lost-not-sent-again", "all_agree", {network.answer: wrong.give_up_batch}, ONE_REIGN),)
LEADERS_STAY = {brokers.is_moved_away: wrong.move_followers}
FENCED = (
    mutant("nobody-told", "is_served_despite_loss", {states.known_as_they_are: wrong.tell_nobody}, NO_FAULT),
    Mutant(
        "startup-elects-nobody", first_paragraph(wrong.trigger_nobody), "is_served",
        within("broker_startup", {progress.trigger_online: wrong.trigger_nobody}), ONE_FAULT,
    ),
    mutant("rebalance-moves-nothing", "is_balanced", {rebalance.to_rebalance: wrong.move_nothing}, ONE_FAULT),
    mutant("leaders-stay", "may_go", LEADERS_STAY, ONE_FAULT),
    mutant(
        "preferred-left", "preferred_dealt_with", {triggers.preferred_election: wrong.prefer_if_needed}, ONE_FAULT,
    ),
    mutant(
        "watch-not-armed-again", "preferred_dealt_with",
        {triggers.delete_request: wrong.delete_unwatched, triggers.preferred_election: wrong.prefer_if_heard},
        ASKED_TWICE,
    ),
    mutant(
        "reassignment-left", "reassignment_dealt_with", {triggers.reassignment: wrong.reassign_if_needed}, ONE_FAULT,
    ),
    mutant(
        "own-deletion-unrecognised", "reassignment_dealt_with",
        {states.checked_delete_request: wrong.delete_until_found}, ASKED_AND_LOST,
    ),
    mutant(
        "own-write-unrecognised", "preferred_dealt_with",
        {states.checked_set_state: wrong.write_until_applied}, ASKED_AND_LOST,
    ),
)
LEGACY = (mutant("leaders-stay", "may_go_when_followed", LEADERS_STAY, ONE_FAULT),)
KIP455 = (
    mutant("answer-ends-nothing", "is_deleted_despite_failures", {deletion.handle_answer: wrong.note_answer}, CALM),
    mutant("startup-resumes-nothing", "is_deleted", {hosts.resume_for: wrong.resume_nothing}, FAULT),
    mutant("logs-kept", "no_stray_log", {logs.stop_replica: wrong.keep_log}, TWICE),
    mutant("catching-up-unheard", "has_moved", {reassignment.look_again: look_at_nothing}, CALM),
    mutant(
        "failover-looks-at-nothing", "has_moved", {reign.take_up_deletion: wrong.look_at_no_reassignment}, MOVED_FAULT,
    ),
)
TWO_PHASE = (
    Mutant(
        "catching-up-unheard", first_paragraph(look_at_nothing), "is_dealt_with",
        within("caught_up", {at_work: wrong.never_at_work}), CALM,
    ),
)
REPLICA = (
    mutant("fetches-not-noted", "is_in_sync", {leader.reached: wrong.reach_nothing}, TWO_REPLICAS),
    mutant("written-isr-not-taken", "alone_acknowledges", {leader.learn_isr: wrong.keep_isr}, TWO_REPLICAS),
)
CONSUMER = (mutant("one-attempt", "all_read", {variants.never_gives_up: wrong.give_up}, TWO_CONSUMERS),)
