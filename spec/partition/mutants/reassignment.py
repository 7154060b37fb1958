"""Mutants of the reassignment of partitions: one deliberate mistake each, on the variant `reassigning`."""

from kafkaproof.spec.kafka import assignment
from kafkaproof.spec.kafka.assignment import append_members, target
from kafkaproof.spec.kafka.state_machines import REPLICA_DELETION_STARTED
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.mutants.omission import omitting
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, difference, everybody, intersection, only, union
from kafkaproof.spec.partition import context
from kafkaproof.spec.partition.context import MOVING, NO_EPOCH, REASSIGN, Broker, clear
from kafkaproof.spec.partition.deletion import progress as deletion_progress
from kafkaproof.spec.partition.deletion.deletion import topic_deletion as queue_topics
from kafkaproof.spec.partition.deletion.progress import to_take_offline
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import CALM, mutant, mutant_within
from kafkaproof.spec.partition.progress import proceed
from kafkaproof.spec.partition.reassignment import (
    admin_requests,
    brokers,
    faults,
    network,
    plans,
    progress,
    reassignment,
    state,
    zookeeper,
)
from kafkaproof.spec.partition.reassignment.brokers import keep_from_deletion
from kafkaproof.spec.partition.reassignment.plans import plan
from kafkaproof.spec.partition.reassignment.progress import leave, reassigned
from kafkaproof.spec.partition.reassignment.state import drop_event, forget_rest
from kafkaproof.spec.partition.reassignment.zookeeper import checked_delist, set_topic
from kafkaproof.spec.partition.telling import tell_partition
from kafkaproof.spec.partition.zookeeper import known_as_they_are, listed

ONE = scope(replicas=1, epochs=1)
TWO_REPLICAS, TWO_REQUESTS = scope(epochs=1), scope(replicas=1, epochs=1, leader_epochs=4, faults=2)
TWO_PARTITIONS = scope(partitions=2, replicas=1, epochs=1, leader_epochs=2)
ZOMBIE = scope(replicas=1, leader_epochs=1, faults=2)
ONE_RAISE = scope(replicas=1, epochs=1, leader_epochs=1)
ONE_MORE = scope(replicas=1, epochs=1, leader_epochs=1, faults=2)
LEFT = scope(replicas=1, epochs=1, leader_epochs=2, faults=3)
TAKEN_OVER = scope(replicas=1, leader_epochs=2, faults=2)


def forget_origin(zk, b, p, known, epoch, delivery):
    """What a reassignment removes is taken out of the topic znode when it begins."""
    answer = set_topic(zk, b, p, known, delivery)
    if answer == OK:
        partition = known.partitions[p]
        clear(zk.assignments[p])
        append_members(partition.assignment, target(partition.assignment, partition.removing), zk.assignments[p])
        zk.removing[p] = 0
    return answer


def start_without_state(s, b, p):
    """A new controller leaves a reassignment of a partition that has no state alone."""
    controller = s.brokers[b].controller
    leave(controller, p)
    proceed(controller)


def keep_listed(s, b, p):
    """A partition without a state stays in the request that lists it, to be taken up again."""
    controller = s.brokers[b].controller
    if controller.failing_over:
        controller.doing = MOVING
    else:
        start_without_state(s, b, p)


def delist_all(zk, b, partitions, epoch, delivery):
    """The request is deleted with all that it lists as soon as one partition is dealt with."""
    return checked_delist(zk, b, listed(zk), epoch, delivery)


def delist_again(controller, p):
    """What has been removed from the request is to be removed again."""
    leave(controller, p)
    controller.strategy = REASSIGN


def remove_added(partition, planned):
    """What a reassignment adds it removes, too."""
    plan(partition, planned)
    partition.removing = union(partition.removing, partition.adding)


def add_all(partition, planned):
    """The whole target counts as added, also what was there."""
    wanted = replicas_of(planned)
    plan(partition, planned)
    partition.adding = wanted


