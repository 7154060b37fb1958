"""Lemmas of groups (current): what a client asks in each phase, and that its member id is its own.

In short: a member id is drawn for one client, and nobody else ever has it; and a client that waits stands in one place,
with the request that belongs to its phase.
"""

from kafkaproof.spec.group.coordinator import GONE, JOIN_PARKED, SYNC_PARKED
from kafkaproof.spec.group.lemmas.group import COORDINATORS, loads_into_nothing, loads_no_other, nobody_is_pending
from kafkaproof.spec.group.member import JOINING, OUT, SYNCING, WORKING, in_callback
from kafkaproof.spec.group.network import (
    COMMIT,
    JOIN,
    LEAVE,
    MEMBER_ID_REQUIRED,
    NONE,
    NOTHING,
    SYNC,
    UNANSWERED,
    WAIT,
    WORK,
)
from kafkaproof.spec.group.properties.safety import answered_once, leader_is_member, owner_was_elected, parked_in_place
from kafkaproof.spec.group.records import OFFSET_RECORD
from kafkaproof.spec.group.sorts import Broker, Client, KnownId
from kafkaproof.spec.group.storage import in_log
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains


def out_is_nothing(s, m: Client):
    """A client that is out knows nothing, and asks nothing."""
    client = s.clients[m]
    if client.phase != OUT:
        return True
    nothing = client.id == NOBODY and client.generation == 0 and not client.leading and not client.owns
    return nothing and s.network.requests[m].kind == NOTHING and s.network.requests[m].id == NOBODY


def joining_asks_to_join(s, m: Client):
    """A client that joins has no generation, acts on nothing, and asks to join with the id that it knows, if any."""
    client = s.clients[m]
    request = s.network.requests[m]
    if client.phase != JOINING:
        return True
    if client.generation > 0 or client.leading or client.owns or request.generation > 0:
        return False
    if request.id == NOBODY or request.kind != JOIN and request.kind != WAIT:
        return False
    return client.id == (request.id if request.known else NOBODY)


def syncing_asks_to_sync(s, m: Client):
    """A client that synchronizes asks for it in its generation, and acts on nothing yet."""
    client = s.clients[m]
    request = s.network.requests[m]
    if client.phase != SYNCING:
        return True
    asks = request.kind == SYNC or request.kind == WAIT
    named = request.id == client.id and client.id != NOBODY and request.known == 1
    return asks and named and request.generation == client.generation and client.generation > 0 and not client.owns


def working_asks_to_work(s, m: Client):
    """A client that works heartbeats and commits in its generation, and leads no more."""
    client = s.clients[m]
    request = s.network.requests[m]
    if client.phase != WORKING:
        return True
    asks = request.kind == WORK or request.kind == WAIT
    named = request.id == client.id and client.id != NOBODY and request.known == 1
    return asks and named and request.generation == client.generation and client.generation > 0 and not client.leading


def answered_while_waiting(s, m: Client):
    """Only who waits is answered; an answer without an error is one to a join or a sync."""
    answer = s.network.answers[m]
    phase = s.clients[m].phase
    if s.network.requests[m].kind != WAIT and answer.verdict != UNANSWERED:
        return False
    return answer.verdict != NONE or phase == JOINING or phase == SYNCING


def answer_says_what_was_asked(s, m: Client):
    """An answer has an id where a join is answered, that of the request, and a generation where it has succeeded."""
    answer = s.network.answers[m]
    joins = s.clients[m].phase == JOINING and answer.verdict == NONE
    if joins:
        return answer.id == s.network.requests[m].id and answer.generation > 0 and not answer.owns
    if answer.verdict == MEMBER_ID_REQUIRED:
        asked = s.network.requests[m].known == 0 and s.clients[m].phase == JOINING
        return asked and answer.id == s.network.requests[m].id and answer.generation == 0 and not answer.leading
    nothing = answer.id == NOBODY and answer.generation == 0 and not answer.leading
    return nothing and (not answer.owns or answer.verdict == NONE)


def late_is_named(s, m: Client):
    """A request that nobody waits for is a join, or has an id; a sync and a commit have a generation too."""
    late = s.network.late[m]
    if late.kind == NOTHING:
        return late.id == NOBODY
    if late.kind == JOIN:
        return late.id != NOBODY
    named = late.id != NOBODY and late.known == 1
    if late.kind == SYNC or late.kind == COMMIT:
        return named and late.generation > 0
    return late.kind == LEAVE and named


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


def waiter_waits(s, b: Broker, id: KnownId, m: Client):
    """The client behind a parked request waits for its answer, under this id and in the phase of the request."""
    member = s.brokers[b].group.members[id]
    if not contains(member.waiter, m):
        return True
    request = s.network.requests[m]
    waits = request.kind == WAIT and request.id == id
    if s.network.answers[m].verdict != UNANSWERED:
        return False
    joins = member.parked == JOIN_PARKED and s.clients[m].phase == JOINING
    return waits and (joins or member.parked == SYNC_PARKED and s.clients[m].phase == SYNCING)


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
MIDDLE = (*COORDINATORS, *MEMBERS, loads_no_other, nobody_is_pending)
