"""Tamperings that leave out what a controller had to write, so that all that is left fits together."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.zookeeper.transactions import Check, CloseSession, Create, SetData, Transaction
from tests.traces.tampering import dropped
from tests.traces.tamperings.scene import IDS, Record, Tampered, kind
from tests.traces.tamperings.states import quiet

NOT_LEFT = "no later record of the controller shows that it has left the handler"


def _gone(record: Record) -> set[int]:
    """The members of the ISR of which a controller's record takes the state, and which are not registered."""
    if not record.by_controller or not quiet(record):
        return set()
    return set(record.before.isr) - record.registered


def _state_set(transaction: Transaction) -> str | None:
    """The path of the state that a record sets, None for any other."""
    write = transaction.operations[-1]
    sets = not transaction.failed and isinstance(write, SetData) and write.path.endswith("/state")
    return write.path if sets else None


def _comes(transaction: Transaction) -> bool:
    """Whether a broker registers."""
    return any(isinstance(o, Create) and o.path.startswith(IDS) for o in transaction.operations)


def _shown_behind(record: Record) -> int | None:
    """The zxid of the first proposal of a leader that a new controller writes behind its first states (2.7 and later).

    None where it writes the partition of the record before, or a broker comes.
    """
    for each in record.scene.log[record.place + 1 :]:
        if _state_set(each) == record.path or _comes(each) or isinstance(each.operations[0], CloseSession):
            return None
        proposed = any(c.zxid == each.zxid and c.by_leader for c in record.scene.changes)
        if proposed and each.session == record.session and isinstance(each.operations[0], Check):
            return each.zxid
    return None


def _begins(record: Record) -> bool:
    """Whether a new controller of 2.4 or later writes a state anew that was there before it."""
    there = record.tree.nodes.get("/controller") if record.by_controller and record.scene.features.kip455 else None
    return (
        there is not None
        and record.session == there.ephemeral_owner
        and (record.tree.nodes[record.path].mzxid < there.czxid)
    )


@kind()
def removal_left_out(record: Record):
    """A new controller leaves a broker that is gone in one of the ISRs, and goes on (2.7 and later)."""
    gone = _gone(record) if _begins(record) else ()
    if len(gone) == 1 and record.after.leader == record.before.leader not in gone:
        return record.drop(_shown_behind(record))


@kind()
def first_write_left_out(record: Record):
    """A new controller elects for a partition from whose ISR it has not taken the dead leader first (2.4 and later)."""
    gone = _gone(record) if _begins(record) else ()
    if len(gone) != 1 or record.after.leader != NOBODY or set(record.before.isr) <= gone:
        return None
    later = record.next_write_of(record.path)
    if later is None or record.scene.log[later - 1].session != record.session:
        return None
    comes = any(_comes(t) for t in record.scene.log[record.place : later])
    return None if comes else record.drop(later)


@kind()
def election_left_out(record: Record):
    """One of the elections after the end of a broker is missing, and the controller goes on (2.7 and later)."""
    gone = _gone(record)
    leader = record.before.leader if gone else NOBODY
    if leader not in gone or len(gone) > 1 or not all(map(record.stays, record.after.isr)):
        return None
    siblings = [
        c
        for c in record.scene.changes
        if c.zxid != record.zxid
        and abs(c.time - record.transaction.time) < 100
        and c.before.leader == leader
        and c.elected is not None
        and c.takes_out(leader)
    ]
    return record.drop(_shown_behind(record)) if siblings else None


@kind(unseen=NOT_LEFT)
def last_removal_left_out(record: Record):
    """The last ISR that a dead broker has to leave in the whole log stays as it is"""
    gone = _gone(record)
    last = record.scene.changes[-1].zxid
    if len(gone) == 1 and record.zxid == last:
        return Tampered(lambda log: dropped(log, record.zxid), record.zxid)
