"""The network between controllers and brokers: control requests on their way.

A request carries its controller epoch. The rest of its content is not kept, so the requests of one epoch to
one broker are alike: they form a set, may be sent any number of times, and which of LeaderAndIsr,
UpdateMetadata and StopReplica arrives is decided on arrival. Requests of different epochs use different
connections and overtake each other. A lost request is one that never arrives.

Receivers do not affect each other, so one receiver is enough to show what can happen to any; the scope says
how many there are. A running cluster and a replay have as many receivers as brokers.
"""

from kafkaproof.spec.language.domains import Array, Bound, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import contains, with_member, without_member

Receiver = Id("receivers")
Epoch = Number(0, Bound("epochs"))

NETWORK = Record(requests=(Array(SetOf("receivers"), Bound("epochs", 1)), "for each epoch, receivers of a request"))


def put_request(network, to, epoch):
    """Send a control request."""
    network.requests[epoch] = with_member(network.requests[epoch], to)


def arriving(network, to, epoch):
    """Whether a request of this epoch is on its way: an arrival."""
    return contains(network.requests[epoch], to)


def take_request(network, to, epoch):
    """The request is delivered."""
    network.requests[epoch] = without_member(network.requests[epoch], to)
