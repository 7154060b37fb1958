"""Tamperings that leave out what a controller had to write, so that all that is left fits together."""

from spec.language.domains import NOBODY
from tests.traces.tampering import dropped
from tests.traces.tamperings.scene import IDS, Record, Tampered, kind
from tests.traces.tamperings.states import quiet
from traces.znodes.contents import partition_state
from traces.znodes.places import place_of
from traces.zookeeper.transactions import Check, CloseSession, Create, SetData, Transaction

UNSEEN = "what a leader wishes, and when, only it knows"
NOT_LEFT = "no later record of the controller shows that it has left the handler"


def _gone(record: Record) -> set[int]:
    """The members of the ISR of which a controller's record takes the state, and which are not registered."""
    if not record.by_controller or not quiet(record):
        return set()
    return set(record.before.isr) - record.registered


def _state_in(transaction: Transaction):
    """The path and the state that a record sets; None, None for any other."""
    write = transaction.operations[-1]
    if transaction.failed or not isinstance(write, SetData) or not write.path.endswith("/state"):
        return None, None
    return write.path, partition_state(write.data)


def _comes(transaction: Transaction) -> bool:
    """Whether a broker registers."""
    return any(isinstance(o, Create) and o.path.startswith(IDS) for o in transaction.operations)


def _shown_behind(record: Record) -> int | None:
    """The zxid of the first wish of a leader that a new controller writes behind its first states (2.7 and later).

    None where it writes the partition of the record before, or a broker comes.
    """
    for each in record.scene.log[record.place + 1:]:
        if _state_in(each)[0] == record.path or _comes(each) or isinstance(each.operations[0], CloseSession):
            return None
        wished = any(c.zxid == each.zxid and c.by_leader for c in record.scene.changes)
        if wished and each.session == record.session and isinstance(each.operations[0], Check):
            return each.zxid
    return None


def _begins(record: Record) -> bool:
    """Whether a new controller of 2.4 or later writes a state anew that was there before it."""
    there = record.tree.nodes.get("/controller") if record.by_controller and record.scene.features.kip455 else None
    return there is not None and record.session == there.ephemeral_owner and (
        record.tree.nodes[record.path].mzxid < there.czxid)


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
    comes = any(_comes(t) for t in record.scene.log[record.place:later])
    return None if comes else record.drop(later)


@kind()
def topic_without_states(record: Record):
    """A topic is made and gets no partitions; its controller makes those of a later topic and goes on (2.7 and later)."""
    if not record.is_a(Create, "topic") or not record.scene.features.kip455 or record.holder is None:
        return None
    topic, holder = record.znode.topic, record.holder
    replicas = {r for each in record.content["partitions"].values() for r in each}
    if record.next_write_of(record.path) is not None or not all(
            r in record.registered and record.stays(r) for r in replicas):
        return None
    below = [t.zxid for t in record.scene.log for o in t.operations
             if getattr(o, "path", "").startswith(f"/brokers/topics/{topic}/")]
    behind, made = None, set()
    for each in record.scene.log[record.place + 1:]:
        place = place_of(getattr(each.operations[-1], "path", ""))
        if isinstance(each.operations[0], CloseSession) or place and place.kind == "marker":
            return None
        if each.failed or each.zxid in below or place is None:
            continue
        if isinstance(each.operations[-1], Create) and place.kind == "topic":
            made.add(place.topic)
        if isinstance(each.operations[-1], Create) and place.kind == "state" and place.topic in made:
            behind = each.zxid
        elif behind and each.session == holder and isinstance(each.operations[0], Check) and _state_in(each)[1]:
            return Tampered(lambda log: dropped(log, *below), each.zxid, each.zxid)
    return None


@kind(unseen=NOT_LEFT)
def last_removal_left_out(record: Record):
    """The last ISR that a dead broker has to leave in the whole log stays as it is"""
    gone = _gone(record)
    last = record.scene.changes[-1].zxid
    if len(gone) == 1 and record.zxid == last:
        return Tampered(lambda log: dropped(log, record.zxid), record.zxid)


@kind(unseen=UNSEEN)
def last_wish_left_out(record: Record):
    """The last ISR that a leader wished for a partition is missing"""
    if record.by_leader and quiet(record) and record.next_write_of(record.path) is None:
        return Tampered(lambda log: dropped(log, record.zxid), record.zxid)
