"""The network: LeaderAndIsr and StopReplica(delete) to brokers, answers and ISR proposals from them.

For each controller epoch, broker and partition the newest request, or the answer to it: a newer request replaces an
older one that has not arrived. (What the older request would have done it may also do by arriving early.) Requests of
different controllers overtake each other; a lost request is one that never arrives. StopReplica is modelled only with
delete=true: without it nothing is deleted. Only the answer of a deletion is kept: the controller does not await those
of a reassignment. A request names the incarnation of its topic, for properties only.

Leaders act on the newest LeaderAndIsr as if it had arrived: `named` is the assignment in it. An administrator asks for
a reassignment (KIP-455, 2.4+) until a controller takes the request up.
"""

from kafkaproof.spec.language.domains import Array, Bound, Choice, Record, SetOf
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.topics.context import Incarnation
from kafkaproof.spec.topics.znodes import NOTHING, REQUEST

Kind = Choice(
    "EMPTY",
    "START",  # LeaderAndIsr
    "DROP",  # StopReplica(delete) of a reassignment
    "DELETE",  # StopReplica(delete) of the topic's deletion
    "DELETED",  # the answer to it: the log is deleted
    "FAILED",  # the answer to it: KAFKA_STORAGE_ERROR
)
EMPTY, START, DROP, DELETE, DELETED, FAILED = Kind
MESSAGE = Record(
    kind=(Kind, "the request, or the answer to it"), topic=(Incarnation, "the incarnation that its sender means")
)
NETWORK = Record(
    channels=(
        Array(Array(Array(MESSAGE, "partitions"), "brokers"), Bound("epochs", 1)),
        "for each controller epoch and broker the newest request of each partition",
    ),
    named=(Array(SetOf("brokers"), "partitions"), "the replicas that the newest LeaderAndIsr names"),
    asked=(REQUEST, "the request of an administrator to the controller"),
)


def put(network, epoch, b, p, kind, topic):
    """Send a request to `b`."""
    network.channels[epoch][b][p].kind = kind
    network.channels[epoch][b][p].topic = topic


def start(network, epoch, p, topic, to):
    """Send LeaderAndIsr to a set of brokers."""
    for b in range(len(network.channels[0])):
        if contains(to, b):
            put(network, epoch, b, p, START, topic)


def name_replicas(network, p, replicas):
    """LeaderAndIsr of a new leader epoch carries the assignment."""
    network.named[p] = replicas


def named(network, p):
    """The replicas that the leader believes to be assigned."""
    return network.named[p]


def kind_of(network, epoch, b, p):
    """What is on its way between `b` and the controller of an epoch: an arrival."""
    return network.channels[epoch][b][p].kind


def topic_of(network, epoch, b, p):
    """The incarnation that it names."""
    return network.channels[epoch][b][p].topic


def take(network, epoch, b, p):
    """It is delivered."""
    put(network, epoch, b, p, EMPTY, 0)


def answer(network, epoch, b, p, kind):
    """Broker `b` answers a deletion."""
    network.channels[epoch][b][p].kind = kind


def drop_requests(network, b):
    """The process of `b` is another one: requests that carry the old broker epoch are refused (2.2+)."""
    for epoch in range(len(network.channels)):
        for p in range(len(network.named)):
            kind = kind_of(network, epoch, b, p)
            if kind == START or kind == DROP or kind == DELETE:
                take(network, epoch, b, p)


def keep_requests(network, b):
    """Requests to the former process reach the next one (up to 2.1)."""
    return 0


def wanted(network):
    """The kind of request that an administrator makes: an arrival."""
    return network.asked.wanted


def partition_wanted(network):
    """The partition of that request."""
    return network.asked.partition


def target_wanted(network):
    """The target that the administrator asks for."""
    return network.asked.target


def take_wanted(network):
    """The controller has taken up the request."""
    clear_request(network.asked)


def clear_request(request):
    """Nothing is asked for."""
    request.wanted = NOTHING
    request.partition = 0
    clear(request.target)
