"""The network: a channel for each term and broker, and what is left of discarded channels.

A channel is the FIFO queue and the sender thread of ControllerChannelManager. An element of the queue is one batch for
one broker. Its requests are sent one by one, one after another is answered: a request whose answer is lost is sent
again.

A channel is discarded when its broker is no longer live, or the term is over. Its head may be on its way already, and
arrive at any time (`late`); the others were never sent. Of two discarded heads of one term to one broker the newer is
kept. A lost request is one that never arrives.

A broker answers at once; a controller gets the answer as an event in the queue of its process, which outlives the term.
Only KAFKA_STORAGE_ERROR, and NONE after it, change anything there; of two waiting answers the newer stays, since the
older may be handled before the newer comes.
"""

from kafkaproof.spec.kafka.zookeeper import Answer
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Budget, Choice, Id, Number, Record, Sequence
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.requests.batch import (
    BARE,
    BATCH,
    FULL,
    LEADER_AND_ISR,
    NO_STOP,
    NOTHING,
    clear,
    copy,
    first_kind,
    keep_first,
    put_batch,
    remove_first,
    take_batch,
)
from kafkaproof.spec.requests.context import BrokerEpoch

Error = Choice(
    *Answer.names,
    "NONE",
    "STALE_BROKER_EPOCH",
    "STALE_CONTROLLER_EPOCH",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "KAFKA_STORAGE_ERROR",
    "FENCED_LEADER_EPOCH",
)
(
    NONE,
    STALE_BROKER_EPOCH,
    STALE_CONTROLLER_EPOCH,
    UNKNOWN_TOPIC_OR_PARTITION,
    KAFKA_STORAGE_ERROR,
    FENCED_LEADER_EPOCH,
) = tuple(Error)[len(Answer.names) :]
Delivery = Choice("ANSWERED", "UNANSWERED", "LATE")
ANSWERED, UNANSWERED, LATE = Delivery
Told = Choice(
    "NO_EVENT",
    "FAILED",  # an answer with KAFKA_STORAGE_ERROR waits
    "HANDLED",  # one was handled since the term began, or since the broker came
    "HEALED",  # a later answer with NONE waits
)
NO_EVENT, FAILED, HANDLED, HEALED = Told

CHANNEL = Record(
    broker_epoch=(BrokerEpoch, "broker epoch in its requests, 0 without a channel"),
    queue=(Sequence(BATCH, Bound("queue")), "batches that are still to be sent"),
    late_epoch=(BrokerEpoch, "broker epoch in `late`"),
    late=(BATCH, "one request of a discarded channel that may still arrive"),
)
NETWORK = Record(
    channels=(Array(Array(CHANNEL, "brokers"), Bound("epochs", 1)), "channels of each controller epoch"),
    senders=(Array(Id("brokers", nobody=True), Bound("epochs", 1)), "whose term it is, nobody when it is over"),
    answers=(Array(Array(Told, "brokers"), "brokers"), "for each controller, answers in its queue by their sender"),
    faults=(Number(0, Budget("faults")), "faults so far"),
)


def send(network, controller, to, leader_and_isr_to, update, stop_to, stop):
    """One batch to each of `to`: UpdateMetadata to all, LeaderAndIsr and StopReplica to some of them."""
    channels = network.channels[controller.epoch]
    for b in range(len(network.answers)):
        if contains(to, b):
            stopped = stop if contains(stop_to, b) else NO_STOP
            put_batch(channels[b].queue, controller, contains(leader_and_isr_to, b), update, stopped)


def send_metadata(network, controller, to):
    """UpdateMetadata without partitions."""
    send(network, controller, to, 0, BARE, 0, NO_STOP)


def send_leadership(network, controller, leader_and_isr_to):
    """LeaderAndIsr to some, with UpdateMetadata to all live brokers."""
    send(network, controller, controller.live, leader_and_isr_to, FULL, 0, NO_STOP)


def start_up(network, controller, replicas):
    """What a new controller sends: UpdateMetadata, then LeaderAndIsr."""
    send_metadata(network, controller, controller.live)
    send_leadership(network, controller, replicas)


def take_in(network, controller, others, joined, replicas):
    """What a controller sends when brokers come: UpdateMetadata, then LeaderAndIsr to the new ones."""
    send(network, controller, others, 0, FULL, 0, NO_STOP)
    send(network, controller, joined, 0, FULL, 0, NO_STOP)
    send(network, controller, joined, replicas, FULL, 0, NO_STOP)


def open_channels(network, controller, members):
    """A channel to each of `members`."""
    for b in range(len(network.answers)):
        if contains(members, b):
            network.channels[controller.epoch][b].broker_epoch = controller.epochs[b]


def discard(channel):
    """The sender thread ends: the queue is discarded, but its head may be on its way."""
    if channel.queue.length > 0:
        copy(channel.late, channel.queue.slots[0])
        keep_first(channel.late)
        channel.late_epoch = channel.broker_epoch
    for batch in channel.queue.slots:
        clear(batch)
    channel.queue.length = 0
    channel.broker_epoch = 0


