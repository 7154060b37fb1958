"""The network between controllers and brokers: control requests on their way.

A request carries its controller epoch. What else it says is not kept, so the requests of one epoch to
one broker are alike: they are a set, sent again and again at will, and which of LeaderAndIsr,
UpdateMetadata and StopReplica arrives is found out on arrival. Requests of different epochs come from
different connections and overtake each other. One that never arrives is a lost one.

Receivers do not act on each other, so that as many as the scope says (one is enough) show all that can
happen to any; a running cluster and a replay have as many receivers as brokers.
"""

from kafkaproof.spec.language.domains import Array, Bound, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import contains, with_member, without_member

Receiver = Id("receivers")
Epoch = Number(0, Bound("epochs"))

NETWORK = Record(requests=(Array(SetOf("receivers"), Bound("epochs", 1)), "for each epoch, who is sent a request"))


def put_request(network, to, epoch):
    """Send a control request."""
    network.requests[epoch] = with_member(network.requests[epoch], to)


def arriving(network, to, epoch):
    """Whether a request of this epoch is on its way: an arrival."""
    return contains(network.requests[epoch], to)


def take_request(network, to, epoch):
    """The request is delivered."""
    network.requests[epoch] = without_member(network.requests[epoch], to)
