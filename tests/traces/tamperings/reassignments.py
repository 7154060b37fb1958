"""Tamperings with reassignments, one for each of their steps, before and after KIP-455."""

from collections.abc import Callable

from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment, assignment_in, target_of
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in
from kafkaproof.traces.zookeeper.znodes.topics import REASSIGN
from tests.traces.tampering import dropped, swapped
from tests.traces.tamperings.scene import TOPICS, Record, Tampered, kind


def _moved(record: Record) -> tuple[int, Assignment, Assignment] | None:
    """The one partition whose assignment a topic znode changes: number, assignment before and after."""
    if (
        not record.is_a(SetData, "topic")
        or record.old_content.get("partitions", {}).keys() != record.content["partitions"].keys()
    ):
        return None
    old = record.tree.nodes[record.path].data
    numbers = [int(n) for n in record.content["partitions"]]
    changed = [(n, assignment_in(old, n), assignment_in(record.write.data, n)) for n in numbers]
    changed = [each for each in changed if each[1] != each[2]]
    return changed[0] if len(changed) == 1 else None


def _begun(record: Record):
    """The partition whose reassignment a record begins: it gets replicas."""
    found = _moved(record)
    return found if found and set(found[2].replicas) > set(found[1].replicas) else None


def _ended(record: Record):
    """The partition whose reassignment a record ends: what was removed is gone."""
    found = _moved(record)
    return (
        found
        if found and set(found[2].replicas) < set(found[1].replicas) and not found[2].adding and not found[2].removing
        else None
    )


def _state(record: Record, number: int) -> str:
    return f"{record.path}/partitions/{number}/state"


def _steps(record: Record, number: int) -> tuple[list[int], int | None]:
    """The records that write the partition's state after the reassignment has begun, up to that of its target."""
    target, found = None, []
    for transaction in record.scene.log[record.place + 1 :]:
        path = getattr(transaction.operations[-1], "path", None)
        if transaction.failed or path not in (record.path, _state(record, number)):
            continue
        if path == record.path and isinstance(transaction.operations[-1], SetData):
            now = assignment_in(transaction.operations[-1].data, number)
            if now == assignment_in(record.write.data, number):
                continue
            target = transaction.zxid
            break
        if path == record.path:
            break
        found.append(transaction.zxid)
    return found, target


def _number_of(number: int, replicas) -> Callable[[dict], None]:
    return lambda content: content["partitions"].__setitem__(str(number), list(replicas))


def _undisturbed(record: Record, until: int) -> bool:
    """Whether one controller does it all."""
    return not any(record.zxid < (c.ended_zxid or until + 1) <= until for c in record.scene.controllers.all)


@kind()
def union_lost(record: Record):
    """A reassignment begins without the union of old and new replicas in the topic znode."""
    if (found := _begun(record)) and record.next_of():
        states, _ = _steps(record, found[0])
        following = record.later(lambda t: t.session == record.session and t.zxid > states[0]) if states else None
        return record.drop(following)


@kind()
def union_with_a_replica_too_many(record: Record):
    """The union has a replica that nobody asked for."""
    if found := _begun(record):
        others = sorted(record.registered - set(found[2].replicas))
        return record.rewrite(_number_of(found[0], [*found[2].replicas, others[0]])) if others else None


@kind()
def union_with_a_replica_twice(record: Record):
    """The union has a replica twice."""
    if found := _begun(record):
        return record.rewrite(_number_of(found[0], [*found[2].replicas, found[2].replicas[0]]))


@kind()
def adding_what_is_not_assigned(record: Record):
    """The topic znode adds a replica that the partition does not have (2.4 and later)."""
    if (found := _begun(record)) and "adding_replicas" in record.content:
        return record.rewrite(lambda content: content["adding_replicas"].__setitem__(str(found[0]), [99]))


@kind()
def two_partitions_at_once(record: Record):
    """One write of the topic znode changes the replicas of a second partition too."""
    if found := _begun(record):
        others = [(n, r) for n, r in record.content["partitions"].items() if int(n) != found[0]]
        there = sorted(record.registered - set(others[0][1])) if others else []
        return record.rewrite(_number_of(int(others[0][0]), [*others[0][1], there[0]])) if there else None


@kind()
def partition_lost_from_the_topic(record: Record):
    """A reassignment leaves a partition out of the topic znode."""
    if found := _begun(record):
        others = [n for n in record.content["partitions"] if int(n) != found[0]]
        return record.rewrite(lambda content: content["partitions"].pop(others[0])) if others else None


@kind()
def epoch_not_raised(record: Record):
    """The leader epoch is not raised after the union is written."""
    if found := _begun(record):
        states, _ = _steps(record, found[0])
        after = record.later(lambda t: t.session == record.session and t.zxid > states[0]) if states else None
        if after and record.scene.log[states[0] - 1].session == record.session and _undisturbed(record, after):
            last = states[1] if len(states) > 1 else None
            return _dropping(states[0], last) if last else None


@kind()
def finished_without_the_new_replica(record: Record):
    """A reassignment goes on though the new replica has not joined the ISR."""
    if (found := _begun(record)) and len(set(found[2].replicas) - set(found[1].replicas)) == 1:
        states, target = _steps(record, found[0])
        joined = [z for z in states if _isr(record, z) > _isr_before(record, states, z)]
        if target and len(joined) == 1 and len(states) > states.index(joined[0]) + 1:
            return _dropping(joined[0], states[states.index(joined[0]) + 1])


