"""Tamperings with first states, with the versions of znodes, and with what ZooKeeper itself keeps right."""

from dataclasses import replace

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.zookeeper.transactions import Create, SetData
from kafkaproof.traces.zookeeper.znodes.contents import state_in
from tests.traces.tamperings.scene import INSERTED, Record, Tampered, kind
from tests.traces.tamperings.states import staying


def _first_state(record: Record) -> bool:
    return record.is_a(Create, "state") and record.after is not None


@kind()
def first_state_with_another_leader(record: Record):
    """A new partition is led by a replica that is not the first that is there."""
    live = [b for b in record.replicas if b in record.registered] if _first_state(record) else []
    if len(live) > 1 and record.after.leader == live[0] and record.stays(live[0]):
        return record.restate(leader=live[1])


@kind()
def first_state_without_a_live_replica(record: Record):
    """The first ISR of a partition lacks a replica that is there and stays there."""
    others = [b for b in record.after.isr if b != record.after.leader] if _first_state(record) else []
    seen = others and any(
        others[0] in state.isr
        for t in record.scene.log[: record.place]
        if t.session == record.session
        and not t.failed
        and isinstance(t.operations[-1], Create)
        and (state := state_in(t.operations[-1].data))
    )
    if seen and others[0] in staying(record, others):
        return record.restate(isr=[b for b in record.after.isr if b != others[0]])


@kind()
def first_state_without_a_leader(record: Record):
    """A new partition begins with leader -1."""
    if _first_state(record):
        return record.restate(leader=NOBODY)


@kind()
def first_state_in_a_later_leader_epoch(record: Record):
    """A new partition begins with leader epoch 1."""
    if _first_state(record):
        return record.restate(leader_epoch=1, raw=True)


@kind()
def state_that_is_none(record: Record):
    """What is written to a partition's state znode is no JSON."""
    if record.after:
        return record.operate(*record.transaction.operations[:-1], replace(record.write, data=b"{"))


@kind()
def version_skipped(record: Record):
    """A znode's version grows by two in one write."""
    if isinstance(record.write, SetData):
        changed = replace(record.write, version=record.write.version + 1)
        return record.operate(*record.transaction.operations[:-1], changed, raw=True)


@kind()
def states_swapped(record: Record):
    """Two versions of one partition's state have changed places."""
    following = record.next_write_of(record.path) if record.before else None
    if following and isinstance(record.scene.log[following - 1].operations[-1], SetData):
        return record.swap(following, raw=True)


@kind()
def state_lost(record: Record):
    """A version of a partition's state is missing."""
    if record.before:
        return record.drop(record.next_write_of(record.path) if _set_next(record) else None, raw=True)


def _set_next(record: Record) -> bool:
    following = record.next_write_of(record.path)
    return following is not None and isinstance(record.scene.log[following - 1].operations[-1], SetData)


@kind()
def state_after_its_topic(record: Record):
    """A partition's state is written after its topic is gone."""
    gone = [
        t
        for t in record.scene.log[: record.place]
        if not t.failed
        and t.operations[-1].form().startswith("delete /brokers/topics/")
        and t.operations[-1].path.endswith("/state")
    ]
    if record.before and gone and gone[-1].operations[-1].path not in record.tree.nodes:
        path = gone[-1].operations[-1].path
        operations = (*record.transaction.operations[:-1], replace(record.write, path=path))
        inserted = record.insert(record.session, *operations, raw=True)
        return Tampered(inserted.edit, INSERTED, None, True)
