"""Lemmas of groups whose records are appended after the lock is released (unlocked), beside those of *locked*.

In short: what is prepared is as whole as what is in the log, and its callback is of a client that waits, or of the
group in the cache.
"""

from kafkaproof.spec.group.coordinator import has_timers
from kafkaproof.spec.group.lemmas.member import FORMER, drawn_is_fresh, late_drawn_is_fresh
from kafkaproof.spec.group.member import WORKING
from kafkaproof.spec.group.network import UNANSWERED, WAIT
from kafkaproof.spec.group.properties.invariants import is_whole
from kafkaproof.spec.group.records import GROUP_RECORD, NO_RECORD, OFFSET_RECORD
from kafkaproof.spec.group.sorts import Broker, Client
from kafkaproof.spec.language.sets import contains, is_empty


def prepared_is_known(s, b: Broker):
    """What is prepared is of a group or an offset, and has no history."""
    broker = s.brokers[b]
    for i in range(len(broker.prepared.slots)):
        record = broker.prepared.slots[i].record
        kind = record.kind
        if record.ghosts.answered or record.ghosts.deleted:
            return False
        if i < broker.prepared.length and kind != GROUP_RECORD and kind != OFFSET_RECORD:
            return False
        if i >= broker.prepared.length and kind != NO_RECORD:
            return False
    return True


def prepared_is_whole(s, b: Broker):
    """A record of a group that is prepared is as whole as one in the log."""
    for prepared in s.brokers[b].prepared.slots:
        if not is_whole(prepared.record):
            return False
    return True


def prepared_is_of_group(s, b: Broker):
    """The callback of what is prepared is of a commit, or of the group in the cache."""
    broker = s.brokers[b]
    for prepared in broker.prepared.slots:
        if prepared.record.kind == GROUP_RECORD:
            if prepared.orphan or not is_empty(prepared.waiter):
                return False
            if not has_timers(broker.group) and not prepared.silent:
                return False
        elif prepared.record.kind == OFFSET_RECORD:
            if prepared.silent or not has_timers(broker.group) and not prepared.orphan:
                return False
    return True


def preparer_waits(s, b: Broker, m: Client):
    """The client behind a commit that is prepared waits for its answer, and works."""
    for prepared in s.brokers[b].prepared.slots:
        if contains(prepared.waiter, m):
            if prepared.record.kind != OFFSET_RECORD or s.clients[m].phase != WORKING:
                return False
            if s.network.requests[m].kind != WAIT or s.network.answers[m].verdict != UNANSWERED:
                return False
    return True


UNLOCKED = tuple(f for f in FORMER if f not in (drawn_is_fresh, late_drawn_is_fresh)) + (
    prepared_is_known,
    prepared_is_whole,
    prepared_is_of_group,
    preparer_waits,
)
