"""Tamperings with the deletion of topics."""

import json
from collections.abc import Iterator

from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.contents import state_in
from kafkaproof.traces.zookeeper.znodes.topics import Place, place_of
from tests.traces.tampering import dropped, swapped
from tests.traces.tamperings.scene import Record, Tampered, kind


def _deletes(record: Record) -> Iterator[Transaction]:
    """What is deleted of a topic from here on, while its deletion is completed."""
    for transaction in record.scene.log[record.place :]:
        operation = transaction.operations[-1]
        if not transaction.failed and isinstance(operation, Delete):
            place = place_of(operation.path)
            if place and place.topic == record.znode.topic and place.kind != "announcement":
                yield transaction
                if place.kind == "marker":
                    return


def _first_deleted(record: Record) -> bool:
    """Whether it deletes the first state of a topic."""
    siblings = record.tree.nodes if record.is_a(Delete, "state") else ()
    states = [
        path
        for path in siblings
        if path.startswith(f"/brokers/topics/{record.znode.topic}/partitions/") and path.endswith("/state")
    ]
    form = record.write.form()
    made = [t for t in record.scene.log[: record.place] if not t.failed and t.operations[-1].form() == form]
    known = record.tree.nodes.get(f"/brokers/topics/{record.znode.topic}") if states else None
    fresh = known and not any(t.zxid > known.czxid for t in made)
    return (
        bool(fresh)
        and len(states) == len(json.loads(known.data)["partitions"])
        and not any(t.zxid > known.czxid and place_of(t.operations[-1].path) == record.znode for t in made)
    )


def _of_kind(record: Record, kind_of: str) -> int | None:
    return next((t.zxid for t in _deletes(record) if place_of(t.operations[-1].path).kind == kind_of), None)


@kind()
def marker_before_states(record: Record):
    """The request to delete goes before the first state of its topic."""
    if _first_deleted(record) and (marker := _of_kind(record, "marker")):
        return record.move(marker)._replace(until=record.zxid)


@kind()
def topic_node_before_states(record: Record):
    """The topic znode goes before the states below it."""
    if _first_deleted(record) and (node := _of_kind(record, "topic")):
        return record.move(node, raw=True)


@kind()
def state_left_over(record: Record):
    """A partition's state is not deleted, and its znode is."""
    if record.is_a(Delete, "state"):
        return record.drop(record.next_write_of(record.path.rpartition("/")[0]), raw=True)


@kind()
def partition_left_over(record: Record):
    """A partition is not deleted, and its topic is."""
    if record.is_a(Delete, "state"):
        znode = record.next_write_of(record.path.rpartition("/")[0])
        directory = record.next_write_of(record.path.rpartition("/")[0].rpartition("/")[0])
        return record.drop(directory, True, znode) if znode else None


@kind()
def partitions_deleted_out_of_order(record: Record):
    """A controller begins with another partition before the one that it has begun with is gone."""
    following = [t for t in _deletes(record)][1:3] if record.is_a(Delete, "state") else []
    if len(following) == 2 and place_of(following[1].operations[-1].path).kind == "state":
        one, other = (transaction.zxid for transaction in following)
        return Tampered(lambda log: swapped(log, one, other), other, one)


@kind()
def configuration_before_the_topic(record: Record):
    """The configuration of a topic goes before its znode."""
    if record.is_a(Delete, "topic"):
        return record.swap(_of_kind(record, "config"))


@kind()
def marker_before_the_configuration(record: Record):
    """The request to delete goes before the configuration."""
    if record.is_a(Delete, "config"):
        return record.swap(_of_kind(record, "marker"))


