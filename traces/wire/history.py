"""What ZooKeeper's log tells of all that control requests speak of: states of partitions, topics, registrations, terms."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.explain.log.streams import Streams
from kafkaproof.traces.explain.partitions.explanations import Explanation
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.reading.cluster import below
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment, assignment_in
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import json_in
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind, place_of

Partition = tuple[str, int]
_TOPIC, _MARKER, _NOTICES = "/brokers/topics/", "/admin/delete_topics/", "/isr_change_notification/"
_SETTINGS, _FAILURES, _CONTROLLER = "/config/", "/log_dir_event_notification/", "/controller"


class Version(NamedTuple):
    """A version of a partition's state: who wrote it and when, its number, what it says, and leader and ISR before, None of
    a first one; `stays`: with the leader epoch that was there before.
    """

    zxid: int
    time: int
    session: int
    number: int
    state: PartitionState
    before: Elected | None
    stays: bool

    @property
    def elected(self) -> Elected:
        """Leader and ISR."""
        return Elected(self.state.leader, frozenset(self.state.isr))


class Written(NamedTuple):
    """A write of a znode: when, by whom, and its data, None where it was deleted."""

    zxid: int
    time: int
    session: int
    data: bytes | None


class FailedDirectory(NamedTuple):
    """A notification of a broker that one of its log directories has failed."""

    zxid: int
    time: int
    broker: int


class View(NamedTuple):
    """A version of /brokers/ids: since when, and who is there."""

    zxid: int
    time: int
    brokers: frozenset[int]


class Life(NamedTuple):
    """A registration of a broker: its broker epoch (the zxid), when it began (ms), and when it ended."""

    broker: int
    zxid: int
    time: int
    ended: float
    ended_time: float


class Reign(NamedTuple):
    """The term of a controller: from which record and time to which."""

    epoch: int
    broker: int
    session: int
    zxid: int
    time: int
    end: float
    end_time: float


class History:
    """All of it. `states`: the versions of each partition's state; `topics`, `markers`: the writes of topic znodes and of
    requests to delete; `notices`: the deletions of notifications of ISRs; `failed_directories`: the notifications of failed
    log directories; `configured`: when settings were written (ms).
    """

    def __init__(self, recordings: Sequence[Recording], root: str, streams: Streams):
        common = streams.common
        self.states: dict[Partition, list[Version]] = defaultdict(list)
        self.topics: dict[str, list[Written]] = defaultdict(list)
        self.markers: dict[str, list[Written]] = defaultdict(list)
        self.notices: list[Written] = []
        self.failed_directories: list[FailedDirectory] = []
        self.configured: list[int] = []
        self._vacancies: list[int] = []
        self._failures = common.failures
        self._clock: list[tuple[int, int]] = []
        self._root, self._last = root, dict[Partition, Version]()
        self.explained: dict[tuple[int, Partition], tuple[Explanation, ...]] = {
            (each.change.zxid, each.change.partition): each.explanations for each in streams.partitions
        }
        start = recordings[0].start
        for path, node in sorted(start.nodes.items()) if start else ():
            self._note(Written(node.mzxid, node.mtime, 0, node.data or b""), path, node.version)
        for recording in recordings:
            for each in recording.transactions:
                self._read(each)
        self.lives = [
            Life(each.broker, each.zxid, each.time, each.ended or inf, each.ended_time or inf)
            for each in common.registrations.all
        ]
        self.views = [View(each.zxid, common.inputs.time_at(each.zxid), each.value) for each in common.inputs.brokers]
        self.reigns = {
            term.epoch: Reign(
                term.epoch,
                common.members.broker_of[term.session],
                term.session,
                term.start,
                common.inputs.time_at(term.start),
                term.end,
                inf if term.end == inf else common.inputs.time_at(term.end),
            )
            for term in common.terms.all.values()
            if term.session in common.members.broker_of
        }

    def _read(self, transaction: Transaction) -> None:
        self._clock.append((transaction.time, transaction.zxid))
        if transaction.failed:
            return
        for operation in transaction.operations:
            if isinstance(operation, (Create, SetData, Delete)):
                data = None if isinstance(operation, Delete) else operation.data or b""
                written = Written(transaction.zxid, transaction.time, transaction.session, data)
                self._note(written, operation.path, getattr(operation, "version", 0))

    def _note(self, written: Written, path: str, number: int) -> None:
        known = below(self._root, path) or ""
        if known.startswith(_MARKER):
            self.markers[known.removeprefix(_MARKER)].append(written)
        elif known.startswith(_NOTICES) and written.data is None:
            self.notices.append(written)
        elif known.startswith(_FAILURES) and written.data is not None:
            broker = json_in(written.data).get("broker")
            if isinstance(broker, int):
                self.failed_directories.append(FailedDirectory(written.zxid, written.time, broker))
        elif known == _CONTROLLER and written.data is None:
            self._vacancies.append(written.time)
        elif known.startswith(_SETTINGS):
            self.configured.append(written.time)
        elif known.startswith(_TOPIC) and (place := place_of(known)):
            if place.kind == PlaceKind.STATE:
                self._note_state(written, place.partition, number)
            elif place.kind == PlaceKind.TOPIC:
                self.topics[place.topic].append(written)

    def _note_state(self, written: Written, partition: Partition, number: int) -> None:
        state = state_in(written.data) if written.data is not None else None
        if state is None:
            self._last.pop(partition, None)
            return
        before = self._last.get(partition)
        stays = before is not None and before.state.leader_epoch == state.leader_epoch
        version = Version(
            written.zxid, written.time, written.session, number, state, before.elected if before else None, stays
        )
        self._last[partition] = version
        self.states[partition].append(version)

    # Questions

    def failed_after(self, session: int, zxid: int, time: int) -> bool:
        """Whether a request of a session was refused from a record to a time: an answer to one before may have been lost."""
        until = self.zxid_at(time) + 1
        return self._failures.failed(session, zxid, until, False) or self._failures.existed(session, zxid, until)

    def assignments(self, partition: Partition, first: int, last: float) -> list[Assignment]:
        """The assignments of a partition that stood at some time between two records, and the next one."""
        topic, number = partition
        writes = self.topics[topic]
        begin = max(bisect_right(writes, first, key=lambda each: each.zxid) - 1, 0)
        end = bisect_right(writes, last, key=lambda each: each.zxid) + 1
        found = (assignment_in(each.data, number) for each in writes[begin:end])
        return list(dict.fromkeys(each for each in found if each))

    def topic_ids(self, topic: str) -> set[str]:
        """All ids that a topic of a name has had, as ZooKeeper has them."""
        ids = (json_in(each.data).get("topic_id") for each in self.topics[topic])
        return {each for each in ids if isinstance(each, str)}

    def life_of(self, broker: int, epoch: int) -> Life | None:
        """The registration of a broker that has a broker epoch."""
        return next((each for each in self.lives if (each.broker, each.zxid) == (broker, epoch)), None)

    def is_deposed(self, reign: Reign, time: int) -> bool:
        """Whether /controller was deleted in a term until a time (ms): its controller may know that it rules no more."""
        return any(reign.time <= each <= time for each in self._vacancies)

    def lives_of(self, broker: int) -> Iterator[Life]:
        """The registrations of a broker."""
        return (each for each in self.lives if each.broker == broker)

    def zxid_at(self, time: int) -> int:
        """The last record that was there at a time (ms)."""
        place = bisect_right(self._clock, time, key=lambda each: each[0])
        return self._clock[place - 1][1] if place else 0

    def live_at(self, zxid: int) -> frozenset[int]:
        """Who was registered after a record."""
        place = bisect_right(self.views, zxid, key=lambda each: each.zxid)
        return self.views[place - 1].brokers if place else frozenset()

    def views_of(self, reign: Reign, until: float = inf) -> list[frozenset[int]]:
        """The versions of /brokers/ids that a controller may have read, oldest first; `until`: a time in ms."""
        first = max(bisect_right(self.views, reign.zxid, key=lambda each: each.zxid) - 1, 0)
        return [each.brokers for each in self.views[first:] if each.time <= until or each is self.views[first]]

    def version_of(self, partition: Partition, elected: Elected, leader_epoch: int, number: int | None) -> int | None:
        """The place of the last version of a partition's state that says this; `number` None: of whatever number."""
        versions = self.states[partition]
        for place in range(len(versions) - 1, -1, -1):
            each = versions[place]
            if (each.elected, each.state.leader_epoch) == (elected, leader_epoch) and number in (None, each.number):
                return place
        return None


def words(version: Version | None) -> str:
    """What a version says, in words."""
    if version is None:
        return "nothing"
    state = version.state
    leader = "none" if state.leader == NOBODY else state.leader
    return (
        f"leader {leader}, leader epoch {state.leader_epoch}, ISR {sorted(state.isr)}, version {version.number} "
        f"({version.zxid:#x})"
    )
