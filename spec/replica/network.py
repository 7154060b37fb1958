"""The network: control requests, one message between each follower and its leader, proposals, the clients.

LeaderAndIsr: for each leader epoch its content, and the brokers to which it is in flight. It may arrive at any later
time, or never. If it arrives after that of a higher epoch, it changes nothing, and is not a step. A request without a
leader changes nothing at a broker, and is not sent.

Between a follower and its leader at most one message is in flight: a request (FETCH, EPOCHS) or its answer. A follower
may send again at any time, and then the message in flight is lost. Nothing else that the follower does recalls a
message: a request of an earlier leader epoch may still arrive, and so may its answer. A refusal changes nothing at the
follower, which repeats its request, so the request stays.

AlterPartition: at most one from each leader, SENT until the controller decides; its answer may be late. If it is
REFUSED for its version, it is not sent again: its leader waits for LeaderAndIsr of a higher epoch.

For the clients see `kafkaproof.spec.replica.clients.network`.
"""

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import contains, everybody, is_empty, with_member, without_member
from kafkaproof.spec.replica.broker import FETCHING, LEADER, TRUNCATING
from kafkaproof.spec.replica.storage import NO_EPOCH, LeaderEpoch, Offset, last_epoch
from kafkaproof.spec.replica.zookeeper import FENCED_LEADER_EPOCH, NOT_LEADER, OK, UNKNOWN_LEADER_EPOCH
from kafkaproof.spec.replication.replication import append

SEAMS_OF = ()

Kind = Choice("NO_MESSAGE", "FETCH", "EPOCHS", "RECORD", "NO_RECORD", "DIVERGING", "END")
NO_MESSAGE, FETCH, EPOCHS, RECORD, NO_RECORD, DIVERGING, END = Kind
Proposal = Choice("NO_PROPOSAL", "SENT", "DONE", "REFUSED")
NO_PROPOSAL, SENT, DONE, REFUSED = Proposal

REQUEST = Record(
    leader=(Id("brokers"), "leader"),
    isr=(SetOf("brokers"), "ISR, as long as the leader has not read it"),
    to=(SetOf("brokers"), "brokers to which it is in flight"),
)
MESSAGE = Record(
    kind=(Kind, "request or answer"),
    peer=(Id("brokers"), "the leader that gets the request, or has answered"),
    epoch=(Number(0, Bound("epochs")), "leader epoch of the follower when it sent the request"),
    offset=(Offset, "fetch offset"),
    last=(LeaderEpoch, "epoch of the follower's last record; in an answer, that of the record or of the divergence"),
    id=(Number(0, Bound("records", -1)), "the record"),
    hw=(Offset, "the leader's high watermark"),
    end=(Offset, "where the leader's records up to epoch `last` end"),
)
ALTER = Record(
    state=(Proposal, "state of the proposal"),
    epoch=(Number(0, Bound("epochs")), "leader epoch of the proposer"),
    isr=(SetOf("brokers"), "proposed ISR"),
)
NETWORK = Record(
    requests=(Array(REQUEST, Bound("epochs", 1)), "LeaderAndIsr of each leader epoch"),
    messages=(Array(MESSAGE, "brokers"), "between each follower and its leader"),
    alters=(Array(ALTER, "brokers"), "AlterPartition of each leader"),
)


def put_request(network, epoch, leader, isr):
    """Send LeaderAndIsr to all brokers."""
    request = network.requests[epoch]
    request.leader = leader
    request.isr = isr
    request.to = everybody(len(network.messages))


def arriving(network, b, epoch):
    """Whether LeaderAndIsr of this epoch is in flight to `b`."""
    return contains(network.requests[epoch].to, b)


def leader_in(network, epoch):
    """The leader that it names."""
    return network.requests[epoch].leader


def isr_in(network, epoch):
    """The ISR that it names."""
    return network.requests[epoch].isr


def drop_request(network, b, epoch):
    """Lose the request of this epoch to `b`."""
    request = network.requests[epoch]
    request.to = without_member(request.to, b)
    if request.leader == b:
        request.isr = 0
    if is_empty(request.to):
        request.leader = 0
        request.isr = 0


def take_request(network, b, epoch):
    """Deliver the request to `b`, which obeys no lower epoch from now on."""
    for e in range(len(network.requests) - 1):
        if e <= epoch:
            drop_request(network, b, e)
    withdraw(network, b)


def renew_request(network, zk, b):
    """Refuse requests to the former process of `b`. The new process is told who leads, if another broker does."""
    for e in range(len(network.requests) - 1):
        drop_request(network, b, e)
    if zk.leader != NOBODY and zk.leader != b:
        request = network.requests[zk.leader_epoch]
        request.leader = zk.leader
        request.to = with_member(request.to, b)


def clear(network, f):
    """Clear the message between `f` and its leader."""
    message = network.messages[f]
    message.kind = NO_MESSAGE
    message.peer = 0
    message.epoch = 0
    message.offset = 0
    message.last = 0
    message.id = 0
    message.hw = 0
    message.end = 0


def is_request(network, f):
    """Whether a request of `f` is in flight."""
    return network.messages[f].kind == FETCH or network.messages[f].kind == EPOCHS


def drop_answer(network, f):
    """Make `f` no longer wait for an answer."""
    if not is_request(network, f):
        clear(network, f)


def leave_leader(network, f):
    """A follower that takes LeaderAndIsr no longer accepts answers to earlier requests."""
    drop_answer(network, f)


def keep_waiting(network, f):
    """The follower may still accept the answer to an earlier request (up to KAFKA-18991)."""
    return 0


