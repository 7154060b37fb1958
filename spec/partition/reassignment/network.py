"""StopReplica(delete) with a leader epoch, and what an administrator asks the controller for.

A replica that was removed and must lead or follow again stays: requests of one controller to one broker arrive in
order; the leader epoch orders those of two controllers (2.6+). The deletion of a topic is accepted whatever the leader
epoch is.

An administrator asks for a reassignment (AlterPartitionReassignments, KIP-455, 2.4+) until a controller takes the
request up.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import Bound, Choice, Id, Record, Sequence
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import NO_EPOCH, Partition, clear, copy
from kafkaproof.spec.partition.deletion.network import put_stop as put_deletion
from kafkaproof.spec.partition.deletion.network import take_stop as take_deletion

Wanted = Choice("NOTHING_WANTED", "REASSIGNMENT", "CANCELLATION")
NOTHING_WANTED, REASSIGNMENT, CANCELLATION = Wanted
ALTERATION = Record(
    wanted=(Wanted, "what an administrator asks for"),
    partition=(Partition, "of which partition"),
    target=(Sequence(Id("brokers"), Bound("brokers")), "the target of a reassignment"),
)


def wanted(network):
    """What an administrator asks for: an arrival."""
    return network.alteration.wanted


def partition_wanted(network):
    """Of which partition."""
    return network.alteration.partition


def replicas_wanted(network):
    """The brokers of the target that the administrator asks for."""
    return replicas_of(network.alteration.target)


def copy_wanted(network, target):
    """That target, in order."""
    copy(network.alteration.target, target)


def take_wanted(network):
    """A controller has taken the request up."""
    network.alteration.wanted = NOTHING_WANTED
    network.alteration.partition = 0
    clear(network.alteration.target)


def put_stop(network, epoch, p, to):
    """Send StopReplica(delete) to a set of brokers, because the topic is deleted."""
    put_removal(network, epoch, p, NO_EPOCH, to)


def put_removal(network, epoch, p, leader_epoch, to):
    """Send StopReplica(delete) to a set of brokers, in a leader epoch."""
    put_deletion(network, epoch, p, to)
    stop = network.stops[epoch][p]
    for b in range(len(stop.leader_epochs)):
        if contains(to, b):
            stop.leader_epochs[b] = leader_epoch


def is_overtaken(network, epoch, p, b, leader_epoch):
    """Whether the StopReplica that arrives is of an older leader epoch than the replica has."""
    told = network.stops[epoch][p].leader_epochs[b]
    return told != NO_EPOCH and told < leader_epoch


def is_of_deletion(network, epoch, p, b):
    """Whether the StopReplica that arrives is for the deletion of the topic."""
    return network.stops[epoch][p].leader_epochs[b] == NO_EPOCH


def take_stop(network, epoch, p, b):
    """The StopReplica is delivered, or lost."""
    if contains(network.stops[epoch][p].to, b):
        network.stops[epoch][p].leader_epochs[b] = NO_EPOCH
    take_deletion(network, epoch, p, b)
