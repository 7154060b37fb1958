"""A broker's metadata cache: what UpdateMetadata says, and what clients are told (MetadataCache).

It is kept in memory. Nothing orders what is told of a partition but the controller epoch of the request: a leader epoch
may be lower than the one in the cache. A broker follows only a leader that the cache has as alive.
"""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.language.domains import NOBODY, Array, Flag, Record, SetOf
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, Leader, LeaderEpoch
from kafkaproof.spec.partition.context import start_process as begin
from kafkaproof.spec.partition.metadata.network import (
    alive_told,
    is_update_of,
    isr_told,
    leader_epoch_told,
    leader_told,
    take_update,
    update_arrives,
)
from kafkaproof.spec.partition.replica import Epoch

CACHED = Record(
    known=(Flag(), "the partition is in the cache"),
    leader=(Leader, "its leader; 0 where it is not"),
    isr=(SetOf("brokers"), "its ISR"),
    leader_epoch=(LeaderEpoch, "its leader epoch; 0 where it is not in the cache"),
)
METADATA = Record(
    alive=(SetOf("brokers"), "the brokers that clients are told of"),
    partitions=(Array(CACHED, "partitions"), "what clients are told of each partition"),
)


def forget_cached(cached):
    """A partition is not in the cache any more."""
    cached.known = 0
    cached.leader = 0
    cached.isr = 0
    cached.leader_epoch = 0


def start_process(broker):
    """A process begins with an empty cache."""
    begin(broker)
    broker.metadata.alive = 0
    for cached in broker.metadata.partitions:
        forget_cached(cached)


def learn(cached, leader, leader_epoch, isr):
    """What is told of a partition replaces what was known; with leader epoch -1 it is to be forgotten."""
    forget_cached(cached)
    if leader_epoch != NO_EPOCH:
        cached.known = 1
        cached.leader = leader
        cached.isr = isr
        cached.leader_epoch = leader_epoch


def knows_as_alive(broker, leader):
    """Whether UpdateMetadata has told a broker that another one is alive.

    Kafka: MetadataCache.getAliveBrokers, 0.9 to 2.8; ZkMetadataCache.hasAliveBroker, 3.0 to 3.9. (Up to 0.8.2 the request
           itself lists the live brokers.)
    """
    return contains(broker.metadata.alive, leader)


def is_early(s, b, epoch, leader):
    """Whether an UpdateMetadata is on its way that first tells a broker that a leader is alive: what one controller sends
    to one broker arrives in order, and that was sent before.
    """
    if leader == NOBODY or contains(s.brokers[b].metadata.alive, leader) or not update_arrives(s.network, epoch, b):
        return False
    return contains(alive_told(s.network, epoch), leader)


def update_metadata(s, b: Broker, epoch: Epoch):
    """A broker receives UpdateMetadata: from now on it tells clients what that says.

    Guards:  a request of `epoch` arrives; the process lives.
    Effects: with a lower controller epoch than before it is refused (STALE_CONTROLLER_EPOCH). Else the live brokers are
             those that it lists, and of the partitions that it names the leader, the ISR and the leader epoch, whatever
             was known; those of a topic that is to be deleted are forgotten. The controller epoch is remembered.
    Kafka:   ReplicaManager.maybeUpdateMetadataCache, 0.8.2 to 3.9; MetadataCache.updateCache, 0.8.1.1 to 2.0;
             updateMetadata, 2.1 to 2.7; ZkMetadataCache.updateMetadata, 2.8 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or not update_arrives(s.network, epoch, b):
        return False

    if not is_stale(broker, epoch):
        broker.seen_epoch = epoch
        broker.metadata.alive = alive_told(s.network, epoch)
        for p in range(len(broker.metadata.partitions)):
            if is_update_of(s.network, epoch, p, b):
                leader = leader_told(s.network, epoch, p)
                leader_epoch = leader_epoch_told(s.network, epoch, p)
                isr = isr_told(s.network, epoch, p)
                learn(broker.metadata.partitions[p], leader, leader_epoch, isr)
    take_update(s.network, epoch, b)
    return True
