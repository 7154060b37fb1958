"""Tamperings with what brokers and operators tell the controller, with unknown records, and with time."""

import json
from dataclasses import replace

from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData
from kafkaproof.traces.zookeeper.znodes.topics import ENTITY
from tests.traces.tamperings.scene import INSERTED, Record, Tampered, kind


@kind()
def notification_of_an_isr_not_written(record: Record):
    """A broker tells of the ISR of a partition that it has never written as leader (up to 2.6)."""
    if record.is_a(Create, "isr_change"):
        named = {(entry["topic"], entry["partition"]) for entry in record.content["partitions"]}
        topics, proposed = sorted(record.tree.children.get("/brokers/topics", ())), record.proposed()
        for path in topics:
            topic = path.rpartition("/")[2]
            for number in sorted(json.loads(record.tree.nodes[path].data)["partitions"], key=int):
                if (topic, int(number)) not in named and f"{path}/partitions/{number}/state" not in proposed:
                    entry = {"topic": topic, "partition": int(number)}
                    return record.rewrite(lambda content, entry=entry: content["partitions"].append(entry))


@kind()
def notification_before_the_isr(record: Record):
    """A broker tells of an ISR of a partition before it has written any as leader (up to 2.6)."""
    # One that it has written in a session that expired it may tell of in the next: its memory goes on.
    if record.by_leader and not record.scene.guarded and record.broker is not None:
        told = record.later(
            lambda t: (
                t.session == record.session
                and isinstance(t.operations[-1], Create)
                and t.operations[-1].path.startswith("/isr_change_notification/")
            )
        )
        content = json.loads(record.scene.log[told - 1].operations[-1].data) if told else {"partitions": []}
        named = {(entry["topic"], entry["partition"]) for entry in content["partitions"]}
        if (record.znode.topic, record.znode.number) in named and record.path not in record.proposed():
            return record.move(told, raw=True)


@kind()
def directory_failure_of_another(record: Record):
    """A broker tells of a failed log directory of another broker."""
    if record.is_a(Create, "log_dir_event"):
        return record.rewrite(lambda content: content.update(broker=99))


@kind()
def announced_before_it_is_configured(record: Record):
    """A change of a configuration is announced before it is written."""
    if isinstance(record.write, Create | SetData) and ENTITY.fullmatch(record.path):
        announced = record.later(
            lambda t: (
                t.session == record.session
                and isinstance(t.operations[-1], Create)
                and t.operations[-1].path.startswith("/config/changes/")
            )
        )
        entity = record.path.removeprefix("/config/").encode()
        again = [
            t
            for t in record.scene.log[: record.place]
            if t.session == record.session and not t.failed and getattr(t.operations[-1], "path", None) == record.path
        ]
        if announced and entity in record.scene.log[announced - 1].operations[-1].data and not again:
            return record.move(announced, raw=True)


@kind()
def another_configuration_announced(record: Record):
    """A change is announced of a configuration that its session has not written."""
    if record.is_a(Create, "announcement") and "entity_path" in record.content:
        return record.rewrite(lambda content: content.update(entity_path="topics/none-such"))


@kind()
def announcement_of_nothing(record: Record):
    """What is announced names no configuration."""
    if record.is_a(Create, "announcement"):
        return record.rewrite(lambda content: content.clear())


@kind()
def preferred_elections_dealt_with_twice(record: Record):
    """The list of preferred elections is deleted when there is none."""
    if record.is_a(Delete, "preferred"):
        operations = record.transaction.operations
        place = record.place + 1
        extra = replace(record.transaction, zxid=-1)
        return Tampered(lambda log: [*log[:place], extra, *log[place:]], -1, None, True) if operations else None


@kind()
def znode_that_kafka_does_not_know(record: Record):
    """A broker creates a znode that no Kafka has."""
    if record.by_controller:
        version = record.tree.nodes["/"].cversion + 1
        return record.insert(record.session, Create("/shadow", b"", False, version), raw=True)


@kind()
def record_repeated(record: Record):
    """A creation is logged twice, each time with success."""
    if isinstance(record.write, Create) and record.znode and record.scene.members.broker_of.get(record.session):
        place, extra = record.place + 1, replace(record.transaction, zxid=-1)
        return Tampered(lambda log: [*log[:place], extra, *log[place:]], -1, None, True)


@kind(harmless=True)
def time_goes_back(record: Record):
    """A clock is set back by five seconds for one record."""
    if record.by_controller:
        return record.substitute(time=record.transaction.time - 5_000)


@kind(harmless=True)
def failures_lost(record: Record):
    """A refused creation of a persistent znode at start is missing."""
    failed = [t for t in record.scene.log[:80] if t.failed and not t.multi]
    if record.place == 80 and failed:
        return Tampered(lambda log: [t for t in log if t is not failed[0]], failed[0].zxid + 1)


@kind(harmless=True)
def notification_sent_again(record: Record):
    """A broker tells of the same ISRs once more, as one does whose connection was lost before the answer came."""
    if record.is_a(Create, "isr_change"):
        place, again = record.place + 1, replace(record.write, path="/isr_change_notification/isr_change_2147483647")
        extra = replace(record.transaction, zxid=INSERTED, operations=(again,))
        return Tampered(lambda log: [*log[:place], extra, *log[place:]], INSERTED)


@kind(unseen="a leader may propose any ISR that holds itself, of assigned replicas: how far followers are is in no log")
def isr_that_the_leader_did_not_propose(record: Record):
    """A leader's proposal to let a replica in is missing, and so is every later version of that state."""
    if record.by_leader and set(record.after.isr) > set(record.before.isr) and not record.next_write_of(record.path):
        return Tampered(lambda log: [t for t in log if t is not record.transaction], record.zxid + 1)


@kind(unseen="no transition reads the configuration but for unclean elections")
def configuration_value_changed(record: Record):
    """A topic is configured with another value."""
    if record.is_a(SetData, "config"):
        return record.rewrite(lambda content: content.setdefault("config", {}).update({"retention.ms": "1"}))