def append_backwards(source, members, sequence):
    """The target is written in the order of its last replica first."""
    for i in range(source.length):
        replica = source.slots[source.length - 1 - i]
        if contains(difference(members, replicas_of(sequence)), replica):
            push(sequence, replica)


def await_nothing(replicas, adding, removing, isr):
    """A reassignment comes to its end before its target is in the ISR."""
    return True


def stop_all(partition, brokers):
    """A replica that has not gone offline is stopped too."""
    return brokers


def keep_in_isr(controller, r):
    """Replicas that are removed are stopped in the ISR."""
    return 0 if controller.finishing else to_take_offline(controller, r)


def write_unchecked(zk, b, p, known, epoch, delivery):
    """An assignment is written without the check of the epoch."""
    return set_topic(zk, b, p, known, delivery)


def tell_first(zk, b, members):
    """Only broker 0 is told of the leader epoch that a reassignment raises."""
    return intersection(known_as_they_are(zk, b, members), only(0))


def keep_eligible(controller, topics):
    """A topic that is being reassigned is eligible for deletion when another controller takes over."""
    return 0


def wait_when_asked(s, b: Broker):
    """A topic whose deletion is asked for while it is being reassigned waits."""
    if not queue_topics(s, b):
        return False

    controller = s.brokers[b].controller
    keep_from_deletion(controller, topics_of(s.zk, reassigned(controller)))
    return True


def start_all(controller, p):
    """Replicas are deleted that have not been taken offline."""
    for r in range(len(controller.partitions[p].replicas)):
        if contains(replicas_of(controller.partitions[p].assignment), r):
            controller.partitions[p].replicas[r] = REPLICA_DELETION_STARTED


def take_none_offline(controller, p, r):
    """No replica of the topic in hand is taken offline."""
    return False


def call_all_alive(controller):
    """A target may have replicas on dead brokers."""
    return everybody(len(controller.partitions[0].replicas))


def keep_added(partition, planned):
    """A cancellation keeps what was added."""
    clear(planned)
    append_members(partition.assignment, replicas_of(partition.assignment), planned)
    plan(partition, planned)


def never_overtaken(network, epoch, p, b, leader_epoch):
    """A broker that is told to delete a replica does so whatever the leader epoch is."""
    return False


def stop_in_no_epoch(network, epoch, p, leader_epoch, to):
    """StopReplica goes to removed replicas without a leader epoch, as up to 2.5."""
    network.stops[epoch][p].to = union(network.stops[epoch][p].to, to)


def overtaken_by_its_own(network, epoch, p, b, leader_epoch):
    """A broker keeps a replica whose leader epoch it is told with the deletion, as up to 3.4.0 (KAFKA-13972)."""
    told = network.stops[epoch][p].leader_epochs[b]
    return told != NO_EPOCH and told <= leader_epoch


OMITTED = tuple(
    omitting(transition, kills, CALM)
    for transition, kills in (
        (admin_requests.reassign, "taken_up_in_turn"),
        (reassignment.write_assignment, "assignment_written"),
        (reassignment.check_reassignment, "checked_as_read"),
        (reassignment.tell_replicas, "raised_in_turn"),
        (reassignment.stop_removed, "removed_stopped"),
        (reassignment.write_target, "target_written_in_turn"),
        (brokers.drop_reassignment, "dropped_in_turn"),
        (brokers.drop_unknown, "unknown_dropped"),
        (faults.ask_for_unknown_reassignment, "unknown_listed_once"),
        (faults.ask_for_reassignment, "listed_once"),
    )
)


def look_at_no_isr(s, b, p):
    """A controller that has written an ISR looks at no reassignment."""
    tell_partition(s, b, p, s.brokers[b].controller.live)


def look_at_nothing(controller, brokers):
    """When a broker comes, no reassignment to it is looked at."""
    return 0


def forget_all_but_moved(controller):
    """When a term ends, what partitions are reassigned to is remembered."""
    drop_event(controller)
    forget_rest(controller)


