"""A batch: what one state machine's work tells one broker, in LeaderAndIsr, UpdateMetadata and StopReplica.

Each of the three is present or absent; they are sent in this order. LeaderAndIsr and UpdateMetadata say the same of a
partition, which is kept once; a field that no remaining request uses is 0.

Kafka: ControllerBrokerRequestBatch.sendRequestsToBrokers, 0.8 to 2.2;
       AbstractControllerBrokerRequestBatch.sendRequestsToBrokers, 2.3 to 3.9.
"""

from kafkaproof.spec.language.domains import Array, Choice, Flag, Record, SetOf
from kafkaproof.spec.partition.context import NO_EPOCH, Leader, LeaderEpoch

Kind = Choice("NOTHING", "LEADER_AND_ISR", "UPDATE_METADATA", "STOP_REPLICA")
NOTHING, LEADER_AND_ISR, UPDATE_METADATA, STOP_REPLICA = Kind
Update = Choice(
    "NOT_TOLD",
    "TOLD",  # UpdateMetadata says who leads
    "DROPPED",  # leader -2: the topic is to be deleted
)
NOT_TOLD, TOLD, DROPPED = Update
Stop = Choice("NO_STOP", "STOP", "DELETE")
NO_STOP, STOP, DELETE = Stop

OF_PARTITION = Record(
    leader_and_isr=(Flag(), "LeaderAndIsr names it"),
    update=(Update, "what UpdateMetadata says of it"),
    stop=(Stop, "what StopReplica says of it"),
    leader=(Leader, "leader in LeaderAndIsr and UpdateMetadata"),
    isr=(SetOf("brokers"), "ISR in UpdateMetadata"),
    leader_epoch=(LeaderEpoch, "leader epoch in LeaderAndIsr and UpdateMetadata"),
    stop_epoch=(LeaderEpoch, "leader epoch in StopReplica; -1 where the topic is queued for deletion"),
)
BATCH = Record(
    update=(Flag(), "there is UpdateMetadata"),
    alive=(SetOf("brokers"), "live brokers in it"),
    waits=(Flag(), "its first request has arrived, and waits behind a produce request"),
    partitions=(Array(OF_PARTITION, "partitions"), "what it says of each partition"),
)


def clear(batch):
    """Make a batch empty."""
    batch.update = 0
    batch.waits = 0
    for told in batch.partitions:
        told.leader_and_isr = 0
        told.update = NOT_TOLD
        told.stop = NO_STOP
    trim(batch)


def trim(batch):
    """Clear the fields that no remaining request of a batch uses."""
    if not batch.update:
        batch.alive = 0
    for told in batch.partitions:
        if told.update != TOLD:
            told.isr = 0
        if told.update != TOLD and not told.leader_and_isr:
            told.leader = 0
            told.leader_epoch = 0
        if told.stop == NO_STOP:
            told.stop_epoch = 0


def copy(batch, other):
    """Make a batch the same as another."""
    batch.update = other.update
    batch.alive = other.alive
    batch.waits = other.waits
    for p in range(len(batch.partitions)):
        batch.partitions[p].leader_and_isr = other.partitions[p].leader_and_isr
        batch.partitions[p].update = other.partitions[p].update
        batch.partitions[p].stop = other.partitions[p].stop
        batch.partitions[p].leader = other.partitions[p].leader
        batch.partitions[p].isr = other.partitions[p].isr
        batch.partitions[p].leader_epoch = other.partitions[p].leader_epoch
        batch.partitions[p].stop_epoch = other.partitions[p].stop_epoch


def has_leader_and_isr(batch):
    """Whether there is LeaderAndIsr."""
    for told in batch.partitions:
        if told.leader_and_isr:
            return True
    return False


def has_stop(batch):
    """Whether there is StopReplica."""
    for told in batch.partitions:
        if told.stop != NO_STOP:
            return True
    return False


def first_kind(batch):
    """The request of a batch that is sent first."""
    if has_leader_and_isr(batch):
        return LEADER_AND_ISR
    if batch.update:
        return UPDATE_METADATA
    return STOP_REPLICA if has_stop(batch) else NOTHING


def remove(batch, kind):
    """A request of a batch is done, or not to be sent."""
    if kind == UPDATE_METADATA:
        batch.update = 0
    for told in batch.partitions:
        if kind == LEADER_AND_ISR:
            told.leader_and_isr = 0
        elif kind == UPDATE_METADATA:
            told.update = NOT_TOLD
        elif kind == STOP_REPLICA:
            told.stop = NO_STOP


def remove_first(batch):
    """The first request of a batch is done."""
    remove(batch, first_kind(batch))
    batch.waits = 0
    trim(batch)


def keep_first(batch):
    """Keep only the first request of a batch."""
    kind = first_kind(batch)
    if kind == LEADER_AND_ISR:
        remove(batch, UPDATE_METADATA)
    if kind != STOP_REPLICA:
        remove(batch, STOP_REPLICA)
    trim(batch)


def take_batch(queue):
    """Remove the oldest batch."""
    for i in range(len(queue.slots) - 1):
        copy(queue.slots[i], queue.slots[i + 1])
    queue.length -= 1


def add_leader_and_isr(told, leader, leader_epoch):
    """LeaderAndIsr names a partition."""
    told.leader_and_isr = 1
    told.leader = leader
    told.leader_epoch = leader_epoch


def add_update(batch, alive):
    """There is UpdateMetadata: it lists the live brokers."""
    batch.update = 1
    batch.alive = alive


def add_leadership(told, leader, leader_epoch, isr):
    """UpdateMetadata says who leads a partition; with leader epoch -1 the partition is to be forgotten."""
    told.update = DROPPED if leader_epoch == NO_EPOCH else TOLD
    if leader_epoch != NO_EPOCH:
        told.leader = leader
        told.isr = isr
        told.leader_epoch = leader_epoch


def add_stop(told, stop, leader_epoch):
    """StopReplica names a partition; with delete, once it says so."""
    told.stop = max(told.stop, stop)
    told.stop_epoch = leader_epoch
