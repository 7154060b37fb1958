"""The partition's state as the data plane keeps it."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.replica.network import refuse_proposals

SEAMS_OF = ("zk", "data")
KNOWN = ("is_not_older",)


def note_state(data, state):
    """The state may have been written: with a new leader epoch, proposals of leaders in older epochs are refused."""
    if state.leader_epoch > data.zk.leader_epoch:
        refuse_proposals(data.network)
        if is_unclean(data, state.leader):
            data.zk.unclean = 1
    data.zk.leader = state.leader
    data.zk.leader_epoch = state.leader_epoch
    data.zk.isr = state.isr


def note_written(s, b, p):
    """After a write of the state, proposals of leaders in older epochs are refused
    (Partition.handleAlterPartitionError, FENCED_LEADER_EPOCH).
    """
    note_state(s.planes[p], s.zk.partitions[p])


def note_deletion(data):
    """A log is deleted with its topic: its records are lost by design, as by an unclean election."""
    data.zk.unclean = 1


def is_unclean(data, leader):
    """Whether a leader is elected from outside the ISR."""
    return data.zk.leader_epoch != NO_EPOCH and leader != NOBODY and not contains(data.zk.isr, leader)


def is_not_older(zk, b, p):
    """Whether the version of the state that controller `b` has cached is at least the one that the leader knows.

    The leader still has no answer for the cached ISR, and changes nothing more until it has: so a version that is newer
    than the leader's is the current one.
    """
    return contains(zk.partitions[p].readers, b)
