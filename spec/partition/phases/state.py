"""What a reassignment in two phases adds to the state of `partition`, and how it is forgotten.

Only /admin/reassign_partitions says that a partition is reassigned: the topic znode has its replicas, and not which of
them are added or removed.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import Array, Choice, Flag, Record, SetOf
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import NO_EPOCH, PARTITION, LeaderEpoch, clear
from kafkaproof.spec.partition.deletion import state as deletion
from kafkaproof.spec.partition.deletion.state import forget as forget_rest
from kafkaproof.spec.partition.deletion.state import forget_topic as forget_deleted
from kafkaproof.spec.partition.deletion.state import initial as begin
from kafkaproof.spec.partition.network import NETWORK
from kafkaproof.spec.partition.reassignment import state as reassignment
from kafkaproof.spec.partition.reassignment.state import Reassigning, Replicas, keep_replicas
from kafkaproof.spec.partition.reassignment.state import drop_event as drop_rest

Phases = Choice(
    *Reassigning.names,
    "RAISING",  # must read the state whose leader epoch is to be raised
)
RAISING = len(Reassigning.names)

KNOWN = PARTITION.changed(
    assignment=(Replicas, "its replicas, the preferred first; from the first phase on the target, then the others")
).extended(aim=(Replicas, "the target of its reassignment (partitionsBeingReassigned), empty without one"))
CONTROLLER = reassignment.CONTROLLER.changed(
    doing=(Phases, "the event in progress"),
    partitions=(Array(KNOWN, "partitions"), "states and leadership of the partitions"),
).extended(taken=(Flag(), "the event takes up the list of partitions to reassign: what fails is taken off it"))
BROKER = deletion.BROKER.changed(controller=(CONTROLLER, "its controller"))
ZOOKEEPER = deletion.ZOOKEEPER.changed(
    assignments=(Array(Replicas, "partitions"), "the assignment of each partition, in the topic znode")
)
NAMED = Record(
    replicas=(SetOf("brokers"), "the replicas in it"), leader_epoch=(LeaderEpoch, "its leader epoch, -1 before any")
)
NAMES = {"named": (Array(NAMED, "partitions"), "the first LeaderAndIsr of the newest leader epoch")}
STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK.extended(**deletion.STOPS, **NAMES), "requests on their way"),
)


def initial(s):
    """As without reassignments, but each partition has as many replicas as the scope says."""
    begin(s)
    keep_replicas(s)
    name_assigned(s)


def name_assigned(s):
    """The replicas that are assigned will be named to the first leaders."""
    for p in range(len(s.zk.assignments)):
        s.network.named[p].replicas = replicas_of(s.zk.assignments[p])
        s.network.named[p].leader_epoch = NO_EPOCH


def drop_event(controller):
    """What was left of the event is dropped, including that of reassignments."""
    drop_rest(controller)
    controller.taken = 0


def forget(controller):
    """onControllerResignation: the context is emptied, including that of reassignments."""
    drop_event(controller)
    forget_rest(controller)
    for partition in controller.partitions:
        clear(partition.aim)


def forget_topic(controller):
    """removeTopic: the topic that was being deleted is not in the context any more."""
    for p in range(len(controller.partitions)):
        if contains(controller.dropping, p):
            clear(controller.partitions[p].aim)
    forget_deleted(controller)
