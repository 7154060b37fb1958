"""Channels: what controllers send is queued for each broker, and comes there in this order.

This is the other meaning of the functions by which controllers tell brokers (`kafkaproof.spec.partition.network`,
`metadata.network` and `deletion.network`). There only the newest content of each term is kept, and may come at any time.
Here a channel is the FIFO queue and the sender thread of ControllerChannelManager, one for each term and broker. An
element of the queue is one batch for one broker, the newest may be collected still (`send_batch`). Its requests are sent
one by one, one after another is answered: a request whose answer is lost is sent again.

A channel is discarded when its broker is no longer live, or has registered anew, or the term is over: its requests were
never sent, but for the first, which may be on its way already and arrive at any time (`late`). Of two discarded heads of
one term to one broker the newer is kept. A lost request is one that never arrives.

A broker answers at once. Storage errors wait in the event queue of the process that sent the request, which outlives the
term.
"""

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Record, Sequence, SetOf
from kafkaproof.spec.language.sets import contains, with_member, without_member
from kafkaproof.spec.partition import network as newest
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.deletion.state import STOP
from kafkaproof.spec.requests.batch import (
    BATCH,
    DELETE,
    NOTHING,
    add_leader_and_isr,
    add_leadership,
    add_stop,
    add_update,
    clear,
    copy,
    first_kind,
    keep_first,
    remove_first,
    take_batch,
)
from kafkaproof.spec.requests.batch import STOP as WITHOUT_DELETE

Delivery = Choice("ANSWERED", "UNANSWERED", "LATE")
ANSWERED, UNANSWERED, LATE = Delivery

CHANNEL = Record(
    current=(Flag(), "its requests name the current registration of the broker"),
    collecting=(Flag(), "the newest batch is not complete: it is not sent yet"),
    queue=(Sequence(BATCH, Bound("queue")), "batches that are still to be sent"),
    late_current=(Flag(), "`late` names the current registration of the broker"),
    late=(BATCH, "one request of a discarded channel that may still arrive"),
)
NETWORK = newest.NETWORK.only("proposals", "shutdowns").extended(
    channels=(Array(Array(CHANNEL, "brokers"), Bound("epochs", 1)), "channels of each controller epoch"),
    senders=(Array(Id("brokers", nobody=True), Bound("epochs", 1)), "whose term it is, nobody when it is over"),
    errors=(
        Array(Array(SetOf("partitions"), "brokers"), "brokers"),
        "storage errors in the event queue of each process, by the broker that answered",
    ),
    stops=(
        Array(Array(STOP.only("deleted", "failed"), "partitions"), Bound("epochs", 1)),
        "answers to StopReplica(delete) of each controller epoch",
    ),
)


def complete(channel):
    """How many batches are complete."""
    return channel.queue.length - 1 if channel.collecting else channel.queue.length


def collect(channel):
    """Begin a batch, unless one is collected already."""
    if not channel.collecting:
        channel.collecting = 1
        channel.queue.length = min(channel.queue.length + 1, len(channel.queue.slots))


def put_request(network, epoch, p, leader, leader_epoch, isr, to):
    """Add LeaderAndIsr to the batches of a set of brokers; the ISR is not kept."""
    for b in range(len(network.errors)):
        if contains(to, b):
            channel = network.channels[epoch][b]
            collect(channel)
            add_leader_and_isr(channel.queue.slots[channel.queue.length - 1].partitions[p], leader, leader_epoch)


def put_alive(network, epoch, alive, to):
    """Add UpdateMetadata without partitions: the live brokers."""
    for b in range(len(network.errors)):
        if contains(to, b):
            channel = network.channels[epoch][b]
            collect(channel)
            add_update(channel.queue.slots[channel.queue.length - 1], alive)


def put_update(network, epoch, p, leader, leader_epoch, isr, alive, to):
    """Add UpdateMetadata about a partition."""
    put_alive(network, epoch, alive, to)
    for b in range(len(network.errors)):
        if contains(to, b):
            queue = network.channels[epoch][b].queue
            add_leadership(queue.slots[queue.length - 1].partitions[p], leader, leader_epoch, isr)


