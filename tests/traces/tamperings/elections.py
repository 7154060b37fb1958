"""Tamperings with sessions, registrations, the election of controllers, and with who writes in which epoch."""

from dataclasses import replace

from kafkaproof.traces.zookeeper.transactions import Check, CloseSession, Create, CreateSession, Delete, SetData
from kafkaproof.traces.zookeeper.znodes.contents import number_in
from tests.traces.tamperings.scene import CONTROLLER, EPOCH, IDS, SHUTDOWN, Record, Tampered, kind, opens


def _elects(record: Record) -> bool:
    """Whether a record takes /controller and raises its epoch at once (2.1 and later)."""
    return len(record.transaction.operations) == 2 and record.path == EPOCH and record.scene.guarded


def _raises(record: Record) -> bool:
    """Whether a record raises /controller_epoch."""
    return isinstance(record.write, SetData) and record.path == EPOCH


def _with_epoch(record: Record, epoch: int) -> Tampered:
    *others, write = record.transaction.operations
    return record.operate(*others, replace(write, data=str(epoch).encode()))


@kind()
def second_controller(record: Record):
    """A second /controller is created while the first is there."""
    if record.holder and opens(record.transaction) and (strangers := record.never_ruled()):
        version = record.tree.nodes["/"].cversion + 1
        data = b'{"version":1,"brokerid":%d}' % record.scene.members.broker_of[strangers[0]]
        return record.insert(strangers[0], Create(CONTROLLER, data, True, version), raw=True)


@kind()
def epoch_goes_back(record: Record):
    """An election writes an epoch before the last one."""
    if _raises(record) and number_in(record.write.data) > 2:
        return _with_epoch(record, number_in(record.write.data) - 2)


@kind()
def epoch_jumps(record: Record):
    """An election leaves out an epoch."""
    if _raises(record):
        return _with_epoch(record, number_in(record.write.data) + 1)


@kind()
def epoch_stands(record: Record):
    """An election writes the epoch that was there."""
    if _raises(record) and number_in(record.write.data) > 1:
        return _with_epoch(record, number_in(record.write.data) - 1)


@kind()
def election_without_its_epoch(record: Record):
    """/controller is taken without the epoch, which has gone into the same multi since 2.1."""
    if _elects(record):
        return record.operate(record.transaction.operations[0])


@kind()
def election_lost(record: Record):
    """The record of an election is missing."""
    if _elects(record):
        return record.drop(record.later(lambda t: t.session == record.session and isinstance(t.operations[0], Check)))


@kind()
def epoch_write_lost(record: Record):
    """The record that raises the epoch is missing (up to 2.0)."""
    if _raises(record) and not record.scene.guarded and number_in(record.write.data) > 1:
        epoch = b'"controller_epoch":%s,' % record.write.data
        return record.drop(
            record.later(
                lambda t: any(
                    epoch in (getattr(o, "data", None) or b"") and isinstance(o, SetData) for o in t.operations
                )
            )
        )


@kind()
def epoch_of_a_stranger(record: Record):
    """A broker that has not taken /controller raises the epoch (up to 2.0)."""
    if _raises(record) and not record.scene.guarded and (strangers := record.never_ruled()):
        return record.substitute(session=strangers[0])


@kind()
def controller_of_another_broker(record: Record):
    """/controller names another broker than the one whose session creates it."""
    operation = record.transaction.operations[0]
    others = sorted(record.registered - {record.broker})
    if isinstance(operation, Create) and operation.path == CONTROLLER and others:
        named = replace(operation, data=b'{"version":1,"brokerid":%d,"timestamp":"1"}' % others[0])
        return record.operate(named, *record.transaction.operations[1:])


@kind()
def controller_deleted_by_a_stranger(record: Record):
    """A broker that was never a candidate deletes /controller without a check."""
    if record.holder and opens(record.transaction) and (strangers := record.never_ruled()):
        return record.insert(strangers[0], Delete(CONTROLLER))


@kind()
def epoch_deleted(record: Record):
    """/controller_epoch is deleted."""
    if record.by_controller:
        return record.insert(record.session, Delete(EPOCH))


@kind()
def epoch_edited(record: Record):
    """Somebody who is no broker writes /controller_epoch, which no variant allows but fenced-edited."""
    if record.by_controller:
        tool = next(t.session for t in record.scene.log if t.session not in record.scene.members.broker_of)
        node = record.tree.nodes[EPOCH]
        return record.insert(tool, SetData(EPOCH, node.data, node.version + 1))


@kind()
def registered_twice(record: Record):
    """A broker is registered again, in another session, while its registration is there."""
    if record.registered and opens(record.transaction) and record.broker is not None:
        path = f"{IDS}/{sorted(record.registered)[0]}"
        again = Create(path, record.tree.nodes[path].data, True, record.tree.nodes[IDS].cversion + 1)
        inserted = record.insert(record.session, again, raw=True)
        return inserted._replace(edit=lambda log: _behind(inserted.edit(log), record.place))


def _behind(log, place: int):
    """The record that was put in before the one that opens its session, behind it."""
    return [*log[:place], log[place + 1], log[place], *log[place + 2 :]]