def close_channels(network, controller):
    """The channels to brokers that the controller does not know as live any more are discarded."""
    for b in range(len(network.answers)):
        if not contains(controller.live, b):
            discard(network.channels[controller.epoch][b])


def begin_term(network, b, epoch):
    """From now on `b` sends the requests of `epoch`; answers in its queue keep waiting."""
    network.senders[epoch] = b
    for r in range(len(network.answers)):
        forget_event(network, b, r)


def forget_event(network, b, sender):
    """Forget an answer that the controller of `b` has handled."""
    if network.answers[b][sender] == HANDLED:
        network.answers[b][sender] = NO_EVENT


def forget_events(network, b, members):
    """Forget the handled answers of brokers that come."""
    for r in range(len(network.answers)):
        if contains(members, r):
            forget_event(network, b, r)


def end_term(network, epoch):
    """All channels of the term are discarded; its answers reach nobody any more."""
    network.senders[epoch] = NOBODY
    for b in range(len(network.answers)):
        discard(network.channels[epoch][b])


def fall_silent(network, b):
    """The process of `b`, or its session, has ended: its term is over, and its event queue is emptied."""
    for epoch in range(len(network.senders) - 1):
        if network.senders[epoch] == b:
            end_term(network, epoch)
    for r in range(len(network.answers)):
        network.answers[b][r] = NO_EVENT


def lose_arrived(network, b):
    """The process of `b` has died with the requests that waited in its queue."""
    for epoch in range(len(network.senders) - 1):
        channel = network.channels[epoch][b]
        channel.queue.slots[0].waits = 0
        if channel.late.waits:
            clear(channel.late)
            channel.late_epoch = 0


def arriving(network, epoch, b, delivery):
    """Which request of a term arrives at `b` next: from its channel, or from a discarded one."""
    channel = network.channels[epoch][b]
    return first_kind(channel.late) if delivery == LATE else first_kind(channel.queue.slots[0])


def has_arrived(network, epoch, b, delivery):
    """Whether the request waits in the queue of `b` already."""
    channel = network.channels[epoch][b]
    return channel.late.waits == 1 if delivery == LATE else channel.queue.slots[0].waits == 1


def arrive(network, epoch, b, delivery):
    """The request is in the queue of `b`."""
    channel = network.channels[epoch][b]
    if delivery == LATE:
        channel.late.waits = 1
    else:
        channel.queue.slots[0].waits = 1


def waiting(network, b):
    """Whether a control request waits in the queue of `b`."""
    for epoch in range(len(network.senders)):
        if has_arrived(network, epoch, b, ANSWERED) or has_arrived(network, epoch, b, LATE):
            return True
    return False


def broker_epoch_in(network, epoch, b, delivery):
    """The broker epoch in the request that arrives."""
    channel = network.channels[epoch][b]
    return channel.late_epoch if delivery == LATE else channel.broker_epoch


def leader_in(network, epoch, b, delivery):
    """The leader that the request names."""
    channel = network.channels[epoch][b]
    return channel.late.leader if delivery == LATE else channel.queue.slots[0].leader


def leader_epoch_in(network, epoch, b, delivery):
    """The leader epoch that the request names."""
    channel = network.channels[epoch][b]
    return channel.late.leader_epoch if delivery == LATE else channel.queue.slots[0].leader_epoch


def update_in(network, epoch, b, delivery):
    """Which UpdateMetadata arrives."""
    channel = network.channels[epoch][b]
    return channel.late.update if delivery == LATE else channel.queue.slots[0].update


def alive_in(network, epoch, b, delivery):
    """The live brokers that the request lists."""
    channel = network.channels[epoch][b]
    return channel.late.alive if delivery == LATE else channel.queue.slots[0].alive


def stop_in(network, epoch, b, delivery):
    """Which StopReplica arrives."""
    channel = network.channels[epoch][b]
    return channel.late.stop if delivery == LATE else channel.queue.slots[0].stop


def answer(network, epoch, b, delivery, error):
    """Broker `b` answers a request that has arrived, with an error code for the partition or the whole request."""
    channel = network.channels[epoch][b]
    if delivery == UNANSWERED:
        network.faults += 1
        channel.queue.slots[0].waits = 0
    elif delivery == LATE:
        clear(channel.late)
        channel.late_epoch = 0
    else:
        kind = first_kind(channel.queue.slots[0])
        remove_first(channel.queue.slots[0])
        if first_kind(channel.queue.slots[0]) == NOTHING:
            take_batch(channel.queue)
        if kind == LEADER_AND_ISR:
            put_event(network, network.senders[epoch], b, error)
    return error


def put_event(network, sender, b, error):
    """LeaderAndIsrResponseReceived, into the queue of the controller that gets the answer."""
    if error == KAFKA_STORAGE_ERROR:
        network.answers[sender][b] = FAILED
    elif error == NONE and network.answers[sender][b] != NO_EVENT:
        network.answers[sender][b] = HEALED


def told(network, b, sender):
    """The answer of `sender` that waits in the queue of `b`'s controller."""
    return network.answers[b][sender]


def take_event(network, b, sender):
    """The answer is handled."""
    network.answers[b][sender] = HANDLED


def put_fault(network):
    """Count a fault."""
    network.faults += 1
