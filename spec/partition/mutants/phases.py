"""Mutants of the reassignment in two phases: one deliberate mistake each, on the variant `phases-checked`."""

from kafkaproof.spec.kafka.assignment import append_members
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.mutants.omission import omitting
from kafkaproof.spec.language.sets import intersection, only, union
from kafkaproof.spec.partition.context import REASSIGN, clear, copy, remember_leadership, remember_result
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import CALM, mutant, mutant_within
from kafkaproof.spec.partition.phases import lists, phases, progress, state, zookeeper
from kafkaproof.spec.partition.phases.network import name_replicas
from kafkaproof.spec.partition.phases.state import drop_event, forget_rest
from kafkaproof.spec.partition.phases.zookeeper import set_list
from kafkaproof.spec.partition.progress import proceed
from kafkaproof.spec.partition.reassignment import brokers
from kafkaproof.spec.partition.reassignment import progress as reassignment
from kafkaproof.spec.partition.reassignment.progress import leave
from kafkaproof.spec.partition.reassignment.reassignment import tell_replicas
from kafkaproof.spec.partition.reassignment.zookeeper import checked_set_assignments, set_assignments
from kafkaproof.spec.partition.telling import send_leadership, tell_partition
from kafkaproof.spec.partition.zookeeper import known_as_they_are

ONE, ZOMBIE = scope(replicas=1, epochs=1), scope(replicas=1, leader_epochs=1, faults=2)
TWO_REPLICAS = scope(epochs=1)
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


def tell_unnamed(s, b, p):
    """Replicas that a reassignment removes obey the LeaderAndIsr that does not name them any more."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    leader = partition.leader
    isr = partition.isr
    leader_epoch = partition.leader_epoch
    remember_result(controller, partition)
    replicas = union(replicas_of(partition.assignment), controller.removed)
    name_replicas(s.network, p, partition)
    send_leadership(s, b, p, intersection(replicas, controller.live))
    remember_leadership(partition, leader, isr, leader_epoch)
    tell_partition(s, b, p, controller.live)


def keep_eligible(controller, topics):
    """A topic that is being reassigned in two phases is eligible for deletion when a term begins."""
    return 0


def aim_at_nothing(controller, brokers):
    """When a broker comes, no reassignment in two phases to it is looked at."""
    return 0


def remember_aims(controller):
    """When a term ends, the targets of reassignments are remembered."""
    drop_event(controller)
    forget_rest(controller)


def leave_taken(controller, p):
    """The list of partitions to reassign counts as being taken up for ever."""
    leave(controller, p)
    proceed(controller)


OMITTED = tuple(
    omitting(transition, kills, CALM)
    for transition, kills in (
        (lists.find_request, "list_taken_up"),
        (phases.caught_up, "phase_looked_at"),
        (phases.check_target, "phase_chosen"),
        (phases.write_union, "union_written"),
        (phases.read_leader_epoch, "leader_epoch_read"),
        (tell_replicas, "raised_in_phase"),
        (phases.write_target, "target_written_in_phase"),
        (lists.delete_listed, "delisted_in_turn"),
    )
)
MUTANTS = OMITTED + (
    mutant("aims-not-looked-at", "aims_looked_at", {reassignment.reassigned_to: aim_at_nothing}, ASKED_TWICE),
    mutant("aims-remembered", "phases_end_with_term", {state.forget: remember_aims}, ASKED_TWICE),
    mutant("taken-for-ever", "phases_in_order", {progress.end: leave_taken}, ONE),
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
    mutant("unnamed-told", "replicas_told", {phases.tell_raised: tell_unnamed}, TWO_REPLICAS),
    mutant("in-phases-eligible", "deletions_taken_over", {brokers.keep_from_deletion: keep_eligible}, ASKED_TWICE),
)
