"""The network between controllers and brokers: LeaderAndIsr one way, proposals for an ISR the other.

LeaderAndIsr: for each controller epoch and partition the newest content (leader, leader epoch), and the brokers to
which it is still on its way; newer content replaces older content that has not arrived. No safety property can see the
difference: what may arrive late may also arrive early, a broker's acts come later still, and an older leader epoch
changes nothing once a newer one was accepted. For the same reason the requests of one batch are sent as soon as the
write that they announce has succeeded, not at the batch's end. Requests of different controllers overtake each other. A
lost request is one that never arrives. A controller that resigns throws away what it has queued, and only what is on
its way may still arrive (ControllerChannelManager.shutdown); here all that it has told may, which is more than Kafka's.
The same functions mean queues, in which the order is kept and that are thrown away, in
`kafkaproof.spec.requests.network`: what brokers do as these tell them they may also do here. The ISR in the request is
left out: the data plane is represented by "a leader may propose any ISR that holds itself".

A proposal (AlterPartition, 2.7+) carries the leader epoch; it may be sent, and arrive, whenever its sender
believes that it leads. The ISR that it asks for is chosen when it arrives.

Of the answers to LeaderAndIsr only storage errors are kept. They reach the controller that asked, as long as its term
lasts, and wait in its event queue, which outlives the term. They are lost with the process that sent them.

A broker asks for a controlled shutdown until its process ends. An administrator asks for an election (KIP-460, 2.4+)
until a controller takes it up; other brokers answer NOT_CONTROLLER, which changes nothing and is no step.
"""

from kafkaproof.spec.language.domains import Array, Bound, Choice, Record, SetOf
from kafkaproof.spec.language.sets import contains, union, with_member, without_member
from kafkaproof.spec.partition.context import NO_EPOCH, Leader, LeaderEpoch

Asked = Choice("NOTHING", "PREFERRED_TYPE", "UNCLEAN_TYPE")
NOTHING, PREFERRED_TYPE, UNCLEAN_TYPE = Asked

REQUEST = Record(
    leader=(Leader, "leader"),
    leader_epoch=(LeaderEpoch, "leader epoch, -1 when nothing was sent"),
    to=(SetOf("brokers"), "brokers to which it is on its way"),
    errors=(SetOf("brokers"), "brokers whose answer KAFKA_STORAGE_ERROR is on its way"),
)
NETWORK = Record(
    requests=(Array(Array(REQUEST, "partitions"), Bound("epochs", 1)), "LeaderAndIsr of each controller epoch"),
    proposals=(Array(Array(LeaderEpoch, "brokers"), "partitions"), "leader epoch in each leader's proposals, -1: none"),
    shutdowns=(SetOf("brokers"), "brokers that ask for a controlled shutdown"),
    asked=(Asked, "the type of election that an administrator asks for, of every partition"),
)


def put_request(network, epoch, p, leader, leader_epoch, isr, to):
    """Send LeaderAndIsr to a set of brokers; the ISR is not kept."""
    request = network.requests[epoch][p]
    if request.leader_epoch != leader_epoch or request.leader != leader:
        request.to = 0
    request.leader = leader
    request.leader_epoch = leader_epoch
    request.to = union(request.to, to)


def put_update(network, epoch, p, leader, leader_epoch, isr, alive, to):
    """Send UpdateMetadata about a partition to a set of brokers: what it tells is kept in `metadata` alone."""
    return 0


def put_alive(network, epoch, alive, to):
    """Send UpdateMetadata without partitions: the live brokers."""
    return 0


def put_halt(network, epoch, p, leader_epoch, to):
    """Send StopReplica without delete to a set of brokers: nobody fetches here."""
    return 0


def send_batch(network, epoch):
    """What was collected for each broker is sent: LeaderAndIsr, then UpdateMetadata, then StopReplica. Here each has been
    sent by itself.

    Kafka: ControllerBrokerRequestBatch.sendRequestsToBrokers, 0.8 to 2.2;
           AbstractControllerBrokerRequestBatch.sendRequestsToBrokers, 2.3 to 3.9.
    """
    return 0


def arriving(network, epoch, p, b):
    """Whether a request is on its way to `b`: an arrival."""
    return contains(network.requests[epoch][p].to, b)


def take_request(network, epoch, p, b):
    """The request is delivered."""
    request = network.requests[epoch][p]
    request.to = without_member(request.to, b)


def leader_in(network, epoch, p):
    """The leader that the request names."""
    return network.requests[epoch][p].leader


def leader_epoch_in(network, epoch, p):
    """The leader epoch that the request names."""
    return network.requests[epoch][p].leader_epoch


def put_error(network, epoch, p, b):
    """Broker `b` answers a request with KAFKA_STORAGE_ERROR."""
    request = network.requests[epoch][p]
    request.errors = with_member(request.errors, b)


def error_arrives(network, epoch, p, b):
    """Whether a storage error of `b` is on its way to the controller that asked: an arrival."""
    return contains(network.requests[epoch][p].errors, b)


def take_error(network, epoch, p, b):
    """The answer is delivered, or lost."""
    request = network.requests[epoch][p]
    request.errors = without_member(request.errors, b)


def put_proposals(network, p, b, leader_epoch):
    """From now on broker `b` may send proposals with this leader epoch (-1: it does not lead)."""
    network.proposals[p][b] = leader_epoch


def proposed_epoch(network, p, sender):
    """The leader epoch of a proposal that arrives from `sender`, -1 for none."""
    return network.proposals[p][sender]


def put_shutdown(network, b):
    """Broker `b` asks to be shut down, again and again."""
    network.shutdowns = with_member(network.shutdowns, b)


def leaves(network, b):
    """Whether a request for a controlled shutdown arrives from `b`."""
    return contains(network.shutdowns, b)


def ask(network, wanted):
    """An administrator asks for an election."""
    network.asked = wanted


def asked(network):
    """The type of election that is asked for, NOTHING for none: an arrival."""
    return network.asked


def is_asked_of(network, p):
    """Whether it is asked for of a partition: here of every one (an administrator may name some)."""
    return True


def take_asked(network):
    """A controller has taken the request up."""
    network.asked = NOTHING


def drop_requests(network, b):
    """The process of `b` is another one: requests that carry the old broker epoch are refused (2.2+)."""
    for epoch in range(len(network.requests)):
        for p in range(len(network.proposals)):
            take_request(network, epoch, p, b)


def keep_requests(network, b):
    """Requests to the former process reach the next one (up to 2.1)."""
    return 0


def fall_silent(network, b):
    """The process of `b` has ended."""
    network.shutdowns = without_member(network.shutdowns, b)
    for p in range(len(network.proposals)):
        network.proposals[p][b] = NO_EPOCH
        for epoch in range(len(network.requests)):
            take_error(network, epoch, p, b)
