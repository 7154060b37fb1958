"""Up to 0.10.2 a new controller reads the operator's request for preferred leaders with its context, before its state
machines start. A partition that the request names and that has no state fails the failover, and that of every successor:
only a controller whose machines start can give it one.
"""

from kafkaproof.spec.kafka.strategies import prefers
from kafkaproof.spec.language.domains import Flag, Record, SetOf
from kafkaproof.spec.language.sets import with_member
from kafkaproof.spec.partition.context import MOVING, PREFERRED_BY_ZNODE, READING_REQUEST, Broker
from kafkaproof.spec.partition.context import drop_event as drop_else
from kafkaproof.spec.partition.failover import start_machines as start
from kafkaproof.spec.partition.progress import proceed
from kafkaproof.spec.partition.triggers import has_partition_without_state
from kafkaproof.spec.partition.zookeeper import election_wanted

FIELDS = {
    "asked": (Flag(), "a term begins: it has read an operator's request for preferred leaders"),
    "pending": (SetOf("partitions"), "the partitions that another replica led then"),
}


def with_pending(state: Record) -> Record:
    """The state with what a new controller has read of the request."""
    return state.extended_at("brokers.controller", **FIELDS)


def start_machines(s, b):
    """The request is read, and the state machines start; if a partition has no state, the failover fails.

    Kafka: KafkaController.initializePreferredReplicaElection, 0.8.1 to 0.10.2.
    """
    controller = s.brokers[b].controller
    wanted = election_wanted(s.zk)
    if wanted and has_partition_without_state(controller):
        controller.doing = MOVING
    else:
        controller.asked = 1 if wanted else 0
        for p in range(len(controller.partitions)):
            partition = controller.partitions[p]
            if wanted and not prefers(partition.assignment, partition.leader):
                controller.pending = with_member(controller.pending, p)
        start(s, b)


def was_asked(s, b):
    """Whether a new controller whose state machines have started has read a request."""
    return s.brokers[b].controller.asked == 1


def pending_election(s, b: Broker):
    """A new controller whose state machines have started up deals with the request that it has read.

    Guards:  that is its next step.
    Effects: the partitions that another replica led are to be elected, their topics queued for deletion or not; then the
             request is to be deleted.
    Kafka:   KafkaController.maybeTriggerPreferredReplicaElection, 0.8.1 to 0.10.2.
    """
    controller = s.brokers[b].controller
    if controller.doing != READING_REQUEST:
        return False

    controller.strategy = PREFERRED_BY_ZNODE
    controller.todo = controller.pending
    controller.pending = 0
    controller.asked = 0
    proceed(controller)
    return True


def drop_event(controller):
    """The event in progress has ended, and what was read of the request is forgotten."""
    drop_else(controller)
    controller.asked = 0
    controller.pending = 0