def leave_unfinished(controller, p):
    """A reassignment that is over counts as being completed."""
    leave(controller, p)
    controller.finishing = 1


IN_ISR = {progress.to_take_offline: keep_in_isr, deletion_progress.offline_among: stop_all}
MUTANTS = OMITTED + (
    mutant("isr-not-looked-at", "looked_at_in_turn", {reassignment.end_change: look_at_no_isr}, ONE),
    mutant("moved-remembered", "reassignments_end_with_term", {state.forget: forget_all_but_moved}, TWO_REQUESTS),
    mutant_within(
        "finished-for-ever", "reassignment_in_order", "delete_request", {progress.leave: leave_unfinished}, ONE
    ),
    mutant("newcomer-not-looked-at", "newcomers_looked_at", {progress.reassigned_to: look_at_nothing}, LEFT),
    mutant_within(
        "target-written-early",
        "replicas_remembered",
        "write_assignment",
        {zookeeper.checked_set_topic: forget_origin},
        ONE,
    ),
    mutant("request-deleted-early", "request_goes_last", {zookeeper.checked_delist: delist_all}, TWO_PARTITIONS),
    mutant_within("request-deleted-again", "request_ends", "delete_request", {progress.leave: delist_again}, ONE),
    mutant("added-removed", "assignment_well_formed", {plans.plan: remove_added}, ONE),
    mutant("target-added", "planned_as_asked", {plans.plan: add_all}, TWO_REPLICAS),
    mutant_within(
        "target-turned-round",
        "target_order_kept",
        "check_reassignment",
        {assignment.append_members: append_backwards},
        TWO_REPLICAS,
    ),
    mutant("start-without-state", "checked_as_read", {reassignment.end_without_state: start_without_state}, TAKEN_OVER),
    mutant("stateless-kept-listed", "checked_as_read", {reassignment.end_without_state: keep_listed}, ONE_MORE),
    mutant("isr-not-awaited", "target_in_sync", {assignment.is_complete: await_nothing}, ONE),
    mutant("removed-in-isr", "stopped_out_of_isr", IN_ISR, ONE),
    mutant("assignment-unchecked", "assigned_by_right", {zookeeper.checked_set_topic: write_unchecked}, ZOMBIE),
    mutant_within("few-told", "replicas_told", "tell_replicas", {known_as_they_are: tell_first}, ONE),
    mutant("reassigned-eligible", "deletions_taken_over", {brokers.keep_from_deletion: keep_eligible}, TAKEN_OVER),
    mutant(
        "online-deleted",
        "not_deleted_while_reassigned",
        {deletion_progress.stop: start_all, deletion_progress.goes_offline: take_none_offline},
        ONE_RAISE,
    ),
    mutant("reassigned-waits", "queued_at_once", {brokers.topic_deletion: wait_when_asked}, ONE),
    mutant("stop-without-epoch", "stopped_in_leader_epoch", {network.put_removal: stop_in_no_epoch}, ONE),
    mutant("late-stop-obeyed", "log_goes_with_topic", {network.is_overtaken: never_overtaken}, TWO_REQUESTS),
)

TWO_ALTERATIONS = scope(replicas=1, epochs=1, leader_epochs=2, faults=2)
ALTERATION = (
    omitting(admin_requests.alter_reassignment, "alteration_in_turn", CALM),
    omitting(faults.ask_for_alteration, "alteration_asked", CALM),
    omitting(faults.ask_for_cancellation, "cancellation_asked", CALM),
    mutant_within(
        "dead-added", "altered_as_asked", "alter_reassignment", {context.alive: call_all_alive}, TWO_ALTERATIONS
    ),
    mutant("added-kept", "altered_as_asked", {plans.plan_cancellation: keep_added}, TWO_ALTERATIONS),
    mutant(
        "stop-of-same-epoch", "stopped_unless_overtaken", {network.is_overtaken: overtaken_by_its_own}, TWO_ALTERATIONS
    ),
)
"""Those of `altering`."""