def put_halt(network, epoch, p, leader_epoch, to):
    """Add StopReplica without delete."""
    put_stop_replica(network, epoch, p, WITHOUT_DELETE, leader_epoch, to)


def put_stop(network, epoch, p, to):
    """Add StopReplica(delete): the topic is queued for deletion, and there is no leader epoch."""
    put_stop_replica(network, epoch, p, DELETE, NO_EPOCH, to)


def put_stop_replica(network, epoch, p, stop, leader_epoch, to):
    """Add StopReplica to the batches of a set of brokers."""
    for b in range(len(network.errors)):
        if contains(to, b):
            channel = network.channels[epoch][b]
            collect(channel)
            add_stop(channel.queue.slots[channel.queue.length - 1].partitions[p], stop, leader_epoch)


def send_batch(network, epoch):
    """The batches that were collected are complete: they are sent when their turn comes.

    Kafka: ControllerBrokerRequestBatch.sendRequestsToBrokers, 0.8 to 2.2;
           AbstractControllerBrokerRequestBatch.sendRequestsToBrokers, 2.3 to 3.9.
    """
    for channel in network.channels[epoch]:
        channel.collecting = 0


def open_channels(network, epoch, members):
    """A channel to each of `members`, whose registration was just read."""
    for b in range(len(network.errors)):
        if contains(members, b):
            network.channels[epoch][b].current = 1


def discard(channel):
    """The sender thread ends: the queue is discarded, but its head may be on its way.

    Kafka: ControllerChannelManager.removeExistingBroker, 0.8 to 3.9.
    """
    if complete(channel) > 0:
        copy(channel.late, channel.queue.slots[0])
        keep_first(channel.late)
        channel.late_current = channel.current
    for batch in channel.queue.slots:
        clear(batch)
    channel.queue.length = 0
    channel.collecting = 0
    channel.current = 0


def close_channels(network, epoch, members):
    """The channels to some brokers are discarded."""
    for b in range(len(network.errors)):
        if contains(members, b):
            discard(network.channels[epoch][b])


def begin_term(network, b, epoch):
    """From now on `b` sends the requests of `epoch`."""
    network.senders[epoch] = b


def end_terms(network, b):
    """A broker is not controller any more: its channels are discarded, and answers reach nobody.

    Kafka: KafkaController.onControllerResignation, 0.8.1 to 3.9 (ControllerChannelManager.shutdown).
    """
    for epoch in range(len(network.senders) - 1):
        if network.senders[epoch] == b:
            network.senders[epoch] = NOBODY
            for channel in network.channels[epoch]:
                discard(channel)
            for stop in network.stops[epoch]:
                stop.deleted = 0
                stop.failed = 0


def drop_requests(network, b):
    """Broker `b` has another registration: requests that are queued for it, or on their way, name the former one."""
    for epoch in range(len(network.senders)):
        network.channels[epoch][b].current = 0
        network.channels[epoch][b].late_current = 0


def empty_queue(network, b):
    """No answer waits in the event queue of `b`."""
    for r in range(len(network.errors)):
        network.errors[b][r] = 0


def fall_silent(network, b):
    """The process of `b` has ended, with what waits in its queues."""
    network.shutdowns = without_member(network.shutdowns, b)
    for p in range(len(network.proposals)):
        network.proposals[p][b] = NO_EPOCH
    end_terms(network, b)
    empty_queue(network, b)
    for epoch in range(len(network.senders)):
        channel = network.channels[epoch][b]
        channel.queue.slots[0].waits = 0
        if channel.late.waits:
            clear(channel.late)
            channel.late_current = 0


def arriving(network, epoch, b, delivery):
    """Which request of a term arrives at `b` next: from its channel, or from a discarded one."""
    channel = network.channels[epoch][b]
    if delivery == LATE:
        return first_kind(channel.late)
    return first_kind(channel.queue.slots[0]) if complete(channel) > 0 else NOTHING


