"""Tamperings with the creation and the expansion of topics."""

import json
from dataclasses import replace

from kafkaproof.traces.zookeeper.transactions import Create, SetData
from tests.traces.tamperings.scene import Record, kind


def _created(record: Record) -> bool:
    return record.is_a(Create, "topic") and b"partitions" in (record.write.data or b"")


def _expanded(record: Record) -> bool:
    if not record.is_a(SetData, "topic"):
        return False
    old, new = record.old_content["partitions"], record.content["partitions"]
    return len(new) > len(old) and all(new.get(number) == replicas for number, replicas in old.items())


def _new(record: Record) -> list[str]:
    """The numbers of partitions that are added."""
    return sorted(record.content["partitions"].keys() - record.old_content["partitions"].keys(), key=int)


def _assigned(number: str, replicas: list | None):
    def change(content: dict) -> None:
        content["partitions"].pop(number, None)
        if replicas is not None:
            content["partitions"][number] = replicas

    return change


@kind()
def created_with_a_replica_twice(record: Record):
    """A topic is created with a replica twice on one broker."""
    if _created(record):
        number, replicas = sorted(record.content["partitions"].items())[0]
        return record.rewrite(_assigned(number, [replicas[0], *replicas[:1], *replicas[2:]][: max(2, len(replicas))]))


@kind()
def created_with_different_sizes(record: Record):
    """A topic is created whose partitions have different numbers of replicas."""
    if _created(record) and len(record.content["partitions"]) > 1:
        number, replicas = sorted(record.content["partitions"].items())[0]
        return record.rewrite(_assigned(number, [*replicas, max(replicas) + 1]))


@kind()
def created_with_a_gap(record: Record):
    """A topic is created whose partition numbers have a gap (2.3 and later)."""
    if _created(record) and record.scene.guarded:
        number, replicas = sorted(record.content["partitions"].items())[-1]

        def change(content: dict) -> None:
            del content["partitions"][number]
            content["partitions"]["77"] = replicas

        return record.rewrite(change)


@kind()
def created_without_replicas(record: Record):
    """A topic is created with a partition that has no replica."""
    if _created(record):
        return record.rewrite(_assigned("0", []))


@kind()
def created_in_the_middle_of_a_reassignment(record: Record):
    """A topic is created with a replica that is being added (2.4 and later)."""
    if _created(record) and record.content.get("adding_replicas") is not None:
        return record.rewrite(lambda content: content.update(adding_replicas={"0": content["partitions"]["0"][:1]}))


@kind(
    unseen="an explicit assignment is taken as it is: only adding partitions looks at who is there "
    "(AdminManager.createTopics and its successors)"
)
def created_on_an_unknown_broker(record: Record):
    """A topic is created with a replica on a broker that never was."""
    if _created(record) and record.next_write_of(record.path) is None:
        return record.rewrite(lambda content: [replicas.append(99) for replicas in content["partitions"].values()])


@kind()
def created_without_its_configuration(record: Record):
    """A topic is created, and its creator has not written the topic's configuration before."""
    if record.is_a(Create, "config"):
        created = record.next_write_of(f"/brokers/topics/{record.znode.topic}")
        mine = created and record.scene.log[created - 1].session == record.session
        again = [
            t
            for t in record.scene.log[: record.place]
            if any(getattr(o, "path", None) == record.path for o in t.operations)
        ]
        return record.drop(created) if mine and not again else None


@kind()
def topic_created_twice(record: Record):
    """A topic is created that is there already."""
    topics = sorted(record.tree.children.get("/brokers/topics", ()))
    if _created(record) and topics:
        version = record.tree.nodes["/brokers/topics"].cversion + 1
        return record.insert(record.session, replace(record.write, path=topics[0], parent_cversion=version), raw=True)


@kind()
def expanded_with_a_gap(record: Record):
    """Partitions are added whose numbers do not count on (2.1 and later)."""
    if _expanded(record) and record.scene.guarded:
        number = _new(record)[-1]
        replicas = record.content["partitions"][number]

        def change(content: dict) -> None:
            del content["partitions"][number]
            content["partitions"][str(int(number) + 5)] = replicas

        return record.rewrite(change)


@kind()
def expanded_on_an_unknown_broker(record: Record):
    """Partitions are added on a broker that never was."""
    if _expanded(record):
        number = _new(record)[0]
        return record.rewrite(_assigned(number, [*record.content["partitions"][number][:-1], 99]))


@kind()
def expanded_with_fewer_replicas(record: Record):
    """Partitions are added that have another number of replicas than partition 0."""
    if _expanded(record):
        number = _new(record)[0]
        replicas = record.content["partitions"][number]
        return record.rewrite(_assigned(number, replicas[:-1] or [*replicas, replicas[0] + 1]))


@kind()
def expanded_and_changed(record: Record):
    """Partitions are added, and one that was there gets other replicas."""
    if _expanded(record):
        old = record.old_content["partitions"]["0"]
        other = [b for b in sorted(record.registered) if b not in old]
        return (
            record.rewrite(_assigned("0", [*old[:-1], other[0]] if other else [*old[1:], old[0]]))
            if other or len(old) > 1
            else None
        )


@kind()
def topic_id_changed(record: Record):
    """A topic gets another id (2.8 and later)."""
    if record.is_a(SetData, "topic") and record.old_content.get("topic_id"):
        return record.rewrite(lambda content: content.update(topic_id="AAAAAAAAAAAAAAAAAAAAAA"))


@kind()
def topic_id_used_twice(record: Record):
    """A topic is created with the id of another one (2.8 and later)."""
    topics = sorted(record.tree.children.get("/brokers/topics", ()))
    if _created(record) and record.content.get("topic_id") and topics:
        taken = json.loads(record.tree.nodes[topics[0]].data).get("topic_id")
        return record.rewrite(lambda content: content.update(topic_id=taken)) if taken else None


@kind()
def partition_that_no_topic_has(record: Record):
    """A controller makes the znode of a partition that its topic does not have."""
    if record.is_a(Create, "partition"):
        path = record.path.rpartition("/")[0] + "/500"
        return record.operate(*record.transaction.operations[:-1], replace(record.write, path=path))


@kind()
def partition_made_by_another(record: Record):
    """The znode of a partition is made by a broker that was never controller."""
    if record.is_a(Create, "partition") and (strangers := record.never_ruled()):
        return record.substitute(session=strangers[0])


@kind()
def state_before_its_partition(record: Record):
    """A partition's state is created before the partition's znode."""
    if record.is_a(Create, "partition"):
        return record.swap(record.next_write_of(f"{record.path}/state"), raw=True)


@kind()
def partition_made_twice(record: Record):
    """The znode of a partition is made again while it is there."""
    if record.is_a(Create, "state"):
        path = record.path.rpartition("/")[0]
        again = replace(record.write, path=path, data=None, parent_cversion=record.write.parent_cversion)
        version = record.tree.nodes[path.rpartition("/")[0]].cversion + 1
        return record.insert(
            record.session, *record.transaction.operations[:-1], replace(again, parent_cversion=version), raw=True
        )