def wants_to_send(network, f, broker):
    """Whether `f` follows a leader and its present request is not in flight."""
    message = network.messages[f]
    if broker.state != FETCHING and broker.state != TRUNCATING:
        return False
    kind = FETCH if broker.state == FETCHING else EPOCHS
    same = message.kind == kind and message.peer == broker.leader and message.epoch == broker.leader_epoch
    return not same or message.offset != broker.log.length


def send_first(network, f, broker):
    """A new follower sends its leader a request, unless another message is still in flight."""
    if network.messages[f].kind == NO_MESSAGE and wants_to_send(network, f, broker):
        send(network, f, broker)


def send(network, f, broker):
    """Follower `f` asks its leader: for records, or where an epoch ends."""
    clear(network, f)
    message = network.messages[f]
    message.kind = FETCH if broker.state == FETCHING else EPOCHS
    message.peer = broker.leader
    message.epoch = broker.leader_epoch
    message.offset = broker.log.length
    message.last = last_epoch(broker.log)


def request_arrives(network, b, f, kind):
    """Whether a request of this kind from `f` is in flight to `b`."""
    return network.messages[f].kind == kind and network.messages[f].peer == b


def compare_epochs(epoch, broker):
    """OK if a request is of the broker's leader epoch, else FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH (KIP-320).

    Kafka: Partition.checkCurrentLeaderEpoch, 2.1 to 3.9.
    """
    if epoch < broker.leader_epoch:
        return FENCED_LEADER_EPOCH
    if epoch > broker.leader_epoch:
        return UNKNOWN_LEADER_EPOCH
    return OK


def answer_to(epoch, broker):
    """How a broker answers a request of a leader epoch: with a replica it compares epochs before it looks whether it leads.

    Kafka: Partition.getLocalReplica, 2.1 to 2.3; getLocalLog, 2.4 to 3.9.
    """
    if broker.leader_epoch == NO_EPOCH:
        return NOT_LEADER
    answer = compare_epochs(epoch, broker)
    return NOT_LEADER if answer == OK and broker.state != LEADER else answer


def check(network, f, broker):
    """How the broker answers `f`: OK, NOT_LEADER, FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH."""
    return answer_to(network.messages[f].epoch, broker)


def check_role(network, f, broker):
    """Whether the broker leads, in any epoch: OK or NOT_LEADER (up to 2.0)."""
    return OK if broker.state == LEADER else NOT_LEADER


def offset_of(network, f):
    """The offset that `f` fetches."""
    return network.messages[f].offset


def last_epoch_of(network, f):
    """The epoch of the last record of `f`."""
    return network.messages[f].last


def answer_records(network, f, log, hw):
    """The leader answers with the next record, if it has one, and with its high watermark."""
    message = network.messages[f]
    message.kind = NO_RECORD
    message.last = 0
    message.hw = hw
    if message.offset < log.length:
        message.kind = RECORD
        message.last = log.slots[message.offset].epoch
        message.id = log.slots[message.offset].id


def answer_end(network, f, kind, epoch, end):
    """The leader answers with an epoch and the offset where it ends."""
    message = network.messages[f]
    message.kind = kind
    message.last = epoch
    message.end = end


def same_epoch(message, broker):
    """Whether an answer is to a request of the present leader epoch (KAFKA-18991)."""
    return message.epoch == broker.leader_epoch


def answer_arrives(network, f, broker):
    """Whether there is an answer that `f` accepts: `f` is in that state, and asked that leader at that offset."""
    message = network.messages[f]
    if message.peer != broker.leader or message.offset != broker.log.length or not same_epoch(message, broker):
        return False
    if message.kind == END:
        return broker.state == TRUNCATING
    fetched = message.kind == RECORD or message.kind == NO_RECORD or message.kind == DIVERGING
    return fetched and broker.state == FETCHING


def has_records(network, f):
    """Whether the answer is to a fetch whose offset was right."""
    return network.messages[f].kind == RECORD or network.messages[f].kind == NO_RECORD


def store_answer(network, f, broker):
    """`f` appends the record, if there is one, and adopts the high watermark as far as its log goes."""
    message = network.messages[f]
    if message.kind == RECORD:
        append(broker.log, message.id, message.last)
    broker.hw = min(message.hw, broker.log.length)


def end_in(network, f):
    """The end offset in the answer."""
    return network.messages[f].end


def propose(network, b, epoch, isr):
    """Leader `b` sends AlterPartition."""
    alter = network.alters[b]
    alter.state = SENT
    alter.epoch = epoch
    alter.isr = isr


def proposal_state(network, b):
    """The state of the proposal of `b`."""
    return network.alters[b].state


def withdraw(network, b):
    """Refuse what `b` proposed in an earlier epoch. It no longer waits for an answer."""
    alter = network.alters[b]
    alter.state = NO_PROPOSAL
    alter.epoch = 0
    alter.isr = 0


def is_proposed(network, b, isr):
    """Whether this ISR, proposed by `b`, is in flight to the controller."""
    return network.alters[b].state == SENT and network.alters[b].isr == isr


def grant(network, b):
    """The controller answers `b` that its proposal is written."""
    network.alters[b].state = DONE


def refuse(network, b):
    """The controller answers `b` that its version is not the present one (INVALID_UPDATE_VERSION): `b` gives up."""
    network.alters[b].state = REFUSED


def refuse_proposals(network):
    """The leader epoch has risen: refuse proposals that are not yet decided. Their senders do not act on the refusal."""
    for b in range(len(network.alters)):
        if network.alters[b].state == SENT:
            withdraw(network, b)
