"""Mutants of the expansion of topics: one deliberate mistake each, on the variant `expanding`."""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, OK, Delivery
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, intersection, is_empty
from kafkaproof.spec.partition import context
from kafkaproof.spec.partition.context import OFFLINE, Broker, Partition, clear, forget, start_process
from kafkaproof.spec.partition.creation.creation import begin_partition, known_partitions
from kafkaproof.spec.partition.creation.zookeeper import read_topics
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.expansion import expansion, state, zookeeper
from kafkaproof.spec.partition.expansion.zookeeper import added, checked_restore_topic, restore_topic, write_topic
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import mutant, mutant_within
from kafkaproof.spec.partition.progress import at_work, proceed
from kafkaproof.spec.partition.reassignment import zookeeper as reassignment_zookeeper
from kafkaproof.spec.partition.reassignment.zookeeper import checked_set_topic

THREE = scope(replicas=1, partitions=3, epochs=1, leader_epochs=1)
TWO = scope(replicas=1, partitions=2, epochs=1, leader_epochs=1, faults=0)
TWO_TERMS = scope(replicas=1, partitions=2, leader_epochs=0)
MOVED = scope(replicas=1, partitions=2, epochs=1, leader_epochs=1)


def go_on_restoring(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller whose write of a queued topic is refused goes on as before."""
    controller = s.brokers[b].controller
    strange = added(s.zk, intersection(known_partitions(controller), controller.deleting))
    if not at_work(controller) or not contains(intersection(controller.deleting, topics_of(s.zk, strange)), p):
        return False

    checked_restore_topic(s.zk, b, p, controller.epoch, delivery)
    return True


def queue_nothing(controller, p):
    """Partitions are added to a topic that is queued for deletion."""
    return False


def always_settled(zk, p):
    """Partitions are added to a topic of which a partition is being reassigned."""
    return True


def add_elsewhere(zk, b, p, reader, delivery):
    """Partitions that are added are of no topic that is there."""
    answer = write_topic(zk, b, p, reader, delivery)
    for q in range(len(zk.topics)):
        if contains(reader.new, q):
            zk.topics[q] = q
    return answer


def write_others_anew(zk, b, p, reader, delivery):
    """A topic that gets more partitions loses the replicas of the others."""
    clear(reader.assignments[p])
    push(reader.assignments[p], b)
    return write_topic(zk, b, p, reader, delivery)


def take_up_all(s, b: Broker):
    """The new partitions of a topic that is queued for deletion are taken up."""
    controller = s.brokers[b].controller
    new = added(s.zk, known_partitions(controller))
    if not at_work(controller) or is_empty(new):
        return False

    answer = read_topics(s.zk, b, new, controller)
    if answer == EXPIRED:
        forget(controller)
    else:
        for p in range(len(controller.partitions)):
            if contains(new, p):
                begin_partition(controller, p)
        controller.strategy = OFFLINE
        controller.todo = new
        proceed(controller)
    return True


def restore_none(zk, b, p, epoch, delivery):
    """A topic that is queued for deletion is restored without a partition that has a state."""
    answer = restore_topic(zk, b, p, delivery)
    if answer == OK:
        clear(zk.assignments[p])
    return answer


def write_it_alone(zk, b, p, known, epoch, delivery):
    """A reassignment writes the topic znode with the partition that it moves alone."""
    answer = checked_set_topic(zk, b, p, known, epoch, delivery)
    if answer == OK:
        for q in range(len(zk.assignments)):
            if q != p and zk.topics[q] == zk.topics[p]:
                clear(zk.assignments[q])
    return answer


def keep_request(broker):
    """A new process still has the request for more partitions of the former one."""
    start_process(broker)


MUTANTS = (
    mutant(
        "neighbours-unwritten", "no_partition_undone", {reassignment_zookeeper.checked_set_topic: write_it_alone}, THREE
    ),
    mutant_within("read-if-queued", "read_if_kept", "read_topic", {context.is_queued: queue_nothing}, TWO),
    mutant("read-while-reassigned", "read_if_kept", {zookeeper.is_settled: always_settled}, MOVED),
    mutant("request-kept", "begins_without_request", {state.start_process: keep_request}, MOVED),
    mutant("added-elsewhere", "added_to_topic", {zookeeper.write_topic: add_elsewhere}, TWO),
    mutant("written-as-default", "no_reassignment_undone", {zookeeper.write_topic: write_others_anew}, TWO),
    mutant("queued-taken-up", "taken_up_if_new", {expansion.new_partitions: take_up_all}, TWO),
    mutant("state-not-restored", "restored_to_states", {zookeeper.checked_restore_topic: restore_none}, TWO),
    mutant("goes-on-restoring", "restored_to_states", {expansion.restore_partitions: go_on_restoring}, TWO_TERMS),
)
