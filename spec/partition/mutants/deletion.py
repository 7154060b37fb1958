"""Mutants of the deletion of topics: one deliberate mistake each, on the variant `deleting` of partitions."""

from kafkaproof.spec.kafka.deletion_moves import move_replicas
from kafkaproof.spec.kafka.state_machines import (
    OFFLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, OK, outcome
from kafkaproof.spec.language.mutants.omission import omitting
from kafkaproof.spec.language.sets import contains, difference, is_empty, union, without_member
from kafkaproof.spec.partition import progress as partition_progress
from kafkaproof.spec.partition.context import (
    IDLE,
    NO_EPOCH,
    PREFERRED_BY_ZNODE,
    REMOVING,
    Broker,
    Partition,
    lose_replica,
    online,
)
from kafkaproof.spec.partition.context import forget as forget_context
from kafkaproof.spec.partition.deletion import brokers, deletion, faults, network, progress, replica, state, zookeeper
from kafkaproof.spec.partition.deletion.brokers import broker_startup, queued_on
from kafkaproof.spec.partition.deletion.deletion import drop_reassignment
from kafkaproof.spec.partition.deletion.network import put_stopped, stop_arrives, take_stop
from kafkaproof.spec.partition.deletion.progress import any_in, end_event, offline_replicas, replicas_in
from kafkaproof.spec.partition.deletion.state import DELETING_MARKER, RESUMING, drop_event
from kafkaproof.spec.partition.deletion.zookeeper import delete_state, delete_topic, topics_of
from kafkaproof.spec.partition.log_dirs import storage_error as lose_replicas
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import mutant, mutant_within
from kafkaproof.spec.partition.network import put_proposals
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.partition.zookeeper import session_open

ONE, TWO_FAULTS = scope(epochs=1), scope(epochs=1, faults=2)
THREE_TOPICS = scope(replicas=1, partitions=3, epochs=1, leader_epochs=1)
CALM, ZOMBIE = scope(epochs=1, faults=0), scope()


def any_deleted(controller, topic):
    """A deletion is completed when one replica is deleted."""
    return any_in(controller, topic, REPLICA_DELETION_SUCCESSFUL)


def live_deleted(controller, topic):
    """A deletion is completed when all replicas on brokers that are there are deleted."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        deleted = replicas_in(partition, REPLICA_DELETION_SUCCESSFUL)
        if contains(topic, p) and not is_empty(difference(online(controller, partition), deleted)):
            return False
    return True


def marker_first(controller):
    """The marker of a topic whose replicas are deleted is deleted first."""
    controller.doing = DELETING_MARKER


def await_nothing(controller, p):
    """Replicas that are told to stop count as deleted at once."""
    partition = controller.partitions[p]
    move_replicas(partition, replicas_in(partition, OFFLINE_REPLICA), REPLICA_DELETION_STARTED)
    move_replicas(partition, replicas_in(partition, REPLICA_DELETION_STARTED), REPLICA_DELETION_SUCCESSFUL)


def still_eligible(controller, p):
    """A topic with a replica on a broker that is not there stays eligible for deletion."""
    partition = controller.partitions[p]
    gone = offline_replicas(controller, partition)
    move_replicas(partition, gone, REPLICA_DELETION_INELIGIBLE)
    move_replicas(partition, difference(replicas_in(partition, OFFLINE_REPLICA), gone), REPLICA_DELETION_STARTED)


def keep_log(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker that is told to delete a replica stops it, and keeps its log."""
    broker = s.brokers[b]
    if not broker.up or not stop_arrives(s.network, epoch, p, b):
        return False

    take_stop(s.network, epoch, p, b)
    lose_replica(broker.replicas[p])
    put_proposals(s.network, p, b, NO_EPOCH)
    put_stopped(s.network, epoch, p, b, 0)
    return True


def resume_nothing(controller, topics):
    """When an answer has come, the deletion is not resumed."""
    return 0


def hinders_nothing(controller, joined):
    """When a broker comes, the deletions that wait for it are not resumed."""
    return 0


def delete_unchecked(zk, b, topic, epoch, delivery):
    """A topic znode deleted without the check of the epoch."""
    return delete_topic(zk, b, topic, delivery)


def delete_state_unchecked(zk, b, p, epoch, delivery):
    """A state deleted without the check of the epoch."""
    return delete_state(zk, b, p, delivery)


def delete_every_marker(zk, b, unknown, delivery):
    """Whoever deletes the markers of topics that are not there deletes all."""
    if not session_open(zk, b):
        return EXPIRED
    if delivery != LOST_DROPPED:
        zk.deleting = 0
        zk.stray = 0
    return outcome(zk, OK, delivery)


OMITTED = tuple(
    omitting(transition, kills, CALM)
    for transition, kills in (
        (deletion.resume_deletion, "resumed_in_turn"),
        (deletion.stop_replicas, "replicas_stopped"),
        (deletion.replica_stopped, "answer_counted"),
        (deletion.delete_state, "states_deleted_in_turn"),
        (deletion.delete_topic, "znode_deleted_in_turn"),
        (deletion.delete_config, "znode_deleted_in_turn"),
        (deletion.delete_marker, "znode_deleted_in_turn"),
        (deletion.leftover_deletion, "leftovers_found"),
        (deletion.delete_leftovers, "leftovers_deleted"),
        (deletion.mark_topic, "marked_whole"),
        (faults.ask_for_deletion, "deletion_asked"),
        (faults.ask_for_unknown_deletion, "unknown_deletion_asked"),
    )
)


def resume_its_own(s, b: Broker):
    """When a broker comes, only the deletions of topics that have a replica there are resumed."""
    controller = s.brokers[b].controller
    joined = controller.joined
    waiting = controller.resuming
    if not broker_startup(s, b):
        return False

    controller.resuming = union(waiting, topics_of(s.zk, queued_on(controller, joined)))
    return True


def queued_nowhere(controller, dead):
    """A topic stays eligible for deletion though a broker that has a replica dies."""
    return 0


def lose_quietly(s, b: Broker, r: Broker):
    """A topic stays eligible for deletion though the log directory of a replica has failed."""
    if not lose_replicas(s, b, r):
        return False

    return True


def say_deleted(network, epoch, p, b, failed):
    """A broker whose log directory has failed answers that its replica is deleted."""
    put_stopped(network, epoch, p, b, 0)


def end_no_removal(controller, p, r):
    """A replica that is offline is not yet done."""
    controller.removing = without_member(controller.removing, p)
    controller.doing = REMOVING


def forget_all_but_ineligible(controller):
    """When a term ends, topics stay ineligible for deletion."""
    drop_event(controller)
    forget_context(controller)


def stop_or_rest(controller):
    """What is to be resumed waits for the next event."""
    end_event(controller)
    if controller.doing == RESUMING:
        controller.doing = IDLE


def resume_whatever(controller, topics):
    """Deletions are resumed though no topic is queued."""
    controller.resuming = union(controller.resuming, topics)
    if at_work(controller):
        controller.doing = RESUMING


def drop_preferred(s, b: Broker, p: Partition):
    """Of a reassignment of a topic that is to be deleted the wrong request is deleted: that for preferred leaders."""
    if not drop_reassignment(s, b, p):
        return False

    s.brokers[b].controller.strategy = PREFERRED_BY_ZNODE
    return True


MUTANTS = OMITTED + (
    mutant("wrong-request-dropped", "request_dropped", {deletion.drop_reassignment: drop_preferred}, TWO_FAULTS),
    mutant_within("failure-unsaid", "answered_as_done", "stop_replica", {network.put_stopped: say_deleted}, ONE),
    mutant("removal-without-replica", "something_left_in_event", {partition_progress.end_removal: end_no_removal}, ONE),
    mutant("ineligible-kept", "deletions_end_with_term", {state.forget: forget_all_but_ineligible}, ONE),
    mutant("nothing-resumed-at-end", "nothing_left_at_rest", {progress.end_event: stop_or_rest}, ZOMBIE),
    mutant("resumed-without-topic", "deletion_in_order", {progress.resume_later: resume_whatever}, ONE),
    mutant("newcomer-resumes-its-own", "newcomers_resume", {brokers.broker_startup: resume_its_own}, THREE_TOPICS),
    mutant_within("departure-ignored", "departed_fail", "broker_failure", {brokers.queued_on: queued_nowhere}, ONE),
    mutant("loss-ignored", "lost_fail", {brokers.storage_error: lose_quietly}, ONE),
    mutant("completed-when-one-is-deleted", "state_goes_with_topic", {progress.all_deleted: any_deleted}, CALM),
    mutant("dead-replicas-forgotten", "completed_when_deleted", {progress.all_deleted: live_deleted}, ONE),
    mutant("marker-deleted-first", "marker_last", {progress.begin_completion: marker_first}, CALM),
    mutant("answers-not-awaited", "log_goes_with_topic", {progress.stop: await_nothing}, CALM),
    mutant("dead-replica-not-waited-for", "deletion_goes_on", {progress.stop: still_eligible}, ONE),
    mutant("log-kept", "removed_when_deleted", {replica.stop_replica: keep_log}, CALM),
    mutant_within(
        "answer-resumes-nothing", "deletion_goes_on", "replica_stopped", {progress.resume_later: resume_nothing}, CALM
    ),
    mutant_within(
        "return-resumes-nothing", "waits_for_somebody", "broker_startup", {brokers.queued_on: hinders_nothing}, ONE
    ),
    mutant("topic-deleted-unchecked", "deleted_by_right", {zookeeper.checked_delete_topic: delete_unchecked}, ZOMBIE),
    mutant(
        "state-deleted-unchecked",
        "state_deleted_by_right",
        {zookeeper.checked_delete_state: delete_state_unchecked},
        ZOMBIE,
    ),
    mutant("every-marker-left-over", "marker_last", {zookeeper.delete_leftovers: delete_every_marker}, ONE),
)
