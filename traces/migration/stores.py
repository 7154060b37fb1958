"""Both stores side by side: what ZooKeeper has and the quorum's log has not, and the other way round, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafkaproof.traces.migration.in_force import CONFIG, PRODUCER_IDS, STATE, TOPIC, Subject
from kafkaproof.traces.migration.in_zookeeper import is_doomed, path_of, subjects_in, value_in
from kafkaproof.traces.migration.timeline import Timeline
from kafkaproof.traces.zookeeper.tree import Tree


@dataclass
class Difference:
    """A subject that the stores have differently, by the records in which /migration says that they agree.

    `zxid`: the first such record; `ended`: the first in which they agree again; `offset`: of the log, to the first.
    """

    subject: Subject
    zxid: int
    time: int
    offset: int
    in_zookeeper: Any
    in_log: Any
    ended: int | None = None

    @property
    def text(self) -> str:
        """The difference in words."""
        if self.in_log is None:
            return f"{name_of(self.subject)} is in ZooKeeper and not in the quorum's log"
        if self.in_zookeeper is None:
            return f"{name_of(self.subject)} is in the quorum's log and not in ZooKeeper"
        return f"{name_of(self.subject)} is {shown(self.in_zookeeper)} in ZooKeeper and {shown(self.in_log)} in the quorum's log"


def name_of(subject: Subject) -> str:
    """A subject in words."""
    kind = subject[0]
    if kind == TOPIC:
        return f"topic {subject[1]}"
    if kind == STATE:
        return f"the state of {subject[1]}-{subject[2]}"
    return kind if kind == PRODUCER_IDS else f"the configuration of {subject[1]} {subject[2] or '(default)'}"


def shown(value: Any) -> str:
    """A value in words."""
    if hasattr(value, "_asdict"):
        return ", ".join(f"{name.replace('_', ' ')} {part}" for name, part in value._asdict().items())
    return str(value)


class Stores:
    """ZooKeeper's tree beside one quorum's log. `dirty`: what was written in ZooKeeper since they were compared."""

    def __init__(self, tree: Tree, root: str, timeline: Timeline):
        self.timeline = timeline
        self.found: list[Difference] = []
        self.dirty: set[Subject] = set()
        self._tree, self._root = tree, root
        self._lasting: dict[Subject, Difference] = {}

    def in_zookeeper(self, subject: Subject) -> Any:
        """What ZooKeeper has of a subject; nothing of a topic that is to be deleted."""
        node = self._tree.nodes.get(self._root + path_of(subject))
        if node is None or is_doomed(self._tree, self._root, subject):
            return None
        return value_in(subject, node.data)

    def compare(self, zxid: int, time: int, first: int | None, offset: int) -> list[Difference]:
        """The new differences at a record that says that both agree up to an offset.

        `first`: up to where they were compared before, None where everything is to be compared.
        """
        subjects = set(self.dirty)
        if first is None:
            subjects |= subjects_in(self._tree, self._root).keys() | self.timeline.values.keys()
        else:
            subjects |= set(self.timeline.changed(first, offset)) | self._lasting.keys()
        self.dirty = set()
        new = []
        for subject in sorted(subjects):
            here, there = self.in_zookeeper(subject), self.timeline.at(subject, offset)
            lasting = self._lasting.get(subject)
            if here == there or subject[0] == CONFIG and not here and not there:
                if lasting:
                    self._lasting.pop(subject).ended = zxid
            elif lasting is None:
                difference = Difference(subject, zxid, time, offset, here, there)
                self._lasting[subject] = difference
                new.append(difference)
            else:
                lasting.in_zookeeper, lasting.in_log = here, there
        self.found += new
        return new
