"""The metadata that a quorum's log has put in force, by subjects that ZooKeeper has, too.

Source: org.apache.kafka.image.MetadataDelta, 3.4 to 3.9; org.apache.kafka.metadata.PartitionRegistration, 3.4 to 3.9.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kafkaproof.traces.migration.decoding import Metadata
from kafkaproof.traces.migration.definitions import MIGRATION_STATES

Subject = tuple[str, ...]
TOPIC, STATE, CONFIG, PRODUCER_IDS = "topic", "state", "configuration", "producer ids"
RESOURCES = {2: "topics", 4: "brokers"}
_SAME_LEADER, _SAME_RECOVERY = -2, -1


class State(NamedTuple):
    """The state of a partition as both stores have it."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    recovering: bool = False


class Topic(NamedTuple):
    """A topic as both stores have it: its id, and of each partition the replicas, those added and those removed."""

    id: str
    partitions: tuple[tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...]


class InForce:
    """The metadata in force: what records change, by their subjects."""

    def __init__(self) -> None:
        self.values: dict[Subject, Any] = {}
        self.names: dict[str, str] = {}
        self.migration = "NONE"
        self.changed: set[Subject] = set()

    def apply(self, record: Metadata) -> None:
        """Take in what a record changes; one of a kind that is in no subject changes nothing."""
        if rule := _RULES.get(record.name):
            rule(self, record.fields)

    def put(self, subject: Subject, value: Any) -> None:
        """A subject has a new value, None where it is gone."""
        if value is None:
            self.values.pop(subject, None)
        else:
            self.values[subject] = value
        self.changed.add(subject)

    def states_of(self, name: str) -> list[Subject]:
        """The subjects of a topic's partitions."""
        return [each for each in self.values if each[0] == STATE and each[1] == name]


def _topic(found: InForce, fields: dict) -> None:
    found.names[fields["topic_id"]] = fields["name"]
    found.put((TOPIC, fields["name"]), Topic(fields["topic_id"], ()))


def _partition(found: InForce, fields: dict) -> None:
    name = found.names.get(fields["topic_id"])
    if name is None:
        return
    number = fields["partition_id"]
    state = State(
        fields["leader"], fields["leader_epoch"], tuple(fields["isr"]), fields.get("leader_recovery_state") == 1
    )
    found.put((STATE, name, str(number)), state)
    assigned = (number, *(tuple(fields[each]) for each in ("replicas", "adding_replicas", "removing_replicas")))
    _assign(found, name, assigned)


def _assign(found: InForce, name: str, assigned: tuple) -> None:
    topic = found.values[TOPIC, name]
    others = [each for each in topic.partitions if each[0] != assigned[0]]
    found.put((TOPIC, name), topic._replace(partitions=tuple(sorted([*others, assigned]))))


def _change(found: InForce, fields: dict) -> None:
    name = found.names.get(fields["topic_id"])
    subject = (STATE, name or "", str(fields["partition_id"]))
    state = found.values.get(subject)
    if name is None or state is None:
        return
    leader = fields.get("leader", _SAME_LEADER)
    if leader != _SAME_LEADER:
        state = state._replace(leader=leader, leader_epoch=state.leader_epoch + 1)
    if fields.get("isr") is not None:
        state = state._replace(isr=tuple(fields["isr"]))
    if (recovery := fields.get("leader_recovery_state", _SAME_RECOVERY)) != _SAME_RECOVERY:
        state = state._replace(recovering=recovery == 1)
    found.put(subject, state)
    number = fields["partition_id"]
    old = next(each for each in found.values[TOPIC, name].partitions if each[0] == number)
    names = ("replicas", "adding_replicas", "removing_replicas")
    new = [tuple(fields[each]) if fields.get(each) is not None else was for each, was in zip(names, old[1:])]
    if tuple(new) != old[1:]:
        _assign(found, name, (number, *new))


def _remove_topic(found: InForce, fields: dict) -> None:
    if (name := found.names.pop(fields["topic_id"], None)) is None:
        return
    for subject in [(TOPIC, name), (CONFIG, RESOURCES[2], name), *found.states_of(name)]:
        found.put(subject, None)


def _config(found: InForce, fields: dict) -> None:
    kind = RESOURCES.get(fields["resource_type"])
    if kind is None:
        return
    subject = CONFIG, kind, fields["resource_name"]
    values = dict(found.values.get(subject, {}))
    if fields["value"] is None:
        values.pop(fields["name"], None)
    else:
        values[fields["name"]] = fields["value"]
    found.put(subject, values or None)


def _producer_ids(found: InForce, fields: dict) -> None:
    found.put((PRODUCER_IDS,), fields["next_producer_id"])


def _migration(found: InForce, fields: dict) -> None:
    found.migration = MIGRATION_STATES.get(fields["zk_migration_state"], "unknown")


_RULES: dict[str, Callable[[InForce, dict], None]] = {
    "Topic": _topic,
    "Partition": _partition,
    "PartitionChange": _change,
    "RemoveTopic": _remove_topic,
    "Config": _config,
    "ProducerIds": _producer_ids,
    "ZkMigrationState": _migration,
}
