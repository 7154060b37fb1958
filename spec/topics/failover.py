"""A term begins: the new controller reads everything in one step. (How it is elected and resigns: `partition`.)"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED
from kafkaproof.spec.language.sets import difference, intersection, is_empty, with_member
from kafkaproof.spec.partition.context import READING_BROKERS, is_known
from kafkaproof.spec.partition.zookeeper import known_as_they_are
from kafkaproof.spec.topics.context import Broker, forget, hosts, is_present, is_reassigned, members
from kafkaproof.spec.topics.network import start
from kafkaproof.spec.topics.progress import proceed, start_replicas
from kafkaproof.spec.topics.zookeeper import load


def load_context(s, b: Broker):
    """A new controller reads brokers, topic, states and markers; the replica machine starts up.

    Guards:  its term begins.
    Request: OK; EXPIRED.
    Effects: LeaderAndIsr is sent to replicas of live brokers, those of dead ones are to go offline; then partitions are
             to be elected, reassignments checked, and a deletion resumed.
    Kafka:   KafkaController.initializeControllerContext, onControllerFailover, 1.0 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != READING_BROKERS:
        return False

    answer = load(s.zk, b, controller)
    if answer == EXPIRED:
        forget(controller)
        return True
    controller.live = controller.joined
    controller.joined = 0
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        if partition.reassigned:
            controller.moving = with_member(controller.moving, p)
        if is_present(partition) and is_known(partition):
            to = known_as_they_are(s.zk, b, intersection(controller.live, members(partition)))
            start(s.network, controller.epoch, p, controller.topic, to)
    take_up_deletion(controller)
    start_machines(controller)
    return True


def start_machines(controller):
    """The state machines start up."""
    start_replicas(controller)
    proceed(controller)


def take_up_deletion(controller):
    """Resume a deletion that is found, unless a replica is on a dead broker or a partition is being reassigned."""
    if controller.deleting:
        controller.resuming = 1
        waits = not is_empty(difference(hosts(controller), controller.live)) or is_reassigned(controller)
        controller.ineligible = 1 if waits else 0
