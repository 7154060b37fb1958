"""UpdateMetadata on its way: for each controller epoch the newest content, and the brokers that have not got it yet.

A controller's requests to one broker arrive in order. So the newest list of live brokers, and what is newest of each
partition, stand for all that was sent before: a broker that takes a request late may also have taken it early. What is
on its way from one controller to one broker arrives in one step; that a broker has taken some requests of an event, and
not yet the others, or never, is only in `kafkaproof.spec.requests`.
"""

from kafkaproof.spec.language.domains import Array, Bound, Record, SetOf
from kafkaproof.spec.language.sets import contains, union, without_member
from kafkaproof.spec.partition.context import Leader, LeaderEpoch
from kafkaproof.spec.partition.network import drop_requests as drop_others

UPDATE = Record(
    leader=(Leader, "leader"),
    isr=(SetOf("brokers"), "ISR"),
    leader_epoch=(LeaderEpoch, "leader epoch; -1 where the partition is to be forgotten"),
    to=(SetOf("brokers"), "brokers to which it is on its way"),
)
LIVE = Record(
    brokers=(SetOf("brokers"), "live brokers, including those shutting down"),
    to=(SetOf("brokers"), "brokers to which it is on its way"),
)
HALT = Record(
    to=(SetOf("brokers"), "brokers to which it is on its way"),
    leader_epochs=(Array(LeaderEpoch, "brokers"), "leader epoch in it; -1 where the topic is queued for deletion"),
)
UPDATES = {
    "updates": (Array(Array(UPDATE, "partitions"), Bound("epochs", 1)), "UpdateMetadata of each controller epoch"),
    "live": (Array(LIVE, Bound("epochs", 1)), "the list of live brokers in it"),
    "halts": (
        Array(Array(HALT, "partitions"), Bound("epochs", 1)),
        "StopReplica without delete of each controller epoch",
    ),
}


def put_alive(network, epoch, alive, to):
    """Send UpdateMetadata without partitions to a set of brokers: the live brokers."""
    live = network.live[epoch]
    if live.brokers != alive:
        live.to = 0
    live.brokers = alive
    live.to = union(live.to, to)


def put_update(network, epoch, p, leader, leader_epoch, isr, alive, to):
    """Send UpdateMetadata about a partition to a set of brokers."""
    put_alive(network, epoch, alive, to)
    update = network.updates[epoch][p]
    if update.leader != leader or update.leader_epoch != leader_epoch or update.isr != isr:
        update.to = 0
    update.leader = leader
    update.leader_epoch = leader_epoch
    update.isr = isr
    update.to = union(update.to, to)


def update_arrives(network, epoch, b):
    """Whether an UpdateMetadata of a controller epoch is on its way to `b`: an arrival. Each has the live brokers."""
    return contains(network.live[epoch].to, b)


def alive_told(network, epoch):
    """The live brokers that it lists."""
    return network.live[epoch].brokers


def is_update_of(network, epoch, p, b):
    """Whether it is about a partition."""
    return contains(network.updates[epoch][p].to, b)


def leader_told(network, epoch, p):
    """The leader that it names."""
    return network.updates[epoch][p].leader


def leader_epoch_told(network, epoch, p):
    """The leader epoch that it names, -1 where the partition is to be forgotten."""
    return network.updates[epoch][p].leader_epoch


def isr_told(network, epoch, p):
    """The ISR that it names."""
    return network.updates[epoch][p].isr


def take_update(network, epoch, b):
    """It is delivered, or lost."""
    network.live[epoch].to = without_member(network.live[epoch].to, b)
    for p in range(len(network.proposals)):
        network.updates[epoch][p].to = without_member(network.updates[epoch][p].to, b)


def put_halt(network, epoch, p, leader_epoch, to):
    """Send StopReplica without delete to a set of brokers."""
    halt = network.halts[epoch][p]
    halt.to = union(halt.to, to)
    for b in range(len(halt.leader_epochs)):
        if contains(to, b):
            halt.leader_epochs[b] = leader_epoch


def halt_arrives(network, epoch, p, b):
    """Whether a StopReplica without delete is on its way to `b`: an arrival."""
    return contains(network.halts[epoch][p].to, b)


def halt_epoch(network, epoch, p, b):
    """The leader epoch that it names, -1 for none."""
    return network.halts[epoch][p].leader_epochs[b]


def take_halt(network, epoch, p, b):
    """It is delivered, or lost."""
    halt = network.halts[epoch][p]
    halt.to = without_member(halt.to, b)
    halt.leader_epochs[b] = 0


def drop_requests(network, b):
    """The process of `b` is another one: requests that carry the old broker epoch are refused (2.2+)."""
    drop_others(network, b)
    for epoch in range(len(network.live)):
        take_update(network, epoch, b)
        for p in range(len(network.proposals)):
            take_halt(network, epoch, p, b)
