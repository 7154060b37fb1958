"""Mutants of the reassignment in two phases: one deliberate mistake each, on the variant `phases-checked`."""

from kafkaproof.spec.kafka.assignment import append_members
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.sets import intersection, only
from kafkaproof.spec.partition.context import REASSIGN, clear, copy
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import mutant, mutant_within
from kafkaproof.spec.partition.phases import phases, progress, zookeeper
from kafkaproof.spec.partition.phases.zookeeper import set_list
from kafkaproof.spec.partition.reassignment import brokers
from kafkaproof.spec.partition.reassignment import progress as reassignment
from kafkaproof.spec.partition.reassignment.progress import leave
from kafkaproof.spec.partition.reassignment.zookeeper import checked_set_assignments, set_assignments
from kafkaproof.spec.partition.zookeeper import known_as_they_are

ONE, ZOMBIE = scope(replicas=1, epochs=1), scope(replicas=1, leader_epochs=1, faults=2)
ASKED_TWICE = scope(replicas=1, epochs=1, leader_epochs=1, faults=2)


def write_and_forget(zk, b, p, known, epoch, delivery):
    """A partition is taken off the list as soon as its new replicas are written."""
    answer = set_assignments(zk, b, p, known, delivery)
    if answer == OK:
        clear(zk.targets[p])
    return answer


def drop_all(controller, p):
    """Every partition is taken off the list at once."""
    return True


def take_off_again(controller, p):
    """What has been taken off the list is to be taken off again."""
    leave(controller, p)
    controller.strategy = REASSIGN


def plan_backwards(controller, partition):
    """The first phase keeps the old replicas in front of the target."""
    clear(controller.target)
    append_members(partition.assignment, replicas_of(partition.assignment), controller.target)
    append_members(partition.aim, replicas_of(partition.aim), controller.target)
    copy(controller.target, partition.assignment)
    clear(controller.target)


def write_nothing(zk, b, p, known, epoch, delivery):
    """The target is not written."""
    return OK


def await_nothing(partition, isr):
    """The second phase begins before the target is in the ISR."""
    return True


def write_topic_unchecked(zk, b, p, known, epoch, delivery):
    """In two phases an assignment is written without the check of the epoch."""
    return set_assignments(zk, b, p, known, delivery)


def write_list_unchecked(zk, b, p, known, epoch, delivery):
    """The list of partitions to reassign is written without the check of the epoch."""
    return set_list(zk, b, p, known, delivery)


def tell_first(zk, b, members):
    """Only broker 0 is told of the leader epoch that a phase raises."""
    return intersection(known_as_they_are(zk, b, members), only(0))


def keep_eligible(controller, topics):
    """A topic that is being reassigned in two phases is eligible for deletion when a term begins."""
    return 0


MUTANTS = (
    mutant_within(
        "taken-off-early", "request_remembered", "write_union", {checked_set_assignments: write_and_forget}, ONE
    ),
    mutant("taken-off-at-once", "request_goes_last", {progress.is_dropped: drop_all}, ONE),
    mutant_within("taken-off-again", "request_ends", "delete_listed", {reassignment.leave: take_off_again}, ONE),
    mutant("old-first", "planned_as_asked", {phases.plan_union: plan_backwards}, ONE),
    mutant_within("target-unwritten", "target_written", "write_target", {checked_set_assignments: write_nothing}, ONE),
    mutant("target-not-awaited", "target_in_sync", {phases.is_caught_up: await_nothing}, ONE),
    mutant("topic-unchecked", "assigned_by_right", {checked_set_assignments: write_topic_unchecked}, ZOMBIE),
    mutant("list-unchecked", "listed_by_right", {zookeeper.checked_set_list: write_list_unchecked}, ZOMBIE),
    mutant_within("few-told-of-phase", "replicas_told", "tell_replicas", {known_as_they_are: tell_first}, ONE),
    mutant("in-phases-eligible", "deletions_taken_over", {brokers.keep_from_deletion: keep_eligible}, ASKED_TWICE),
)
