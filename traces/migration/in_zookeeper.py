"""What znodes say of the subjects that a quorum's log has, too.

Source: kafka.zk.TopicZNode, 2.8 to 3.9; kafka.zk.TopicPartitionStateZNode, 2.8 to 3.9;
        kafka.zk.ProducerIdBlockZNode, 2.8 to 3.9; kafka.zk.ZkConfigMigrationClient, 3.5 to 3.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from kafkaproof.traces.migration.in_force import CONFIG, PRODUCER_IDS, STATE, TOPIC, State, Subject, Topic
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, is_recovering, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import json_in, part_of
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind, is_of_state, place_of, topic_in

_PRODUCER_IDS = "/latest_producer_id_block"
_CONFIGS = {"/config/topics/": "topics", "/config/brokers/": "brokers"}
_DEFAULT = "<default>"


@lru_cache(maxsize=100_000)
def subject_of(path: str) -> Subject | None:
    """The subject of a znode, by its path as brokers know it; None for one that the log does not have."""
    place = place_of(path)
    if place and place.kind == PlaceKind.TOPIC:
        return TOPIC, place.topic
    if place and place.kind == PlaceKind.STATE:
        return STATE, place.topic, str(place.number)
    if path == _PRODUCER_IDS:
        return (PRODUCER_IDS,)
    for parent, kind in _CONFIGS.items():
        if path.startswith(parent):
            name = path.removeprefix(parent)
            return CONFIG, kind, "" if name == _DEFAULT else name
    return None


def path_of(subject: Subject) -> str:
    """The path of a subject's znode."""
    kind = subject[0]
    if kind == TOPIC:
        return f"/brokers/topics/{subject[1]}"
    if kind == STATE:
        return f"/brokers/topics/{subject[1]}/partitions/{subject[2]}/state"
    return _PRODUCER_IDS if kind == PRODUCER_IDS else f"/config/{subject[1]}/{subject[2] or _DEFAULT}"


def value_in(subject: Subject, data: bytes | None) -> Any:
    """What a znode says of its subject, None where it says nothing."""
    kind = subject[0]
    if kind == TOPIC:
        topic = topic_in(data)
        if topic is None or topic.id is None:
            return None
        return Topic(
            topic.id,
            tuple(
                (number, each.replicas, each.adding, each.removing) for number, each in sorted(topic.partitions.items())
            ),
        )
    if kind == STATE:
        state = state_in(data)
        return state and State(state.leader, state.leader_epoch, state.isr, is_recovering(data))
    if kind == CONFIG:
        return part_of(json_in(data), "config") or None
    end = json_in(data).get("block_end")
    return int(end) + 1 if isinstance(end, str) and end.isdecimal() else None


def subjects_in(tree: Tree, root: str) -> dict[Subject, Any]:
    """All subjects that a tree has, and what they are; topics that are to be deleted are left out."""
    found = {}
    for path, node in tree.nodes.items():
        if path.startswith(f"{root}/") and (subject := subject_of(path.removeprefix(root))):
            value = value_in(subject, node.data)
            if value is not None and not is_doomed(tree, root, subject):
                found[subject] = value
    return found


def states_in(tree: Tree, root: str) -> Iterator[tuple[str, PartitionState]]:
    """The states of all partitions, each with the partition's name."""
    for path, node in tree.nodes.items():
        if path.startswith(f"{root}/") and is_of_state(below := path.removeprefix(root)):
            place, state = place_of(below), state_in(node.data)
            if place and state:
                yield f"{place.topic}-{place.number}", state


def topic_of(subject: Subject) -> str | None:
    """The topic that a subject belongs to, if to any."""
    if subject[0] in (TOPIC, STATE):
        return subject[1]
    return subject[2] if subject[:2] == (CONFIG, "topics") else None


def is_doomed(tree: Tree, root: str, subject: Subject) -> bool:
    """Whether a subject is of a topic whose deletion was asked for."""
    name = topic_of(subject)
    return name is not None and f"{root}/admin/delete_topics/{name}" in tree.nodes