@kind()
def session_end_lost(record: Record):
    """A session that held a registration or /controller is over, and no record ends it: its ephemerals stay."""
    if isinstance(record.write, CloseSession):
        owned = record.tree.ephemerals.get(record.session, set())
        again = [
            z
            for path in owned
            if (
                z := record.later(
                    lambda t, path=path: any(isinstance(o, Create) and o.path == path for o in t.operations)
                )
            )
        ]
        found = record.drop(min(again), raw=True) if again else None
        stops = record.transaction.cxid and f"{IDS}/{record.broker}" in owned
        return found._replace(at=_shutdown_begun(record)) if found and stops else found


def _shutdown_begun(record: Record) -> int:
    """The record with which the shutdown of a broker that closes its session can have begun; else the one that ends it.

    Who shuts down is gone within a minute, and until then its controller elects it for nothing. A broker whose
    registration stays for good has not shut down, which that record shows: but for the last minute of the log.
    """
    changes, broker, last = record.scene.changes, record.broker, record.scene.log[-1].time
    elected = [c for c in changes if c.elected == broker]
    later = {c.after.controller_epoch for c in elected if c.zxid > record.zxid}
    since = max([record.tree.nodes[f"{IDS}/{broker}"].czxid, *(c.zxid for c in elected if c.zxid < record.zxid)])
    removed = [
        c
        for c in changes
        if since < c.zxid < record.zxid and c.takes_out(broker) and c.time > record.transaction.time - SHUTDOWN
    ]
    return next((c.zxid for c in removed if c.time < last - SHUTDOWN or c.after.controller_epoch in later), record.zxid)


@kind()
def session_end_without_its_ephemerals(record: Record):
    """A session ends, and its list of ephemerals lacks one (ZooKeeper 3.6 and later)."""
    if isinstance(record.write, CloseSession) and record.write.paths:
        return record.operate(CloseSession(record.write.paths[1:]), raw=True)


@kind()
def session_end_with_another_s_ephemeral(record: Record):
    """A session ends, and its list has the registration of another broker (ZooKeeper 3.6 and later)."""
    if isinstance(record.write, CloseSession) and record.write.paths:
        others = sorted(record.registered - {record.broker})
        path = f"{IDS}/{others[0]}" if others else None
        return record.operate(CloseSession((*record.write.paths, path)), raw=True) if path else None


@kind()
def session_never_opened(record: Record):
    """A broker's session has no beginning."""
    if isinstance(record.write, CreateSession) and record.broker is not None:
        return record.drop(record.next_of(), raw=True)


@kind()
def write_after_the_session(record: Record):
    """A broker writes in a session that has been closed."""
    state = record.before and record.tree.nodes[record.path]
    over = [t.session for t in record.scene.log[: record.place] if isinstance(t.operations[0], CloseSession)]
    brokers = [session for session in over if session in record.scene.members.broker_of]
    if state and brokers:
        operations = (*record.transaction.operations[:-1], replace(record.write, version=state.version + 1))
        return record.insert(brokers[-1], *operations)


@kind()
def write_of_a_deposed_controller(record: Record):
    """A controller that was deposed writes with success, though the check must have refused it (2.1 and later)."""
    if record.by_controller and record.scene.guarded:
        open_sessions = set(record.tree.sessions) - {record.session, record.holder}
        former = [c for c in record.scene.controllers.all if c.zxid < record.zxid and c.session in open_sessions]
        if former:
            return record.substitute(session=former[-1].session)


@kind()
def write_of_one_that_never_ruled(record: Record):
    """A partition state with a new leader epoch is written by a broker that was never controller."""
    if record.by_controller and (strangers := record.never_ruled()):
        return record.substitute(session=strangers[0])


@kind()
def write_of_a_tool(record: Record):
    """A partition state is written by a session that is no broker's."""
    if record.by_controller:
        tool = next(t.session for t in record.scene.log if t.session not in record.scene.members.broker_of)
        return record.operate(record.write, session=tool)


@kind()
def multi_without_its_check(record: Record):
    """A controller writes without a check of the epoch (2.1 and later)."""
    if (
        record.scene.guarded
        and record.znode
        and isinstance(record.transaction.operations[0], Check)
        and not record.by_leader
        and record.transaction.operations[0].path == EPOCH
    ):
        return record.operate(record.write)


@kind()
def check_of_another_version(record: Record):
    """A check of the epoch succeeds, though it names another version."""
    check = record.transaction.operations[0]
    if isinstance(check, Check) and check.path == EPOCH:
        return record.operate(replace(check, version=check.version + 1), record.write, raw=True)


@kind()
def state_in_an_earlier_epoch(record: Record):
    """A controller writes a partition state with the controller epoch of an earlier term, of another session."""
    earlier = [
        c.epoch
        for c in record.scene.controllers.all
        if c.zxid < record.zxid
        and c.session != record.session
        and c.epoch
        and record.after
        and c.epoch < record.after.controller_epoch
    ]
    if record.by_controller and earlier:
        return record.restate(controller_epoch=earlier[-1])


@kind()
def state_in_a_later_epoch(record: Record):
    """A controller writes a partition state with a controller epoch that nobody has won yet."""
    if record.by_controller:
        return record.restate(controller_epoch=record.after.controller_epoch + 1)


@kind()
def proposal_in_a_later_epoch(record: Record):
    """A leader's ISR carries a controller epoch that nobody has won yet."""
    if record.by_leader:
        return record.restate(controller_epoch=number_in(record.tree.nodes[EPOCH].data) + 1)
