"""What the znodes of topics and of requests to the controller say."""

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from kafkaproof.traces.zookeeper.znodes.assignments import Assignment, assignment_in
from kafkaproof.traces.zookeeper.znodes.json_parts import is_number, json_in, part_of

REASSIGN, PREFERRED = "/admin/reassign_partitions", "/admin/preferred_replica_election"
_TOPIC = re.compile(r"/brokers/topics/([^/]+)(?:(/partitions)(?:/(\d+)(/state)?)?)?", re.ASCII)
_MARKER = re.compile(r"/admin/delete_topics/([^/]+)")
_CONFIG = re.compile(r"/config/topics/([^/]+)")
_NOTIFICATION = re.compile(r"/(isr_change|log_dir_event)_notification/[^/]+")
ANNOUNCEMENT = re.compile(r"/config/changes/[^/]+")
ENTITY = re.compile(r"/config/(?!changes/).+/.+")


NO_NUMBER = -1


class PlaceKind(StrEnum):
    """What a znode is: of a topic's tree, its configuration, or a message to the controller; OUTSIDE of all that."""

    TOPIC = "topic"
    DIRECTORY = "directory"
    PARTITION = "partition"
    STATE = "state"
    CONFIG = "config"
    MARKER = "marker"
    ANNOUNCEMENT = "announcement"
    REASSIGN = "reassign"
    PREFERRED = "preferred"
    ISR_CHANGE = "isr_change"
    LOG_DIR_EVENT = "log_dir_event"
    OUTSIDE = "outside"


class Place(NamedTuple):
    """Where a znode belongs: its kind; its topic, "" for none; the number of its partition, NO_NUMBER for none."""

    kind: PlaceKind
    topic: str = ""
    number: int = NO_NUMBER

    @property
    def partition(self) -> tuple[str, int]:
        """Topic and number, of a znode that has both."""
        return self.topic, self.number

    @property
    def in_topic(self) -> bool:
        """Whether it stands in the tree of a topic."""
        return self.kind in (PlaceKind.TOPIC, PlaceKind.DIRECTORY, PlaceKind.PARTITION, PlaceKind.STATE)


OUTSIDE = Place(PlaceKind.OUTSIDE)


@lru_cache(maxsize=100_000)
def place_of(path: str) -> Place | None:
    """The place of a path as brokers know it, None for a znode that no topic, and no message to the controller, has."""
    if found := _TOPIC.fullmatch(path):
        topic, directory, number, state = found.groups()
        kind = (
            PlaceKind.STATE
            if state
            else PlaceKind.PARTITION
            if number
            else PlaceKind.DIRECTORY
            if directory
            else PlaceKind.TOPIC
        )
        return Place(kind, topic, int(number) if number else NO_NUMBER)
    for kind, pattern in ((PlaceKind.MARKER, _MARKER), (PlaceKind.CONFIG, _CONFIG)):
        if found := pattern.fullmatch(path):
            return Place(kind, found[1])
    if path in (REASSIGN, PREFERRED):
        return Place(PlaceKind.REASSIGN if path == REASSIGN else PlaceKind.PREFERRED)
    if found := _NOTIFICATION.fullmatch(path):
        return Place(PlaceKind(found[1]))
    return Place(PlaceKind.ANNOUNCEMENT) if ANNOUNCEMENT.fullmatch(path) else None


def is_of_state(path: str) -> bool:
    """Whether a path as brokers know it is that of a partition's state."""
    place = place_of(path)
    return place is not None and place.kind == PlaceKind.STATE


class Topic(NamedTuple):
    """What a topic znode says: the assignment of each partition, and (2.8+) the topic's id."""

    partitions: dict[int, Assignment]
    id: str | None


@lru_cache(maxsize=10_000)
def topic_in(data: bytes | None) -> Topic | None:
    """The topic that a znode describes; None where a partition is no number or has no list of brokers."""
    found = json_in(data)
    numbers = [int(name) for name in part_of(found, "partitions") if is_number(name)]
    assignments = ((number, assignment_in(data, number)) for number in sorted(numbers))
    partitions = {number: assignment for number, assignment in assignments if assignment is not None}
    strange = {name for part in ("adding_replicas", "removing_replicas") for name in part_of(found, part)}
    complete = len(numbers) == len(part_of(found, "partitions")) > 0 and strange <= {str(number) for number in numbers}
    if not complete or len(partitions) < len(set(numbers)):
        return None
    name = found.get("topic_id")
    return Topic(partitions, name if isinstance(name, str) else None)


def entity_in(data: bytes | None) -> str | None:
    """The path of the configuration that a notification speaks of (version 1: type and name, 2: path)."""
    found = json_in(data)
    if isinstance(found.get("entity_path"), str):
        return f"/config/{found['entity_path']}"
    named = found.get("entity_type"), found.get("entity_name")
    return f"/config/{named[0]}/{named[1]}" if all(isinstance(part, str) for part in named) else None


def text_of(assignment: Assignment | None) -> str:
    """An assignment in words: ``[2, 3, 1] +[3] -[1]``."""
    if assignment is None:
        return "nothing"
    changes = [f" {sign}{list(ids)}" for sign, ids in (("+", assignment.adding), ("-", assignment.removing)) if ids]
    return f"{list(assignment.replicas)}{''.join(changes)}"
