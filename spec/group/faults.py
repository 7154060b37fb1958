"""What may go wrong, or is wanted, from outside. Changes of the leader are bounded by epochs, all else is counted.

A failed append counts as a fault, and so does what an operator does to the group. The end of a session does
not, nor that a client starts again.
"""

from spec.group.coordinator import NOWHERE, Broker, Client, forget_group
from spec.group.member import JOINING, OUT, WORKING, join_afresh, set_out
from spec.group.network import DISCONNECTED, JOIN, WORK, ask, give_error, hang_up
from spec.group.storage import Position, leads
from spec.language.domains import NOBODY
from spec.language.sets import without_member


def fail_over(s, to: Broker, committed: Position, kept: Position):
    """Another broker becomes leader of the offsets partition, with `kept` records.

    Guards:  it is another, or the leader has lost its memory and comes back; of the `kept` records `committed` were
             committed before, and so all that were acknowledged.
    Effects: the log ends there; an append that was not committed is in no log any more for who made it.
    """
    storage = s.storage
    if leads(storage, to) and (s.brokers[to].owned or s.brokers[to].loading):
        return False
    if committed < storage.committed or kept < committed or storage.log.length < kept:
        return False

    cut(storage, kept)
    storage.committed = kept
    for broker in s.brokers:
        for i in range(broker.appends.length):
            if broker.appends.slots[i].position >= committed:
                broker.appends.slots[i].position = NOWHERE
    storage.leaders[storage.epoch] = to
    storage.epoch += 1
    return True


def cut(storage, kept):
    """Truncate the log."""
    for position in range(len(storage.log.slots) - 1):
        if position >= kept:
            record = storage.log.slots[position]
            record.kind = 0
            record.generation = 0
            record.leader = 0
            record.protocol = 0
            record.owner = 0
            record.members = 0
            record.ghosts.answered = 0
            for m in range(len(record.instances)):
                record.instances[m] = 0
    storage.log.length = kept


def crash(s, b: Broker):
    """The process of broker `b` dies, and is back at once, with no memory.

    Guards:  it owns the partition, or is loading.
    Effects: it has no group, and owns nothing; whoever waited for it finds the connection broken.
    """
    broker = s.brokers[b]
    if not broker.owned and not broker.loading:
        return False

    for member in broker.group.members:
        give_error(s.network, member.waiter, DISCONNECTED)
    for i in range(broker.appends.length):
        give_error(s.network, broker.appends.slots[i].waiter, DISCONNECTED)
        forget_slot(broker.appends.slots[i])
    broker.appends.length = 0
    forget_group(broker.group)
    broker.epoch = s.storage.epoch
    broker.owned = 0
    broker.loading = 0
    s.storage.faults += 1
    return True


def forget_slot(append):
    """There is no such append."""
    append.kind = 0
    append.position = 0
    append.generation = 0
    append.waiter = 0
    append.orphan = 0
    append.id = 0
    append.former = 0


def close_connection(s, m):
    """Nobody waits any more for what client `m` has asked."""
    hang_up(s.network, m)
    for broker in s.brokers:
        for member in broker.group.members:
            member.waiter = without_member(member.waiter, m)
        for i in range(broker.appends.length):
            broker.appends.slots[i].waiter = without_member(broker.appends.slots[i].waiter, m)


def give_up(s, m: Client):
    """Client `m` does not wait any longer: a request or an answer is lost, or late.

    Guards:  it is not out.
    Effects: its request may yet arrive, the answer is dropped; it asks again: who synchronized joins again.
    """
    client = s.clients[m]
    if client.phase == OUT:
        return False

    close_connection(s, m)
    if client.phase == WORKING:
        ask(s.network, m, WORK, client.id, 1, client.generation, 0)
    elif client.id == NOBODY:
        join_afresh(s, m)
    else:
        set_out(client, JOINING, client.id)
        ask(s.network, m, JOIN, client.id, 1, 0, 0)
    s.storage.faults += 1
    return True


def crash_client(s, m: Client):
    """The process of client `m` dies.

    Guards:  it is not out.
    Effects: it knows nothing, and acts on nothing.
    """
    if s.clients[m].phase == OUT:
        return False

    close_connection(s, m)
    set_out(s.clients[m], OUT, NOBODY)
    s.storage.faults += 1
    return True
