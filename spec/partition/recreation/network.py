"""LeaderAndIsr with the id of a topic (KIP-516, 2.8+), and a StopReplica(delete) that arrives twice.

A controller that gets no answer within `controller.socket.timeout.ms` sends a request again, on another connection. The
first one is not gone: it arrives when the broker reads from the old connection. Only that of a deletion is looked at,
which no leader epoch orders.
"""

from kafkaproof.spec.language.sets import contains, with_member, without_member
from kafkaproof.spec.partition.deletion.network import drop_requests as drop_others


def identify(network, epoch, p, topic):
    """The newest LeaderAndIsr of a partition is of a topic: what is still on its way about another one is overtaken."""
    request = network.requests[epoch][p]
    if request.topic != topic:
        request.to = 0
    request.topic = topic


def topic_in(network, epoch, p):
    """The id of the topic in a LeaderAndIsr."""
    return network.requests[epoch][p].topic


def put_late(network, epoch, p, b):
    """A StopReplica is on its way to a broker a second time."""
    network.stops[epoch][p].late = with_member(network.stops[epoch][p].late, b)


def late_arrives(network, epoch, p, b):
    """Whether it is: an arrival."""
    return contains(network.stops[epoch][p].late, b)


def take_late(network, epoch, p, b):
    """It is delivered, or lost."""
    network.stops[epoch][p].late = without_member(network.stops[epoch][p].late, b)


def drop_requests(network, b):
    """The process of `b` is another one: requests that carry the old broker epoch are refused (2.2+)."""
    drop_others(network, b)
    for epoch in range(len(network.stops)):
        for p in range(len(network.proposals)):
            take_late(network, epoch, p, b)