@kind()
def marker_left(record: Record):
    """A topic is deleted, and the request for it stays."""
    if record.is_a(Delete, "marker") and record.znode.topic and record.broker is not None:
        topic = f"/brokers/topics/{record.znode.topic}"
        completed = any(
            isinstance(t.operations[-1], Delete) and t.operations[-1].path == topic
            for t in record.scene.log[max(0, record.place - 4) : record.place]
            if not t.failed
        )
        following = record.later(
            lambda t: (
                t.session == record.session
                and place_of(getattr(t.operations[-1], "path", "") or "") is not None
                and place_of(t.operations[-1].path).kind == "state"
                and b'"leader_epoch":0' not in (getattr(t.operations[-1], "data", None) or b"")
                and _is_raised(record, t)
            )
        )
        return record.drop(following) if completed and _undisturbed(record, following) else None


def _is_raised(record: Record, transaction: Transaction) -> bool:
    """Whether a record changes a state as controllers do, not as leaders."""
    operation = transaction.operations[-1]
    state = state_in(getattr(operation, "data", None))
    node = record.tree.nodes.get(operation.path)
    known = state_in(node.data) if node else None
    return bool(state and known and state.leader_epoch > known.leader_epoch)


def _undisturbed(record: Record, until: int | None) -> bool:
    """Whether the controller's session goes on until then, with no election between."""
    return until is not None and not any(
        c.ended_zxid and record.zxid < c.ended_zxid <= until for c in record.scene.controllers.all
    )


@kind()
def topic_node_left(record: Record):
    """All of a topic is deleted but its znode."""
    if record.is_a(Delete, "topic"):
        return record.drop(_of_kind(record, "config"))


@kind()
def configuration_left(record: Record):
    """All of a topic is deleted but its configuration."""
    if record.is_a(Delete, "config"):
        return record.drop(_of_kind(record, "marker"))


@kind()
def deleted_while_online(record: Record):
    """The znodes of a topic are deleted, and its replicas were not taken offline."""
    if _first_deleted(record):
        marker = record.tree.nodes.get(f"/admin/delete_topics/{record.znode.topic}")
        prefix = f"/brokers/topics/{record.znode.topic}/partitions/"
        states = [
            t.zxid
            for t in record.scene.log[: record.place]
            if marker
            and t.zxid > marker.czxid
            and not t.failed
            and isinstance(t.operations[-1], SetData)
            and t.operations[-1].path.startswith(prefix)
        ]
        if states:
            return Tampered(lambda log: dropped(log, *states), states[0], record.zxid)


@kind()
def deleted_unasked(record: Record):
    """A topic is deleted that nobody wanted to be deleted."""
    if record.is_a(Create, "marker"):
        path = f"/brokers/topics/{record.znode.topic}/partitions"
        first = record.later(lambda t: isinstance(t.operations[-1], Delete) and t.operations[-1].path.startswith(path))
        marker = record.next_write_of(record.path)
        if first and marker and first < marker and f"/brokers/topics/{record.znode.topic}" in record.tree.nodes:
            return record.drop(first)


@kind()
def deleted_by_another(record: Record):
    """A state is deleted by a broker that was never controller."""
    if record.is_a(Delete, "state") and (strangers := record.never_ruled()):
        return record.substitute(session=strangers[0])


@kind()
def interrupted_deletion(record: Record):
    """A controller writes a state of another topic in the middle of a deletion."""
    if record.is_a(Delete, "topic"):
        mine = record.next_of()
        other = record.later(
            lambda t: (
                t.session == record.session
                and place_of(getattr(t.operations[-1], "path", "") or "")
                not in (None, Place("topic", record.znode.topic))
                and place_of(t.operations[-1].path).kind == "state"
                and isinstance(t.operations[-1], SetData)
                and place_of(t.operations[-1].path).topic != record.znode.topic
                and _is_raised(record, t)
            )
        )
        if mine and other and _undisturbed(record, other) and not record.deleting(_topic_of(record, other)):
            earlier = record.later(lambda t: getattr(t.operations[-1], "path", "") == _path(record, other))
            return record.move(other)._replace(until=record.zxid) if earlier == other else None


def _path(record: Record, zxid: int) -> str:
    return record.scene.log[zxid - 1].operations[-1].path


def _topic_of(record: Record, zxid: int) -> str:
    return place_of(_path(record, zxid)).topic
