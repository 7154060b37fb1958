"""Lemmas of control requests: what a controller has in hand between two steps, and what is on its way.

In short: only controllers that were elected send, each in its own epoch, and while their term lasts; a batch is collected
only in the middle of an event; and whoever knows a leader epoch (in a cache, on its way or at a broker) knows the leader
that was written with it.
"""

from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NON_EXISTENT_PARTITION,
    NON_EXISTENT_REPLICA,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union
from kafkaproof.spec.partition.context import (
    CHANGING,
    CONTROLLED_SHUTDOWN,
    ELECTING,
    EMPTY,
    IDLE,
    NO_EPOCH,
    OFFLINE,
    REMOVING,
    Broker,
    Partition,
    is_known,
)
from kafkaproof.spec.partition.deletion.state import DELETING_STATES, RESUMING, STOPPING
from kafkaproof.spec.partition.lemmas.partition import term_was_elected, terms_differ
from kafkaproof.spec.partition.properties.controllers import same_sequence
from kafkaproof.spec.partition.properties.invariants import (
    dead_knows_nothing,
    failover_in_order,
    is_forgotten,
    moved_were_live,
    no_broker_moves,
    owner_rules,
    result_is_to_be_written,
    taken_has_leader,
    watch_tells,
)
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.requests.batch import NOTHING, first_kind
from kafkaproof.spec.requests.lemmas.channels import CHANNELS


def assignment_is_whole(s, p: Partition):
    """An assignment names as many brokers as there are replicas, each once, until the topic is deleted."""
    assignment = s.zk.assignments[p]
    if contains(s.zk.deleted, p):
        return assignment.length == 0
    for i in range(len(assignment.slots) - 1):
        for j in range(i):
            if assignment.slots[i] == assignment.slots[j]:
                return False
    return assignment.length == len(assignment.slots) - 1


def state_goes_with_topic(s, p: Partition):
    """A partition has a state until its topic is deleted; then it has no leader and no ISR."""
    state = s.zk.partitions[p]
    if not contains(s.zk.deleted, p):
        return state.leader_epoch != NO_EPOCH
    return state.leader_epoch == NO_EPOCH and state.leader == NOBODY and is_empty(state.isr)


def topics_are_single(s, p: Partition):
    """Each partition is a topic of its own."""
    return s.zk.topics[p] == p


def without_term_is_nothing(s, b: Broker, p: Partition):
    """Without a term a controller has no context, and nothing to do."""
    controller = s.brokers[b].controller
    if controller.epoch > 0:
        return True
    empty = is_empty(controller.live) and is_empty(controller.leaving) and is_empty(controller.deleting)
    empty = empty and is_empty(controller.ineligible)
    return controller.doing == IDLE and empty and is_forgotten(controller.partitions[p])


def event_in_order(s, b: Broker):
    """Between two steps there is an election, a removal, or the next part of an event to be done, or nothing."""
    controller = s.brokers[b].controller
    doing = controller.doing
    if (doing == ELECTING or doing == DELETING_STATES) == is_empty(controller.todo):
        return False
    if not is_empty(controller.removing) and is_empty(controller.replicas):
        return False
    if doing == ELECTING:
        return not controller.starting
    if doing == REMOVING:
        return not is_empty(controller.removing)
    rests = is_empty(controller.replicas) and not controller.starting and not controller.failing_over
    if doing == CHANGING:
        return rests and not no_broker_moves(controller) and controller.strategy == OFFLINE
    return rests and no_broker_moves(controller) and controller.strategy == OFFLINE


def elects_without_requests(s, b: Broker):
    """Elections are those of brokers that fail or shut down: no operator asks for one."""
    controller = s.brokers[b].controller
    shuts_down = controller.strategy == CONTROLLED_SHUTDOWN and no_broker_moves(controller)
    return controller.target.length == 0 and (controller.strategy == OFFLINE or shuts_down)


def deletion_in_order(s, b: Broker):
    """The deletion of a topic is in hand while its replicas go offline, are to be stopped, or its znodes deleted."""
    controller = s.brokers[b].controller
    doing = controller.doing
    if doing == STOPPING or doing == DELETING_STATES:
        return not is_empty(controller.dropping)
    if doing == RESUMING:
        return not is_empty(controller.resuming) and is_empty(controller.dropping)
    if doing == IDLE:
        return is_empty(controller.dropping) and is_empty(controller.resuming)
    return doing == CHANGING or doing == ELECTING or doing == REMOVING


def dropped_is_queued(s, b: Broker):
    """A topic whose deletion is in hand, or to be resumed, is queued for deletion, and no other event is in progress."""
    controller = s.brokers[b].controller
    if not is_empty(difference(union(controller.dropping, controller.resuming), controller.deleting)):
        return False
    if is_empty(controller.dropping):
        return True
    apart = is_empty(intersection(controller.dropping, controller.resuming))
    return apart and controller.doing != ELECTING and no_broker_moves(controller) and not controller.failing_over


def ended_when_dropped(s, b: Broker, p: Partition):
    """A partition is in no state while its deletion is in hand, unless its topic is ineligible; then nothing is stopped."""
    controller = s.brokers[b].controller
    if not contains(controller.dropping, p):
        return True
    if contains(controller.ineligible, p):
        return controller.doing != STOPPING
    return controller.partitions[p].state == NON_EXISTENT_PARTITION


