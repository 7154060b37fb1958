"""Tamperings with what is easily left unlooked at: versions in JSON, sessions, brokers that never were, the order of records
of different sessions, and the state of a leader that recovers."""

import json
from dataclasses import replace

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, CreateSession, SetData
from tests.traces.tamperings.scene import CONTROLLER, IDS, REASSIGN, STRANGER, Record, kind

# Versions in JSON


def _reversioned(record: Record, form: type, path: str, version: int):
    """The last operation of a broker's record writes JSON of another version."""
    if not isinstance(record.write, form) or record.path != path or record.broker is None or not record.write.data:
        return None
    content = json.loads(record.write.data) | {"version": version}
    write = replace(record.write, data=json.dumps(content).encode())
    return record.operate(*record.transaction.operations[:-1], write)


@kind()
def state_of_an_unknown_version(record: Record):
    """A partition's state is of version 0, which none has."""
    if record.after:
        return record.restate(version=0)


@kind()
def controller_of_an_unknown_version(record: Record):
    """A broker takes /controller, and writes a version that none has."""
    operations = record.transaction.operations
    made = next((o for o in operations if isinstance(o, Create) and o.path == CONTROLLER), None)
    if made is None or not made.data:
        return None
    content = json.dumps(json.loads(made.data) | {"version": 0}).encode()
    return record.operate(*(replace(o, data=content) if o is made else o for o in operations))


@kind()
def registration_of_an_older_version(record: Record):
    """A broker registers with the version of a release that no other record is of."""
    own = f"{IDS}/{record.broker}"
    return _reversioned(record, Create, own, 1) if record.broker is not None else None


@kind()
def topic_of_an_older_version(record: Record):
    """A controller writes a topic in version 1, with the keys of later ones (2.4 and later)."""
    if record.is_a(SetData, "topic") and record.scene.features.kip455:
        return _reversioned(record, SetData, record.path, 1)


# Sessions


@kind()
def session_opened_again(record: Record):
    """A session that is open is opened once more."""
    if record.after and record.broker is not None:
        return record.insert(record.session, CreateSession(18_000), raw=True, cxid=0)


@kind()
def session_ended_again(record: Record):
    """A session that is over is closed once more, and takes a registration with it."""
    over = [t.session for t in record.scene.log[: record.place] if isinstance(t.operations[0], CloseSession)]
    brokers = [session for session in over if session in record.scene.members.broker_of]
    if record.after and brokers and record.registered:
        return record.insert(brokers[0], CloseSession((f"{IDS}/{sorted(record.registered)[0]}",)), raw=True)


@kind(unseen="ZooKeeper grants what a client asks for, between bounds that are in no log")
def timeout_of_a_session(record: Record):
    """A broker's session is granted twice the timeout."""
    if isinstance(record.write, CreateSession) and record.broker is not None:
        return record.operate(CreateSession(record.write.timeout * 2), raw=True)


# Brokers that never were, and those that have no replica


@kind()
def first_state_of_one_that_never_registered(record: Record):
    """A controller creates a state whose ISR has a broker that was never there."""
    if record.after and record.before is None and isinstance(record.write, Create):
        return record.restate(isr=[*record.after.isr, STRANGER])


@kind()
def first_state_led_by_one_that_never_registered(record: Record):
    """A controller creates a state that a broker leads that was never there."""
    if record.after and record.before is None and isinstance(record.write, Create):
        return record.restate(leader=STRANGER, isr=[STRANGER])


@kind()
def election_of_one_that_never_registered(record: Record):
    """A controller elects a broker that was never there, and is in no assignment."""
    if record.by_controller and record.after.leader != NOBODY:
        return record.restate(leader=STRANGER, isr=[STRANGER])


@kind()
def first_state_outside_the_assignment(record: Record):
    """A controller creates a state for a broker that is there, and has no replica."""
    others = sorted(record.registered - set(record.replicas)) if record.after else []
    if others and record.before is None and isinstance(record.write, Create):
        return record.restate(leader=others[0], isr=[others[0]])


