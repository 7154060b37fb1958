"""What a log shows, stream by stream: what all of them share, and what is written in each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.assignments import Assigned
from kafkaproof.traces.evidence.broker_views import Views
from kafkaproof.traces.evidence.choices import Census
from kafkaproof.traces.evidence.claims import Claims
from kafkaproof.traces.evidence.cluster_inputs import CommonInputs
from kafkaproof.traces.evidence.controllers import Controllers
from kafkaproof.traces.evidence.failures import Failures
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.evidence.kept_writes import Pieces
from kafkaproof.traces.evidence.registrations import CLOSED, Registrations
from kafkaproof.traces.evidence.shutdowns import Leaving
from kafkaproof.traces.evidence.state_changes import Changes
from kafkaproof.traces.evidence.subjects import Subjects
from kafkaproof.traces.evidence.terms import ObservedTerms, Terms
from kafkaproof.traces.evidence.topic_inputs import Inputs
from kafkaproof.traces.evidence.topic_trees import World
from kafkaproof.traces.evidence.write_columns import Writes
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.zookeeper.snapshot import Znode
from kafkaproof.traces.zookeeper.znodes.topics import OUTSIDE, Place

_END = 1 << 64


@dataclass(frozen=True)
class Common:
    """What all streams of a log share: who ruled, what could be read, whom controllers chose.

    `sessions`: those that were open before the first record that counts; `timeouts`: how long each session lasts
    unheard, in ms; `deleters`: the sessions that delete znodes of topics; `requests`: the writes of
    /admin/reassign_partitions, which are in every stream from 2.4 on; `told`: the zxids at which each broker told of
    ISRs; `whole`: no record is missing between others.
    """

    members: Members
    features: Features
    controllers: Controllers
    registrations: Registrations
    terms: Terms
    inputs: CommonInputs
    failures: Failures
    sessions: frozenset[int]
    timeouts: dict[int, int]
    deleters: frozenset[int]
    requests: list[Write]
    told: dict[int | None, Sequence[int]]
    subjects: Subjects
    census: Census
    whole: bool

    @cached_property
    def brokers(self) -> set[int]:
        """The ids of all brokers that registered, or that a request names."""
        return self.inputs.all_brokers()

    @property
    def is_certain(self) -> bool:
        """Whether what a controller does shows what it is done with: nothing is missing, and it has one thread."""
        return self.whole and self.features.has_one_thread

    @cached_property
    def moments(self) -> np.ndarray:
        """The zxids behind each of which /controller and /controller_epoch are not what they were before."""
        return self.controllers.moments()

    @cached_property
    def stopped(self) -> dict[int, list[int]]:
        """The zxids at which each broker closed its session."""
        found: dict[int, list[int]] = {}
        for each in self.registrations.all:
            if each.how == CLOSED and each.ended is not None:
                found.setdefault(each.broker, []).append(each.ended)
        return found

    @cached_property
    def leaving(self) -> Leaving:
        """Who may be shutting down."""
        return Leaving(self.inputs.departures, self.inputs.last_time, self.census)

    @cached_property
    def views(self) -> Views:
        """What controllers may have seen of /brokers/ids, remembered for all streams of a process."""
        return Views(self.inputs.brokers, self.leaving)


class Evidence:
    """What one stream shows: the writes in it, with what all streams share at hand.

    `world`: the topics as they were before the first record that counts.
    """

    def __init__(self, name: str, common: Common, nodes: dict[str, Znode], writes: Writes):
        """`nodes`: the znodes of the stream's topics before the first record, by their paths as brokers know them."""
        self.name, self.common, self.features, self.controllers = name, common, common.features, common.controllers
        self.failures, self.sessions, self.timeouts = common.failures, common.sessions, common.timeouts
        self.terms, self.inputs = ObservedTerms(common.terms), Inputs(common.inputs, nodes.items())
        self.changes, self.world, self.nodes, self.writes = Changes(nodes, writes), World(nodes), nodes, writes
        self.leaving, self.views = common.leaving, common.views
        self._checked: dict[int, np.ndarray] = {}
        others = np.ones(len(writes), bool)
        others[self.changes.rows] = False
        self.other_rows = np.flatnonzero(others)
        self.others = writes.at(self.other_rows)
        for write in self.others:
            self.inputs.note(write.zxid, write.path, None if write.form == Form.DELETE else write.data or b"")

    @cached_property
    def brokers(self) -> set[int]:
        """The ids of all brokers of the stream: registered, assigned, asked for, leaders or members of an ISR."""
        states, changes = self.changes.states, self.changes
        held = np.unique(states.held[np.unique(np.concatenate([changes.before, changes.after]))]).tolist()
        named = {broker for leader, isr in map(states.different.__getitem__, held) for broker in (leader, *isr)}
        return (self.common.brokers | self.inputs.assigned_brokers() | named) - {NOBODY}

    @cached_property
    def assigned(self) -> Assigned:
        """The assignments of all partitions of which a state changes."""
        return Assigned(self.inputs, self.changes.names)

    @cached_property
    def claims(self) -> Claims:
        """The controllers that changes claim to be of."""
        return Claims(self.changes, self.terms)

    def owns(self, topic: str) -> bool:
        """Whether a topic is one of the stream's."""
        return self.common.subjects.of_topic(topic) == self.name

    @property
    def end(self) -> Write:
        """A write after all others, by nobody."""
        return Write(_END, self.common.inputs.last_time, 0, None, Form.END, "", OUTSIDE, None, False)

    def next_checked(self, session: int, zxid: int) -> Place | None:
        """Where a session next writes in this stream, checked against the epoch: its controller's next step."""
        if session not in self._checked:
            self._checked[session] = np.flatnonzero(self.writes.checked & (self.writes.sessions == session))
        own = self._checked[session]
        place = np.searchsorted(self.writes.zxids[own], zxid, "right")
        return self.writes.place_at(own[place]) if place < len(own) else None


@dataclass(frozen=True)
class Gathered:
    """A log taken apart: what is common, and the streams by their names."""

    common: Common
    streams: "Evidences"


class Kept(NamedTuple):
    """What the evidence of one stream is made of: its name, the znodes of its topics at first, and its writes."""

    name: str
    nodes: dict[str, Znode]
    pieces: Pieces

    def evidence(self, common: Common) -> Evidence:
        """The evidence, which holds all writes of the stream."""
        return Evidence(self.name, common, self.nodes, self.pieces.read(common.members))

    @property
    def size(self) -> tuple[int, int]:
        """A measure of the work that it takes to explain the stream."""
        return len(self.pieces.stored), len(self.pieces.rest)


class Evidences(Mapping):
    """The evidence of each stream, put together whenever it is asked for. `kept`: what it is made of."""

    def __init__(self, common: Common, kept: list[Kept], directory: TemporaryDirectory | None):
        self.kept = {each.name: each for each in kept}
        self._common, self._directory = common, directory

    def __getitem__(self, name: str) -> Evidence:
        return self.kept[name].evidence(self._common)

    def __iter__(self) -> Iterator[str]:
        return iter(self.kept)

    def __len__(self) -> int:
        return len(self.kept)
