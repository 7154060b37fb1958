"""What a broker knows: what it has from control requests and, while it is controller, the controller's context.

There is one partition: a broker handles the partitions of a request one by one, under one lock. Its state znode exists
from the beginning. ISRs are not kept; the choice of a leader is abstract (see `events`).
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.sets import contains, difference, intersection

Broker = Id("brokers")
Leader = Id("brokers", nobody=True)
NO_EPOCH = -1
BrokerEpoch = Number(0, Bound("faults", 1))
ControllerEpoch = Number(0, Bound("epochs"))
Deletion = Choice(
    "NOT_DELETED",
    "QUEUED",  # /admin/delete_topics names the topic
    "STARTED",  # StopReplica(delete) was sent in this term, since a broker last came
)
NOT_DELETED, QUEUED, STARTED = Deletion

REPLICA = Record(
    leader=(Leader, "leader that the last accepted LeaderAndIsr named"),
    leader_epoch=(Number(NO_EPOCH, Bound("leader_epochs")), "its leader epoch, -1 where no replica is hosted"),
    log=(Flag(), "there is a log"),
)
CONTROLLER = Record(
    epoch=(ControllerEpoch, "controller epoch of the term, 0 without one"),
    live=(SetOf("brokers"), "brokers known as registered and taken in, including those shutting down"),
    joined=(SetOf("brokers"), "brokers that have come, or bounced, and are still to be taken in"),
    leaving=(SetOf("brokers"), "brokers that are shutting down"),
    offline_dirs=(SetOf("brokers"), "replicas on offline log directories, as LeaderAndIsr answers said"),
    epochs=(Array(BrokerEpoch, "brokers"), "broker epochs, as last read; 0 for brokers that were not registered"),
    leader=(Leader, "leader in the leadership cache"),
    leader_epoch=(Number(0, Bound("leader_epochs")), "leader epoch in the cache"),
    deletion=(Deletion, "whether the topic is to be deleted"),
)
GHOSTS = Record(applied=(ControllerEpoch, "controller epoch of the last request that the process accepted"))
BROKER = Record(
    up=(Flag(), "there is a process"),
    epoch=(BrokerEpoch, "its broker epoch: how often this id was registered (in Kafka a zxid), 0 without one"),
    seen_epoch=(ControllerEpoch, "highest controller epoch in an accepted request"),
    alive=(SetOf("brokers"), "live brokers that the last UpdateMetadata listed"),
    known_leader=(Leader, "leader in the metadata cache, nobody if it has none"),
    replica=(REPLICA, "its replica"),
    dir_failed=(Flag(), "its log directory is offline"),
    produce=(Flag(), "a produce request is at the head of its request queue (only where control requests share it)"),
    assignment=(Sequence(Id("brokers"), Bound("replicas")), "replicas of the partition"),
    controller=(CONTROLLER, "its controller"),
    ghosts=(GHOSTS, "history, for properties only"),
)


def forget_replica(replica):
    """The replica is not hosted any more; its log stays."""
    replica.leader = NOBODY
    replica.leader_epoch = NO_EPOCH


def forget(controller):
    """onControllerResignation: the context is emptied."""
    controller.epoch = 0
    controller.live = 0
    controller.joined = 0
    controller.leaving = 0
    controller.offline_dirs = 0
    for r in range(len(controller.epochs)):
        controller.epochs[r] = 0
    controller.leader = NOBODY
    controller.leader_epoch = 0
    controller.deletion = NOT_DELETED


def start_process(broker, broker_epoch):
    """A process begins, registered, with nothing in memory and a log directory that works."""
    broker.up = 1
    broker.epoch = broker_epoch
    broker.seen_epoch = 0
    broker.alive = 0
    broker.known_leader = NOBODY
    broker.dir_failed = 0
    broker.produce = 0
    broker.ghosts.applied = 0
    forget_replica(broker.replica)
    forget(broker.controller)


def end_process(broker):
    """The process is gone with all that it knew."""
    start_process(broker, 0)
    broker.up = 0


def live_replicas(broker):
    """The replicas on brokers that the controller knows as live, including those that are shutting down."""
    return intersection(replicas_of(broker.assignment), broker.controller.live)


def online(broker):
    """The replicas that are live, not shutting down, and whose log directory works."""
    controller = broker.controller
    return difference(difference(live_replicas(broker), controller.leaving), controller.offline_dirs)


def recipients(broker):
    """The replicas to which LeaderAndIsr is sent after an election: live, with a log directory that works."""
    return difference(live_replicas(broker), broker.controller.offline_dirs)


def has_leader(broker):
    """Whether the cached leader is a replica that is online."""
    controller = broker.controller
    return controller.leader != NOBODY and contains(online(broker), controller.leader)


def is_settled(broker):
    """Whether no election is due at once: the leader is online, or no replica could lead."""
    return broker.controller.leader == NOBODY or has_leader(broker)
