"""Invariants of coordinators, members and the log: parts of properties, on which proofs rest."""

from kafkaproof.spec.group.coordinator import GONE, JOIN_PARKED, MEMBER, NOTHING_PARKED, SYNC_PARKED, has_timers
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.member import JOINING, OUT, SYNCING, WORKING
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
from kafkaproof.spec.group.records import GROUP_RECORD, GROUP_TOMBSTONE, NO_RECORD, OFFSET_TOMBSTONE, TOMBSTONES
from kafkaproof.spec.group.sorts import NOWHERE, Broker, Client, KnownId
from kafkaproof.spec.language.domains import NOBODY, Bound, Number
from kafkaproof.spec.language.sets import contains, is_empty

Place = Number(0, Bound("log", -1))


def change_is_past(s, b: Broker):
    """The changes of the leader that a broker has handled have happened."""
    return 1 <= s.brokers[b].epoch <= s.storage.epoch


def is_reading(broker):
    """Whether a broker loads its group: one that has it in the cache keeps that."""
    return broker.loading == 1 and broker.group.state == ABSENT


def cached_is_owned(s, b: Broker):
    """A group that is in the cache, and not Dead, is that of a broker that owns the partition."""
    return not has_timers(s.brokers[b].group) or s.brokers[b].owned == 1


def no_group_is_nothing(s, b: Broker):
    """Of a group that is Dead, or not in the cache and not being loaded, nothing is known."""
    group = s.brokers[b].group
    if has_timers(group) or is_reading(s.brokers[b]):
        return True
    if group.leader != NOBODY or group.protocol != NOBODY or group.topic != NOBODY or group.owner != NOBODY:
        return False
    return group.generation == 0 and group.offset == NOWHERE


def reads_while_it_loads(s, b: Broker):
    """Who does not load has read nothing."""
    return is_reading(s.brokers[b]) or s.brokers[b].read == 0


def no_group_has_no_members(s, b: Broker, id: KnownId):
    """Nor has it members."""
    broker = s.brokers[b]
    return has_timers(broker.group) or is_reading(broker) or broker.group.members[id].status == GONE


def generation_is_chosen(s, b: Broker):
    """A generation with members has a number, a leader, a protocol and a topic; one without has none of these."""
    group = s.brokers[b].group
    if group.state == COMPLETING_REBALANCE or group.state == STABLE:
        return group.leader != NOBODY and group.protocol != NOBODY and group.topic != NOBODY and group.generation > 0
    if group.state == PREPARING_REBALANCE:
        return group.owner == NOBODY
    if is_reading(s.brokers[b]) and group.leader != NOBODY:
        return True
    return group.leader == NOBODY and group.protocol == NOBODY and group.topic == NOBODY and group.owner == NOBODY


def parked_is_member(s, b: Broker, id: KnownId):
    """Who waits is a member, and nobody waits where nothing is parked."""
    member = s.brokers[b].group.members[id]
    return member.status == MEMBER if member.parked != NOTHING_PARKED else is_empty(member.waiter)


def is_whole(record):
    """Whether a record of a group has the leader among its members, and what was chosen, or nothing."""
    if record.kind != GROUP_RECORD:
        return is_empty(record.members)
    if record.leader == NOBODY:
        nothing = record.protocol == NOBODY and record.topic == NOBODY and record.owner == NOBODY
        return nothing and is_empty(record.members) and record.generation > 0
    chosen = record.protocol != NOBODY and record.topic != NOBODY and record.generation > 0
    return chosen and contains(record.members, record.leader)


def record_is_whole(s, p: Place):
    """A record of a group in the log is whole; others have no members."""
    return is_whole(s.storage.log.slots[p])


def tombstone_is_due(s, b: Broker):
    """What is due is a tombstone, or nothing."""
    kind = s.brokers[b].tombstone
    return kind == NO_RECORD or kind == GROUP_TOMBSTONE or kind == OFFSET_TOMBSTONE or kind == TOMBSTONES


def committed_is_written(s):
    """What is committed is in the log."""
    return s.storage.committed <= s.storage.log.length


def append_is_written(s, b: Broker):
    """So is an append whose callback has not run, if it may be acknowledged."""
    for append in s.brokers[b].appends.slots:
        if append.position >= s.storage.log.length and append.kind != NO_RECORD:
            return False
    return True


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