@kind()
def leader_not_moved(record: Record):
    """A leader that is to be removed stays leader when it leaves the replicas."""
    if found := _begun(record):
        states, target = _steps(record, found[0])
        moved = [z for before, z in zip(states, states[1:]) if _leader(record, before) != _leader(record, z)]
        if (
            target
            and len(moved) == 1
            and moved[0] != states[-1]
            and _undisturbed(record, target)
            and record.stays(_leader(record, states[0]), target)
        ):
            return _dropping(moved[0], target)


@kind()
def removed_replica_left_in_the_isr(record: Record):
    """The target is written while a removed replica is still in the ISR."""
    if found := _begun(record):
        states, target = _steps(record, found[0])
        if (
            target
            and len(states) > 1
            and _isr(record, states[-1]) < _isr(record, states[-2])
            and _undisturbed(record, target)
        ):
            return _dropping(states[-1], target)


@kind()
def target_before_the_isr_shrinks(record: Record):
    """The target is written before the removed replica leaves the ISR."""
    if found := _begun(record):
        states, target = _steps(record, found[0])
        if (
            target
            and len(states) > 1
            and _isr(record, states[-1]) < _isr(record, states[-2])
            and record.scene.log[target - 1].session == record.scene.log[states[-1] - 1].session
        ):
            one = states[-1]
            return Tampered(lambda log: swapped(log, one, target), target, one)


@kind()
def target_lost(record: Record):
    """A reassignment ends without its target in the topic znode."""
    found = _ended(record)
    if found and (not found[1].removing or target_of(found[1]) == found[2].replicas):
        following = record.scene.log[record.next_of() - 1] if record.next_of() else None
        if following and _undisturbed(record, following.zxid) and _is_thread(record, following):
            return record.drop(following.zxid)


@kind()
def another_target(record: Record):
    """The target has another replica than was asked for."""
    if found := _ended(record):
        others = sorted(record.registered - set(found[1].replicas))
        return record.rewrite(_number_of(found[0], [*found[2].replicas[:-1], others[0]])) if others else None


@kind()
def list_not_shortened(record: Record):
    """What was reassigned stays in the list of requests (up to 2.3)."""
    if record.path == REASSIGN and record.broker is not None and not record.scene.features.kip455:
        following = record.scene.log[record.next_of() - 1] if record.next_of() else None
        if (
            following
            and isinstance(record.write, SetData)
            and _is_thread(record, following)
            and _undisturbed(record, following.zxid)
        ):
            return record.drop(following.zxid)


def _is_carried_out(record: Record, partition: tuple[str, int], target: tuple[int, ...]) -> bool:
    """Whether a partition has the replicas that a request wants, so that it may leave the list."""
    node = record.tree.nodes.get(f"{TOPICS}/{partition[0]}")
    known = assignment_in(node.data, partition[1]) if node else None
    return known is None or known.replicas == target


@kind()
def another_request_taken_out(record: Record):
    """A request leaves the list that was not carried out, and the one that was stays (up to 2.3)."""
    if (
        record.path == REASSIGN
        and isinstance(record.write, SetData)
        and record.broker is not None
        and not record.scene.features.kip455
    ):
        old, new = entries_in(record.tree.nodes[REASSIGN].data), entries_in(record.write.data)
        gone = [key for key in old if key not in new]
        waits = [key for key in new if not _is_carried_out(record, key, new[key])]
        if len(gone) == 1 and _is_carried_out(record, gone[0], old[gone[0]]) and waits:
            stays = {**new, gone[0]: old[gone[0]]}
            stays.pop(waits[0])
            listed = [{"topic": t, "partition": n, "replicas": list(r)} for (t, n), r in stays.items()]
            return record.rewrite(lambda content: content.update(partitions=listed))


@kind()
def requests_deleted_before_their_end(record: Record):
    """The list of requests is deleted before the last of them is carried out (up to 2.3)."""
    if (
        record.path == REASSIGN
        and isinstance(record.write, Delete)
        and record.broker is not None
        and not record.scene.features.kip455
    ):
        previous = [t for t in record.scene.log[: record.place] if t.session == record.session and not t.failed]
        path = getattr(previous[-1].operations[-1], "path", "") if previous else ""
        if previous and isinstance(previous[-1].operations[-1], SetData) and path.count("/") == 3:
            one = previous[-1].zxid
            return Tampered(lambda log: swapped(log, one, record.zxid), record.zxid, one)


def _dropping(zxid: int, until: int) -> Tampered:
    return Tampered(lambda log: dropped(log, zxid), zxid, until)


def _is_thread(record: Record, following: Transaction) -> bool:
    """Whether the controller's own thread wrote the next record: a list of requests, or a state."""
    operation = following.operations[-1]
    path = getattr(operation, "path", "") or ""
    if path == REASSIGN:
        return not isinstance(operation, Create)
    return isinstance(operation, SetData) and path.endswith("/state") and _raised(record, operation)


def _raised(record: Record, operation) -> bool:
    node, state = record.tree.nodes.get(operation.path), state_in(operation.data)
    known = state_in(node.data) if node else None
    return bool(state and known and state.leader_epoch > known.leader_epoch)


def _state_in(record: Record, zxid: int) -> PartitionState | None:
    return state_in(getattr(record.scene.log[zxid - 1].operations[-1], "data", None))


def _isr(record: Record, zxid: int) -> set[int]:
    state = _state_in(record, zxid)
    return set(state.isr) if state else set()


def _leader(record: Record, zxid: int) -> int | None:
    state = _state_in(record, zxid)
    return state.leader if state else None


def _isr_before(record: Record, states: list[int], zxid: int) -> set[int]:
    place = states.index(zxid)
    return _isr(record, states[place - 1]) if place else {-9}
