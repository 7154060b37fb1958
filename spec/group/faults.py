"""Faults, operations and the passing of time. Leader changes are bounded by epochs, the rest by budgets.

The budget of faults counts crashes, failed appends, failed loads, clients that give up while an answer may still come,
and what operators do to the group. It does not count the end of a session, or the restart of a client. The passing of
time has a budget of its own.
"""

from kafkaproof.spec.group.coordinator import NOTHING_PARKED, forget_group
from kafkaproof.spec.group.group_states import EMPTY
from kafkaproof.spec.group.member import JOINING, OUT, WORKING, join_afresh, set_out
from kafkaproof.spec.group.network import DISCONNECTED, JOIN, UNANSWERED, WAIT, WORK, ask, give_error, hang_up
from kafkaproof.spec.group.producer.network import send_again
from kafkaproof.spec.group.records import NO_RECORD, clear_append, clear_prepared, clear_record
from kafkaproof.spec.group.sorts import NOWHERE, Broker, Client, Position
from kafkaproof.spec.group.storage import elect, leader_of, leads
from kafkaproof.spec.group.transactions import is_marker
from kafkaproof.spec.language.domains import NOBODY, Flag
from kafkaproof.spec.language.sets import contains, without_member


def fail_over(s, to: Broker, committed: Position, kept: Position):
    """Another broker becomes leader of the offsets partition, with `kept` records.

    Guards:  it is another broker, or the leader itself, restarted and without memory; of the `kept` records, the first
             `committed` were committed before, among them all that were acknowledged.
    Effects: the log ends after the kept records; for the broker that made it, an append that was not committed is no
             longer in any log.
    """
    storage = s.storage
    if leads(storage, to) and (s.brokers[to].owned or s.brokers[to].loading):
        return False
    if committed < storage.committed or kept < committed or storage.log.length < kept:
        return False

    cut(s, kept)
    storage.committed = committed
    for broker in s.brokers:
        for i in range(broker.appends.length):
            if broker.appends.slots[i].position >= committed:
                broker.appends.slots[i].position = NOWHERE
    elect(storage, to)
    return True


def elect_again(s):
    """The leader of the offsets partition is elected again, as it is whenever its leader epoch rises.

    Guards:  the leader knows that it leads.
    Effects: there is a change of leader to handle; the log stays as it is.
    """
    leader = leader_of(s.storage, s.storage.epoch)
    if not s.brokers[leader].owned and not s.brokers[leader].loading:
        return False

    elect(s.storage, leader)
    return True


def cut(s, kept):
    """Truncate the log."""
    for position in range(len(s.storage.log.slots) - 1):
        if position >= kept:
            clear_record(s.storage.log.slots[position])
    s.storage.log.length = kept
    if s.producer.position >= kept:
        s.producer.position = NOWHERE


def time_passes(s, retention: Flag()):
    """The offsets' check interval passes, or so much time that everything committed so far is too old.

    Guards:  none.
    Effects: with `retention` every record in the log, every committed offset and every Empty group is aged.
    """
    if retention:
        for position in range(s.storage.log.length):
            s.storage.log.slots[position].aged = 1
        for broker in s.brokers:
            broker.group.aged = 1 if broker.group.offset != NOWHERE else 0
            broker.group.idle = 1 if broker.group.state == EMPTY else broker.group.idle
    s.storage.periods += 1
    return True


def crash(s, b: Broker):
    """The process of broker `b` dies, and restarts at once without its memory.

    Guards:  the broker owns the partition, or is loading it.
    Effects: it has no group and owns nothing; clients that waited for it find their connection broken.
    """
    broker = s.brokers[b]
    if not broker.owned and not broker.loading:
        return False

    for member in broker.group.members:
        give_error(s.network, member.waiter, DISCONNECTED)
    for i in range(broker.prepared.length):
        give_error(s.network, broker.prepared.slots[i].waiter, DISCONNECTED)
        clear_prepared(broker.prepared.slots[i])
    for i in range(broker.appends.length):
        if is_marker(broker.appends.slots[i].kind):
            send_again(s.producer)
        give_error(s.network, broker.appends.slots[i].waiter, DISCONNECTED)
        clear_append(broker.appends.slots[i])
    forget_everything(broker)
    broker.epoch = s.storage.epoch
    s.storage.faults += 1
    return True


def forget_everything(broker):
    """A new process knows nothing of the group."""
    broker.prepared.length = 0
    broker.appends.length = 0
    forget_group(broker.group)
    broker.owned = 0
    broker.loading = 0
    broker.read = 0
    broker.tombstone = NO_RECORD


def close_connection(s, m):
    """No answer is due any more to client `m`."""
    hang_up(s.network, m)
    for broker in s.brokers:
        for member in broker.group.members:
            member.waiter = without_member(member.waiter, m)
        for prepared in broker.prepared.slots:
            prepared.waiter = without_member(prepared.waiter, m)
        for i in range(broker.appends.length):
            broker.appends.slots[i].waiter = without_member(broker.appends.slots[i].waiter, m)


def answers_due(s, m):
    """How many answers are due to client `m`."""
    n = 0
    for broker in s.brokers:
        for member in broker.group.members:
            if member.parked != NOTHING_PARKED and contains(member.waiter, m):
                n += 1
        for prepared in broker.prepared.slots:
            if contains(prepared.waiter, m):
                n += 1
        for append in broker.appends.slots:
            if contains(append.waiter, m):
                n += 1
    return n


def waits_in_vain(s, m):
    """Client `m` waits for an answer that nobody will send: one of its own late requests replaced the parked one."""
    return s.network.requests[m].kind == WAIT and s.network.answers[m].verdict == UNANSWERED and answers_due(s, m) == 0


def give_up(s, m: Client):
    """Client `m` stops waiting: a request or an answer is lost, or late.

    Guards:  the client is not OUT.
    Effects: its request may still arrive, the answer is dropped, and the client asks again: if it waited for its
             assignment, it joins again. This counts as a fault, unless no answer was ever going to come: then its
             timeout simply expires.
    """
    client = s.clients[m]
    if client.phase == OUT:
        return False

    if not waits_in_vain(s, m):
        s.storage.faults += 1
    close_connection(s, m)
    if client.phase == WORKING:
        ask(s.network, m, WORK, client.id, 1, client.generation, 0)
    elif client.id == NOBODY:
        join_afresh(s, m)
    else:
        set_out(client, JOINING, client.id)
        ask(s.network, m, JOIN, client.id, 1, 0, 0)
    return True


def crash_client(s, m: Client):
    """The process of client `m` dies.

    Guards:  the client is not OUT.
    Effects: it knows nothing, and acts on no partition.
    """
    if s.clients[m].phase == OUT:
        return False

    close_connection(s, m)
    set_out(s.clients[m], OUT, NOBODY)
    s.storage.faults += 1
    return True
