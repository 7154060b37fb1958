"""A batch: the requests of one controller event for one broker, LeaderAndIsr, UpdateMetadata and StopReplica.

Each of them is present or absent; they are sent in this order. Shared fields are kept once; a field that no remaining
request uses is 0.
"""

from kafkaproof.spec.language.domains import Bound, Choice, Flag, Id, Number, Record, SetOf
from kafkaproof.spec.requests.context import NOT_DELETED

Kind = Choice("NOTHING", "LEADER_AND_ISR", "UPDATE_METADATA", "STOP_REPLICA")
NOTHING, LEADER_AND_ISR, UPDATE_METADATA, STOP_REPLICA = Kind
Update = Choice(
    "NO_UPDATE",
    "BARE",  # live brokers, no partition
    "FULL",  # live brokers, and the partition
    "DROPPING",  # live brokers, and leader -2: the topic is to be deleted
)
NO_UPDATE, BARE, FULL, DROPPING = Update
Stop = Choice("NO_STOP", "STOP", "DELETE")
NO_STOP, STOP, DELETE = Stop

BATCH = Record(
    leader_and_isr=(Flag(), "there is LeaderAndIsr"),
    update=(Update, "which UpdateMetadata there is"),
    stop=(Stop, "which StopReplica there is"),
    leader=(Id("brokers", nobody=True), "leader in LeaderAndIsr and UpdateMetadata"),
    leader_epoch=(Number(0, Bound("leader_epochs")), "leader epoch in LeaderAndIsr, or when StopReplica was decided"),
    alive=(SetOf("brokers"), "live brokers in UpdateMetadata"),
    waits=(Flag(), "its first request has arrived, and waits behind a produce request"),
)


def clear(batch):
    """Make a batch empty."""
    batch.leader_and_isr = 0
    batch.update = NO_UPDATE
    batch.stop = NO_STOP
    batch.waits = 0
    trim(batch)


def trim(batch):
    """Clear the fields that no remaining request of a batch uses."""
    if batch.update == NO_UPDATE:
        batch.alive = 0
    if not batch.leader_and_isr and batch.update != FULL:
        batch.leader = 0
    if not batch.leader_and_isr and batch.stop == NO_STOP:
        batch.leader_epoch = 0


def copy(batch, other):
    """Make a batch the same as another."""
    batch.leader_and_isr = other.leader_and_isr
    batch.update = other.update
    batch.stop = other.stop
    batch.leader = other.leader
    batch.leader_epoch = other.leader_epoch
    batch.alive = other.alive
    batch.waits = other.waits


def first_kind(batch):
    """The request of a batch that is sent first."""
    if batch.leader_and_isr:
        return LEADER_AND_ISR
    if batch.update != NO_UPDATE:
        return UPDATE_METADATA
    return STOP_REPLICA if batch.stop != NO_STOP else NOTHING


def remove_first(batch):
    """The first request of a batch is done."""
    if batch.leader_and_isr:
        batch.leader_and_isr = 0
    elif batch.update != NO_UPDATE:
        batch.update = NO_UPDATE
    else:
        batch.stop = NO_STOP
    batch.waits = 0
    trim(batch)


def keep_first(batch):
    """Keep only the first request of a batch."""
    if batch.leader_and_isr:
        batch.update = NO_UPDATE
    if batch.leader_and_isr or batch.update != NO_UPDATE:
        batch.stop = NO_STOP
    trim(batch)


def put_batch(queue, controller, leader_and_isr, update, stop):
    """Append a batch to the queue; its content comes from the controller's cache."""
    batch = queue.slots[min(queue.length, len(queue.slots) - 1)]
    queue.length += 1
    batch.leader_and_isr = 1 if leader_and_isr else 0
    batch.update = DROPPING if update == FULL and controller.deletion != NOT_DELETED else update
    batch.stop = stop
    batch.leader = controller.leader
    batch.leader_epoch = controller.leader_epoch
    batch.alive = controller.live
    trim(batch)


def take_batch(queue):
    """Remove the oldest batch."""
    for i in range(len(queue.slots) - 1):
        copy(queue.slots[i], queue.slots[i + 1])
    queue.length -= 1
