"""Lemmas of groups (current): what a client asks in each phase, and that its member id is its own.

In short: a member id is drawn for one client, and nobody else ever has it; and a client that waits stands in one place,
with the request that belongs to its phase.
"""

from kafkaproof.spec.group.coordinator import GONE
from kafkaproof.spec.group.lemmas.group import COORDINATORS, loads_into_nothing, loads_no_other, nobody_is_pending
from kafkaproof.spec.group.member import WORKING, in_callback
from kafkaproof.spec.group.network import JOIN, LEAVE, NOTHING, UNANSWERED, WAIT
from kafkaproof.spec.group.properties.invariants import (
    answer_says_what_was_asked,
    answered_while_waiting,
    joining_asks_to_join,
    late_is_named,
    out_is_nothing,
    syncing_asks_to_sync,
    waiter_waits,
    working_asks_to_work,
)
from kafkaproof.spec.group.properties.safety import answered_once, leader_is_member, owner_was_elected, parked_in_place
from kafkaproof.spec.group.records import OFFSET_RECORD
from kafkaproof.spec.group.sorts import Broker, Client, KnownId
from kafkaproof.spec.group.storage import in_log
from kafkaproof.spec.language.sets import contains


def nothing_late_without_fault(s, m: Client):
    """As long as nothing has gone wrong no request is late, but to leave."""
    kind = s.network.late[m].kind
    return s.storage.faults > 0 or kind == NOTHING or kind == LEAVE


def has(s, m, id):
    """Whether a client, or a message from it or to it, has a member id."""
    if s.clients[m].id == id or s.network.answers[m].id == id:
        return True
    return s.network.requests[m].id == id or s.network.late[m].id == id


def id_is_its_own(s, m: Client, n: Client, id: KnownId):
    """No two clients have the same member id."""
    return m == n or not has(s, m, id) or not has(s, n, id)


def is_unheard_of(s, id):
    """Whether no coordinator, no callback and no record has a member id."""
    for broker in s.brokers:
        if broker.group.members[id].status != GONE:
            return False
        for append in broker.appends.slots:
            if in_callback(append, id):
                return False
    return not in_log(s.storage, id)


def drawn_is_fresh(s, m: Client, id: KnownId):
    """An id that a client's join would be given is nobody's before."""
    request = s.network.requests[m]
    if request.id != id or request.known or request.kind != JOIN:
        return True
    return is_unheard_of(s, id) and s.network.late[m].id != id


def late_drawn_is_fresh(s, m: Client, id: KnownId):
    """So is that of a join that is late."""
    late = s.network.late[m]
    if late.id != id or late.kind != JOIN or late.known:
        return True
    return is_unheard_of(s, id) and s.network.requests[m].id != id and s.clients[m].id != id


def committer_waits(s, b: Broker, m: Client):
    """The client behind a commit waits for its answer, and works."""
    for append in s.brokers[b].appends.slots:
        if contains(append.waiter, m):
            if append.kind != OFFSET_RECORD or s.clients[m].phase != WORKING:
                return False
            if s.network.requests[m].kind != WAIT or s.network.answers[m].verdict != UNANSWERED:
                return False
    return True


MEMBERS = (
    out_is_nothing,
    joining_asks_to_join,
    syncing_asks_to_sync,
    working_asks_to_work,
    answered_while_waiting,
    answer_says_what_was_asked,
    late_is_named,
    nothing_late_without_fault,
    id_is_its_own,
    drawn_is_fresh,
    late_drawn_is_fresh,
    waiter_waits,
    committer_waits,
    leader_is_member,
    parked_in_place,
    answered_once,
    owner_was_elected,
)
CURRENT = (*COORDINATORS, *MEMBERS, loads_into_nothing)
FORMER = (*COORDINATORS, *MEMBERS, loads_no_other, nobody_is_pending)
