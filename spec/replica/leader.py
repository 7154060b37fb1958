"""A leader, true or presumed: it serves fetches, appends, moves the high watermark and proposes ISRs.

It knows a follower by the follower's fetches alone. Refusing a fetch changes nothing.
"""

from kafkaproof.spec.language.domains import Choice
from kafkaproof.spec.language.sets import contains, difference, is_empty, with_member, without_member
from kafkaproof.spec.replica.broker import LEADER, Broker, advance, enough_in_sync, epoch_start
from kafkaproof.spec.replica.clients.network import commit, take_record
from kafkaproof.spec.replica.network import (
    DIVERGING,
    DONE,
    FETCH,
    SENT,
    answer_end,
    answer_records,
    check,
    last_epoch_of,
    offset_of,
    proposal_state,
    propose,
    request_arrives,
    withdraw,
)
from kafkaproof.spec.replica.storage import NO_EPOCH, end_of_epoch, known_epoch
from kafkaproof.spec.replica.zookeeper import OK

Acks = Choice("ONE", "ALL")
ONE, ALL = Acks


def diverges(log, offset, last):
    """Whether a log that ends at `offset` with a record of epoch `last` has diverged from the leader's (2.8+)."""
    return last != NO_EPOCH and (known_epoch(log, last) < last or end_of_epoch(log, last) < offset)


def epoch_for(log, last):
    """The epoch to answer with when an offset is refused: the last one that the logs may share."""
    return known_epoch(log, last)


def end_for(log, last):
    """The end offset to answer with when an offset is refused: that of the epoch."""
    return end_of_epoch(log, last)


def reached(offset, log):
    """The offset up to which a follower that fetches at `offset` has the log."""
    return offset


def serve_fetch(s, b: Broker, follower: Broker):
    """A broker receives a fetch, from its followers or from others.

    Guards:  a fetch is in flight to it.
    Request: OK; NOT_LEADER; FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH if the epochs differ.
    Effects: on OK, if the logs agree up to the offset, the follower's end is known, the high watermark rises if it can,
             and the answer has a record and the high watermark before that; otherwise it says where the logs diverge.
    Kafka:   KafkaApis.handleFetchRequest, 0.8 to 3.9; ReplicaManager.fetchMessages, 0.9 to 3.9;
             Partition.readRecords, 2.1 to 3.9; updateFollowerFetchState, 2.4 to 3.9.
    """
    broker = s.brokers[b]
    if not request_arrives(s.network, b, follower, FETCH):
        return False

    offset = offset_of(s.network, follower)
    last = last_epoch_of(s.network, follower)
    hw = broker.hw
    answer = check(s.network, follower, broker)
    if answer == OK and diverges(broker.log, offset, last):
        answer_end(s.network, follower, DIVERGING, epoch_for(broker.log, last), end_for(broker.log, last))
    elif answer == OK:
        broker.ends[follower] = reached(offset, broker.log)
        broker.heard = with_member(broker.heard, follower)
        advance(broker, b)
        commit(s.clients, s.zk, b, broker)
        answer_records(s.network, follower, broker.log, hw)
    return True


def produce(s, b: Broker, acks: Acks):
    """A producer sends its next record to a broker that believes it leads.

    Guards:  the broker believes it leads.
    Request: OK; NOT_ENOUGH_REPLICAS with acks=all and an ISR below min.insync.replicas.
    Effects: on OK the log has one more record, in the leader's epoch; a leader alone in the ISR commits it.
    Kafka:   ReplicaManager.appendMessages, 0.9 to 0.10.1; appendRecords, 0.10.2 to 3.9;
             Partition.appendMessagesToLeader, 0.8 to 0.10.1; appendRecordsToLeader, 0.10.2 to 3.9.
    """
    broker = s.brokers[b]
    if broker.state != LEADER:
        return False

    answer = take_record(s.clients, broker, acks, enough_in_sync(broker))
    if answer == OK:
        advance(broker, b)
        commit(s.clients, s.zk, b, broker)
    return True


def has_fetched(broker, follower):
    """Whether a follower has fetched in the leader's epoch: it joins the ISR in answer to a fetch, never by an older end
    alone (Partition.updateFollowerFetchState).
    """
    return contains(broker.heard, follower)


def may_join(broker, follower):
    """Whether a follower has all that may be committed: up to the high watermark, and of former epochs (KAFKA-7128)."""
    end = broker.ends[follower]
    return end >= broker.hw and end >= epoch_start(broker)


def may_change_isr(broker):
    """Whether the broker leads and has nothing proposed."""
    return broker.state == LEADER and is_empty(broker.pending)


def expand_isr(s, b: Broker, follower: Broker):
    """A leader proposes to add to the ISR a follower that has caught up.

    Guards:  nothing is proposed; the follower has fetched in this leader epoch, and its known end has reached the high
             watermark and the start of the epoch.
    Effects: the high watermark waits for both the proposed ISR and the old one.
    Kafka:   Partition.maybeExpandIsr, 2.7 to 3.9.
    """
    broker = s.brokers[b]
    if not may_change_isr(broker) or contains(broker.isr, follower):
        return False
    if not has_fetched(broker, follower) or not may_join(broker, follower):
        return False

    broker.pending = with_member(broker.isr, follower)
    propose(s.network, b, broker.leader_epoch, with_member(broker.isr, follower))
    return True


def shrink_isr(s, b: Broker, follower: Broker):
    """A leader proposes to remove from the ISR a follower that is out of sync.

    Guards:  nothing is proposed; the follower's known end differs from the leader's. Time is not modelled.
    Effects: the high watermark still waits for the follower.
    Kafka:   Partition.maybeShrinkIsr, 2.7 to 3.9.
    """
    broker = s.brokers[b]
    if not may_change_isr(broker) or follower == b or not contains(broker.isr, follower):
        return False
    if broker.ends[follower] == broker.log.length:
        return False

    broker.pending = without_member(broker.isr, follower)
    propose(s.network, b, broker.leader_epoch, without_member(broker.isr, follower))
    return True


def learn_isr(s, b: Broker):
    """A leader learns that its proposal was written.

    Guards:  the answer is in flight.
    Effects: the proposal becomes its ISR; the high watermark rises if it can.
    Kafka:   Partition.sendAlterIsrRequest, handleAlterIsrResponse, 2.7 to 3.0; submitAlterIsr, handleAlterIsrUpdate,
             3.1; submitAlterPartition, handleAlterPartitionUpdate, 3.2 to 3.9.
    """
    broker = s.brokers[b]
    if broker.state != LEADER or proposal_state(s.network, b) != DONE:
        return False

    broker.isr = broker.pending
    broker.pending = 0
    withdraw(s.network, b)
    advance(broker, b)
    commit(s.clients, s.zk, b, broker)
    return True


def learn_refusal(s, b: Broker):
    """The controller believes that the proposed new member is dead, and refuses; the leader learns of it.

    This is one step: if the leader learned of it later, it would only wait longer.

    Guards:  a proposal that adds a member is in flight.
    Effects: the old ISR stays; the high watermark rises if it can.
    Kafka:   Partition.handleAlterPartitionError (INELIGIBLE_REPLICA), 3.3 to 3.9 (KIP-841).
    """
    broker = s.brokers[b]
    if broker.state != LEADER or proposal_state(s.network, b) != SENT:
        return False
    if is_empty(difference(broker.pending, broker.isr)):
        return False

    broker.pending = 0
    withdraw(s.network, b)
    advance(broker, b)
    commit(s.clients, s.zk, b, broker)
    return True