def is_current(network, epoch, b, delivery):
    """Whether the request that arrives names the current registration of `b`."""
    channel = network.channels[epoch][b]
    return channel.late_current == 1 if delivery == LATE else channel.current == 1


def is_led_in(network, epoch, b, delivery, p):
    """Whether the LeaderAndIsr that arrives names a partition."""
    channel = network.channels[epoch][b]
    late = channel.late.partitions[p].leader_and_isr
    return late == 1 if delivery == LATE else channel.queue.slots[0].partitions[p].leader_and_isr == 1


def leader_in(network, epoch, b, delivery, p):
    """The leader that the request names."""
    channel = network.channels[epoch][b]
    return channel.late.partitions[p].leader if delivery == LATE else channel.queue.slots[0].partitions[p].leader


def leader_epoch_in(network, epoch, b, delivery, p):
    """The leader epoch that LeaderAndIsr or UpdateMetadata names."""
    channel = network.channels[epoch][b]
    late = channel.late.partitions[p].leader_epoch
    return late if delivery == LATE else channel.queue.slots[0].partitions[p].leader_epoch


def isr_in(network, epoch, b, delivery, p):
    """The ISR that UpdateMetadata names."""
    channel = network.channels[epoch][b]
    return channel.late.partitions[p].isr if delivery == LATE else channel.queue.slots[0].partitions[p].isr


def update_in(network, epoch, b, delivery, p):
    """What UpdateMetadata says of a partition."""
    channel = network.channels[epoch][b]
    return channel.late.partitions[p].update if delivery == LATE else channel.queue.slots[0].partitions[p].update


def alive_in(network, epoch, b, delivery):
    """The live brokers that UpdateMetadata lists."""
    channel = network.channels[epoch][b]
    return channel.late.alive if delivery == LATE else channel.queue.slots[0].alive


def stop_in(network, epoch, b, delivery, p):
    """What StopReplica says of a partition."""
    channel = network.channels[epoch][b]
    return channel.late.partitions[p].stop if delivery == LATE else channel.queue.slots[0].partitions[p].stop


def stop_epoch_in(network, epoch, b, delivery, p):
    """The leader epoch in StopReplica, -1 for none."""
    channel = network.channels[epoch][b]
    late = channel.late.partitions[p].stop_epoch
    return late if delivery == LATE else channel.queue.slots[0].partitions[p].stop_epoch


def answer(zk, delivery, error):
    """A broker answers a request, with an error code for a partition or the whole request; a lost answer is a fault."""
    if delivery == UNANSWERED:
        zk.faults += 1
    return error


def take_request(network, epoch, b, delivery):
    """The request is handled; without an answer it is sent again."""
    channel = network.channels[epoch][b]
    if delivery == UNANSWERED:
        channel.queue.slots[0].waits = 0
    elif delivery == LATE:
        clear(channel.late)
        channel.late_current = 0
    else:
        remove_first(channel.queue.slots[0])
        if first_kind(channel.queue.slots[0]) == NOTHING:
            take_batch(channel.queue)


def put_error(network, epoch, p, b):
    """KAFKA_STORAGE_ERROR enters the event queue of the process that has sent the request."""
    for sender in range(len(network.errors)):
        if network.senders[epoch] == sender:
            network.errors[sender][b] = with_member(network.errors[sender][b], p)


def error_arrives(network, epoch, p, b):
    """Whether a storage error of `b` waits in the event queue of the controller of a term, whichever term asked."""
    for sender in range(len(network.errors)):
        if network.senders[epoch] == sender and contains(network.errors[sender][b], p):
            return True
    return False


def take_error(network, epoch, p, b):
    """It is handled."""
    for sender in range(len(network.errors)):
        if network.senders[epoch] == sender:
            network.errors[sender][b] = without_member(network.errors[sender][b], p)


def has_arrived(network, epoch, b, delivery):
    """Whether the request waits in the queue of `b`."""
    channel = network.channels[epoch][b]
    return channel.late.waits == 1 if delivery == LATE else channel.queue.slots[0].waits == 1


def arrive(network, epoch, b, delivery):
    """The request enters the queue of `b`, and waits there."""
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