@kind()
def election_outside_the_assignment(record: Record):
    """A controller elects a broker that is there, and has no replica."""
    if not record.by_controller or record.after.leader == NOBODY or REASSIGN in record.tree.nodes:
        return None
    others = sorted(record.registered - set(record.replicas) - set(record.before.isr))
    return record.restate(leader=others[0], isr=[others[0]]) if others else None


@kind()
def notification_of_one_that_never_registered(record: Record):
    """A broker tells of the failed log directory of another, which was never there."""
    if record.is_a(Create, "log_dir_event") and record.broker is not None:
        return record.rewrite(lambda content: content.update(broker=STRANGER))


# The order of records of different sessions


@kind()
def elected_before_it_registers(record: Record):
    """A broker that has come is elected by a record that stands before its registration."""
    elected = record.after.leader if record.by_controller and record.after.leader != record.before.leader else NOBODY
    node = record.tree.nodes.get(f"{IDS}/{elected}")
    if node is None or node.czxid <= record.tree.nodes[record.path].mzxid or _is_rewritten_since(record, node.czxid):
        return None
    since = record.scene.log[node.czxid - 1]
    if record.session != since.session:
        return _brought_forward(record, node.czxid)


@kind()
def proposal_before_its_election(record: Record):
    """A leader's ISR stands before the record by which it was elected."""
    since = record.tree.nodes[record.path].mzxid if record.by_leader and record.broker is not None else 0
    elected = record.scene.log[since - 1] if since else None
    changed = next((c for c in record.scene.changes if c.zxid == since), None)
    if elected and changed and not changed.by_leader and elected.session != record.session:
        return record.scene_record(since).swap(record.zxid)


@kind()
def taken_before_it_is_free(record: Record):
    """A broker takes /controller before the session ends that has it."""
    taken = any(isinstance(o, Create) and o.path == CONTROLLER for o in record.transaction.operations)
    freed = next(
        (
            t.zxid
            for t in reversed(record.scene.log[: record.place])
            if isinstance(t.operations[0], CloseSession) and CONTROLLER in (t.operations[0].paths or ())
        ),
        None,
    )
    if taken and freed and CONTROLLER not in record.tree.nodes:
        return _brought_forward(record, freed, raw=True)


def _is_rewritten_since(record: Record, zxid: int) -> bool:
    return any(c.path == record.path and zxid <= c.zxid < record.zxid for c in record.scene.changes)


def _brought_forward(record: Record, before: int, raw: bool = False):
    """The record stands before an earlier one."""
    return record.scene_record(before).move(record.zxid, raw=raw, until=record.zxid)


# A leader that recovers


def _may_recover(record: Record) -> bool:
    return record.scene.features.refuses_ineligible and record.after is not None


@kind()
def recovering_when_new(record: Record):
    """A new partition is marked as RECOVERING (3.2 and later)."""
    if _may_recover(record) and record.before is None:
        return record.restate(leader_recovery_state=1)


@kind()
def recovering_with_others_in_the_isr(record: Record):
    """An ISR of several brokers is marked as RECOVERING (3.2 and later)."""
    if _may_recover(record) and record.by_leader and len(record.after.isr) > 1:
        return record.restate(leader_recovery_state=1)


@kind()
def recovering_without_a_leader(record: Record):
    """A partition that loses its leader is marked as RECOVERING (3.2 and later)."""
    was = record.old_content.get("leader_recovery_state") if record.before else None
    if _may_recover(record) and record.by_controller and record.after.leader == NOBODY and not was:
        return record.restate(leader_recovery_state=1)


@kind()
def recovery_of_no_kind(record: Record):
    """The state of recovery is a number that stands for none (3.2 and later)."""
    if _may_recover(record):
        return record.restate(leader_recovery_state=2)


@kind(unseen="a controller of an earlier inter.broker.protocol.version, or before 3.2, writes no state of recovery")
def recovery_left_out(record: Record):
    """A state says nothing of recovery (3.2 and later)."""
    if _may_recover(record) and "leader_recovery_state" in record.content:
        return record.rewrite(lambda content: content.pop("leader_recovery_state"))
