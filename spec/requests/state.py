"""The whole state: that of a controller that deletes topics, with metadata caches, and with channels as the network."""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY, Array, Flag, Record
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import lose_replica as forget_leadership
from kafkaproof.spec.partition.context import start_process
from kafkaproof.spec.partition.deletion import state as deletion
from kafkaproof.spec.partition.metadata.cache import METADATA
from kafkaproof.spec.partition.network import fall_silent
from kafkaproof.spec.partition.znodes import assign
from kafkaproof.spec.partition.zookeeper import register
from kafkaproof.spec.requests.network import NETWORK

REPLICA = deletion.REPLICA.extended(stopped=(Flag(), "StopReplica has told it to fetch no more"))
BROKER = deletion.BROKER.changed(replicas=(Array(REPLICA, "partitions"), "its replicas")).extended(
    metadata=(METADATA, "its metadata cache"),
    produce=(Flag(), "a produce request is at the head of its request queue (only where control requests share it)"),
)
STATE = Record(
    zk=(deletion.ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK, "requests on their way"),
)


def lose_replica(replica):
    """Forget what control requests have said of a replica."""
    forget_leadership(replica)
    replica.stopped = 0


def initial(s):
    """A cluster that was shut down: every broker has just started and is registered; the preferred replica was the last
    leader, all replicas are in the ISR, and unclean elections are allowed.
    """
    s.zk.controller = NOBODY
    s.zk.unclean = 1
    assign(s.zk)
    for p in range(len(s.zk.topics)):
        s.zk.topics[p] = p
        s.zk.partitions[p].leader = s.zk.assignments[p].slots[0]
        s.zk.partitions[p].isr = replicas_of(s.zk.assignments[p])
        s.zk.partitions[p].leader_epoch = 0
    for b in range(len(s.brokers)):
        register(s.zk, b)
        start_process(s.brokers[b])
        fall_silent(s.network, b)
        for p in range(len(s.zk.partitions)):
            s.brokers[b].replicas[p].ghosts.log = 1 if contains(replicas_of(s.zk.assignments[p]), b) else 0
    for epoch in range(len(s.network.senders) - 1):
        s.network.senders[epoch] = NOBODY