def stopped_has_ended(s, b: Broker, p: Partition, r: Broker):
    """Replicas are deleted of partitions that are in no state."""
    partition = s.brokers[b].controller.partitions[p]
    state = partition.replicas[r]
    deletes = state == REPLICA_DELETION_STARTED or state == REPLICA_DELETION_SUCCESSFUL
    return not deletes or partition.state == NON_EXISTENT_PARTITION and not s.brokers[b].controller.starting


def no_request_is_made(s):
    """No operator asks for preferred leaders or for a reassignment."""
    return not s.zk.preferred


def queued_was_asked(s, b: Broker):
    """What is queued for deletion was asked for, or is deleted."""
    return is_empty(difference(s.brokers[b].controller.deleting, union(s.zk.deleting, s.zk.deleted)))


def elected_is_led(s, b: Broker, p: Partition):
    """An election is held for what is not queued for deletion, and exists, or is New."""
    controller = s.brokers[b].controller
    if controller.doing != ELECTING or not contains(controller.todo, p):
        return True
    return not contains(controller.deleting, p) and controller.partitions[p].state != NON_EXISTENT_PARTITION


def removed_is_known(s, b: Broker, p: Partition):
    """Replicas leave the ISRs of partitions whose leadership is known."""
    controller = s.brokers[b].controller
    return not contains(controller.removing, p) or is_known(controller.partitions[p])


def partition_in_order(s, b: Broker, p: Partition):
    """Partitions are in no state until their machine starts, and when their deletion starts; a topic that is gone is New
    or in no state.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.epoch == 0 or controller.starting:
        return partition.state == NON_EXISTENT_PARTITION
    if not is_known(partition):
        return partition.state == NON_EXISTENT_PARTITION or partition.state == NEW_PARTITION
    if partition.state == NON_EXISTENT_PARTITION:
        return contains(controller.deleting, p)
    return partition.state != NEW_PARTITION


def nothing_is_stuck(s, b: Broker):
    """Nothing is collected for states that are created: there are none."""
    return s.brokers[b].controller.partition_batch == EMPTY


def context_is_read(s, b: Broker, p: Partition):
    """A controller knows the assignment of a partition and who leads it, unless its topic is deleted."""
    controller = s.brokers[b].controller
    known = controller.partitions[p]
    if controller.epoch == 0:
        return is_forgotten(known)
    if known.assignment.length == 0:
        nobody = known.leader == NOBODY and is_empty(known.isr) and not is_known(known)
        return nobody and contains(s.zk.deleted, p)
    return is_known(known) and (contains(s.zk.deleted, p) or same_sequence(s.zk.assignments[p], known.assignment))


def only_the_elected_send(s, b: Broker, epoch: Epoch):
    """Requests are of controller epochs that were written."""
    channel = s.network.channels[epoch][b]
    if 1 <= epoch <= s.zk.epoch:
        return True
    nothing = channel.queue.length == 0 and first_kind(channel.late) == NOTHING
    return nothing and not channel.current and not channel.late_current and s.network.senders[epoch] == NOBODY


def sender_rules(s, b: Broker, epoch: Epoch):
    """Who sends the requests of a term is its controller, and a term that is over has no channels."""
    sends = s.network.senders[epoch] == b
    if s.brokers[b].controller.epoch == epoch and epoch > 0:
        return sends
    return not sends


def over_is_over(s, b: Broker, p: Partition, epoch: Epoch):
    """The channels of a term that is over are discarded, and nobody waits for answers."""
    if s.network.senders[epoch] != NOBODY:
        return True
    channel = s.network.channels[epoch][b]
    stops = s.network.stops[epoch][p]
    return channel.queue.length == 0 and not channel.current and is_empty(stops.deleted) and is_empty(stops.failed)


def collected_in_an_event(s, b: Broker, r: Broker):
    """A batch is collected only while the state machines are at work."""
    controller = s.brokers[b].controller
    channel = s.network.channels[controller.epoch][r]
    if not channel.collecting:
        return True
    works = controller.doing == ELECTING or controller.doing == REMOVING
    return controller.epoch > 0 and works and channel.queue.length > 0


def collected_by_a_term(s, b: Broker, epoch: Epoch):
    """What is collected is of a term that lasts."""
    channel = s.network.channels[epoch][b]
    return not channel.collecting or s.network.senders[epoch] != NOBODY and channel.queue.length > 0


def nothing_waits(s, b: Broker, epoch: Epoch):
    """Control requests have a queue of their own: none waits for a client."""
    channel = s.network.channels[epoch][b]
    for batch in channel.queue.slots:
        if batch.waits:
            return False
    return not channel.late.waits


def without_context_is_nothing(s, b: Broker, p: Partition, r: Broker):
    """Without a term replicas are in no state."""
    controller = s.brokers[b].controller
    return controller.epoch > 0 or controller.partitions[p].replicas[r] == NON_EXISTENT_REPLICA


ORDER = (
    term_was_elected,
    terms_differ,
    owner_rules,
    dead_knows_nothing,
    taken_has_leader,
    result_is_to_be_written,
    failover_in_order,
    moved_were_live,
    watch_tells,
    assignment_is_whole,
    state_goes_with_topic,
    topics_are_single,
    without_term_is_nothing,
    without_context_is_nothing,
    event_in_order,
    elects_without_requests,
    deletion_in_order,
    dropped_is_queued,
    ended_when_dropped,
    stopped_has_ended,
    no_request_is_made,
    queued_was_asked,
    elected_is_led,
    removed_is_known,
    partition_in_order,
    nothing_is_stuck,
    context_is_read,
    only_the_elected_send,
    sender_rules,
    over_is_over,
    collected_in_an_event,
    collected_by_a_term,
    nothing_waits,
)
CURRENT = ORDER + CHANNELS
