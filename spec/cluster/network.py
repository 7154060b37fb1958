"""The network of `partition`, where LeaderAndIsr also carries the ISR with which the leader begins.

Nothing reads the ISR in requests to other replicas. The newest request stands for earlier ones (see
`kafkaproof.spec.partition.network`): the ISR in it is the same, since only the leader changes the ISR within an epoch.
"""

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, SetOf
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition import network
from kafkaproof.spec.partition.network import leader_in, put_request, take_request

NETWORK = network.NETWORK.extended(
    isrs=(Array(Array(SetOf("brokers"), "partitions"), Bound("epochs", 1)), "ISR in it, until the leader has read it")
)


def put_request_with_isr(network, epoch, p, leader, leader_epoch, isr, to):
    """Send LeaderAndIsr to a set of brokers."""
    put_request(network, epoch, p, leader, leader_epoch, isr, to)
    arrives = leader != NOBODY and contains(network.requests[epoch][p].to, leader)
    network.isrs[epoch][p] = isr if arrives else 0


def isr_in(network, epoch, p):
    """The ISR that the request names."""
    return network.isrs[epoch][p]


def take_request_with_isr(network, epoch, p, b):
    """The request is delivered."""
    take_request(network, epoch, p, b)
    if leader_in(network, epoch, p) == b:
        network.isrs[epoch][p] = 0
