"""What a log shows, stream by stream: what all of them share, and what is written in each."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import NamedTuple

from spec.language.domains import NOBODY
from traces.census import Census
from traces.cluster import Members
from traces.common import CommonInputs
from traces.election.controllers import Controllers
from traces.facts.registrations import Registrations
from traces.failures import Failures
from traces.features import Features
from traces.partitions.changes import Changes
from traces.partitions.inputs import Inputs
from traces.partitions.leaving import Leaving
from traces.partitions.views import Views
from traces.pipeline.shelf import Pieces
from traces.reigns import Reigns, Terms
from traces.subjects import Subjects
from traces.topics.world import World
from traces.writes import Write
from traces.zookeeper.snapshot import Znode

_END = 1 << 64


@dataclass(frozen=True)
class Common:
    """What all streams of a log share: who ruled, what could be read, whom controllers chose.

    `sessions`: those that were open before the first record that counts; `timeouts`: how long each session lasts
    unheard, in ms; `deleters`: the sessions that delete znodes of topics; `requests`: the writes of
    /admin/reassign_partitions, which are in every stream from 2.4 on; `told`: the zxids at which each broker told of
    ISRs.
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

    def __init__(self, name: str, common: Common, nodes: dict[str, Znode], writes: Iterable[Write]):
        """`nodes`: the znodes of the stream's topics before the first record, by their paths as brokers know them."""
        self.name, self.common, self.features, self.controllers = name, common, common.features, common.controllers
        self.failures, self.sessions, self.timeouts = common.failures, common.sessions, common.timeouts
        self.reigns, self.inputs = Reigns(common.terms), Inputs(common.inputs, nodes.items())
        self.changes, self.world, self.nodes, self.writes = Changes(nodes), World(nodes), nodes, list(writes)
        self.leaving, self.views = common.leaving, common.views
        self._checked: dict[int, list[Write]] = defaultdict(list)
        for write in self.writes:
            if write.place and write.place.kind == "state":
                self.changes.add(write)
            else:
                self.inputs.note(write.zxid, write.path, None if write.form == "delete" else write.data or b"")
            if write.checked:
                self._checked[write.session].append(write)

    @cached_property
    def brokers(self) -> set[int]:
        """The ids of all brokers of the stream: registered, assigned, asked for, leaders or members of an ISR."""
        states = [state for change in self.changes.all for state in (change.before, change.after) if state]
        named = {broker for state in states for broker in (state.leader, *state.isr)}
        return (self.common.inputs.all_brokers() | self.inputs.assigned_brokers() | named) - {NOBODY}

    def owns(self, topic: str) -> bool:
        """Whether a topic is one of the stream's."""
        return self.common.subjects.of_topic(topic) == self.name

    @property
    def end(self) -> Write:
        """A write after all others, by nobody."""
        return Write(_END, self.common.inputs.last_time, 0, None, "end", "", None, None, False)

    def next_checked(self, session: int, zxid: int) -> Write | None:
        """The next write of a session in this stream that was checked against the epoch: its controller's next step."""
        own = self._checked[session]
        place = bisect_right(own, zxid, key=lambda write: write.zxid)
        return own[place] if place < len(own) else None


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
        return len(self.pieces.groups), len(self.pieces.rest)


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
