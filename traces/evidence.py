"""What a log shows, stream by stream: what all of them share, and what is written in each."""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from spec.language.domains import NOBODY
from traces.census import Census, Choice
from traces.cluster import Members, below
from traces.common import CommonInputs
from traces.election.controllers import Controllers
from traces.facts.registrations import Registrations
from traces.failures import Failures
from traces.features import Features, find_features
from traces.partitions.changes import Changes
from traces.partitions.inputs import Inputs
from traces.partitions.leaving import Leaving
from traces.partitions.views import Views
from traces.pipeline.columns import Rows
from traces.pipeline.shelf import Pieces, Shelf
from traces.pipeline.standing import Standing
from traces.pipeline.states import StateWrite, StateWrites
from traces.pipeline.sweep import Listener
from traces.recording import Recording
from traces.reigns import Reigns, Terms
from traces.subjects import Subjects, subjects_of
from traces.topics.world import World
from traces.writes import Write, writes_of
from traces.znodes.contents import state_in
from traces.znodes.places import place_of
from traces.zookeeper.snapshot import Znode
from traces.zookeeper.transactions import Check, CreateSession, Transaction
from traces.zookeeper.tree import Tree

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


class Gathering(Listener):
    """Takes a log apart that is swept: collects what streams share, and the writes of each. `gathered`: all of it.

    What was written while the snapshot was taken is not judged: what stood before is unknown.
    """

    gathered: Gathered

    def __init__(self, recording: Recording, variant: str, members: Members, root: str):
        self._recording, self._variant, self._members, self._root = recording, variant, members, root

    def begin(self, tree: Tree, standing: Standing) -> None:
        """Begin with what there is in a tree."""
        members, root, self._tree, self._standing = self._members, self._root, tree, standing
        self._before = {known: node for path, node in tree.nodes.items() if place_of(known := below(root, path) or "")}
        self.controllers, self.registrations = Controllers(members, root, tree.nodes), Registrations(root, tree.nodes)
        self.inputs, self.failures = CommonInputs(root, tree), Failures()
        self.timeouts, self.sessions = dict(tree.sessions), frozenset(tree.sessions)
        self._shelf, self._count = Shelf(), 0
        self._requests, self._deleters, self._told = [], set(), defaultdict(lambda: array("q"))
        self._choices = Rows("qr")
        self._latest: dict[int, int] = {}

    def after(self, transaction: Transaction, contradictions: tuple[str, ...]) -> None:
        """Go on by a record."""
        if transaction.failed:
            self.failures.add(transaction)
            return
        writes = list(writes_of(transaction, self._members, self._root, self._latest.get(transaction.session, 0),
                                self._count + 1))
        if all(write.place and write.place.number is not None for write in writes) and len(writes) == sum(
                type(operation) is not Check for operation in transaction.operations):
            self.inputs.last_time = transaction.time
        else:
            self.controllers.add(transaction)
            self.registrations.add(transaction)
            self.inputs.add(transaction, self._tree)
            self.timeouts |= {transaction.session: o.timeout for o in transaction.operations
                              if isinstance(o, CreateSession)}
        self._count += len(writes)
        self._now = {}
        for write in writes:
            if write.checked:
                self._latest[write.session] = write.zxid
            if write.place:
                self._note(write)
            for subject in subjects_of(write):
                self._shelf.add(subject, write)

    def state_written(self, write: StateWrite, contradictions: tuple[str, ...]) -> None:
        """Go on by a record that sets a partition's state."""
        transaction, place = write.transaction, write.place
        zxid, time, session = transaction.zxid, transaction.time, transaction.session
        self._count += 1
        previous = self._latest.get(session, 0) if write.checked else 0
        if write.checked:
            self._latest[session] = zxid
        self.inputs.last_time = time
        found = Write(zxid, time, session, self._members.broker_of.get(session), "set", write.path, place, write.data,
                      write.checked, previous, self._count)
        self._now = {}
        self._choose(found)
        self._shelf.add(place.topic, found)

    def states_written(self, writes: StateWrites) -> None:
        """Go on by many such records."""
        self.inputs.last_time = int(writes.times[-1])
        sessions, places = np.unique(writes.sessions, return_inverse=True)
        self._shelf.add_states(writes, self._previous(writes, sessions.tolist(), places), self._count + 1)
        self._count += len(writes)
        rows = np.flatnonzero(writes.elects)
        epochs, leaders = writes.states.controller_epochs[rows], writes.names.leaders[writes.states.held[rows]]
        chosen, codes = np.unique(np.stack([epochs, places[rows], leaders]), axis=1, return_inverse=True)
        choices = [Choice((epoch, int(sessions[place])), leader, None) for epoch, place, leader in chosen.T.tolist()]
        self._choices.columns[0].frombytes(writes.zxids[rows].tobytes())
        self._choices.columns[1].extend(codes.ravel(), choices)

    def _previous(self, writes: StateWrites, sessions: list[int], places: np.ndarray) -> np.ndarray:
        """The zxid of the checked write before each that is checked, of its session; 0 for the others."""
        found = np.zeros(len(writes), np.int64)
        for place, session in enumerate(sessions):
            rows = np.flatnonzero(writes.checked & (places == place))
            if len(rows):
                found[rows[1:]], found[rows[0]] = writes.zxids[rows[:-1]], self._latest.get(session, 0)
                self._latest[session] = int(writes.zxids[rows[-1]])
        return found

    def _note(self, write: Write) -> None:
        """Collect what a write tells all streams."""
        kind, deleted = write.place.kind, write.form == "delete"
        if kind == "state":
            self._choose(write)
        elif kind == "reassign":
            self._requests.append(write)
        elif kind == "isr_change" and not deleted:
            self._told[write.broker].append(write.zxid)
        if deleted and write.place.in_topic:
            self._deleters.add(write.session)

    def _choose(self, write: Write) -> None:
        """Note whom a write of a partition's state chooses."""
        after = None if write.form == "delete" else state_in(write.data)
        before = self._now[write.path] if write.path in self._now else self._standing.at(self._root + write.path)
        self._now[write.path] = after
        if after and (before is None or after.leader != before.leader):
            reign = after.controller_epoch, write.session
            self._choices.append(write.zxid, Choice(reign, after.leader, after.isr if before is None else None))

    def end(self) -> None:
        """Put the writes into their streams."""
        self._shelf.close()
        complete = self._recording.start.last_processed_zxid if self._recording.start else 0
        common = self._common(find_features(self._recording, self._variant, self._root), complete)
        common.census.add(self._choices)
        nodes: dict[str, dict[str, Znode]] = defaultdict(dict)
        for path, node in self._before.items():
            if topic := place_of(path).topic:
                nodes[common.subjects.of_topic(topic)][path] = node
        listed = {path: node for path, node in self._before.items() if place_of(path).kind in ("reassign", "preferred")}
        names = common.subjects.names(self._shelf.names)
        kept = [Kept(name, nodes.get(name, {}) | listed, self._shelf.pieces(names.get(name, ())))
                for name in sorted(names.keys() | nodes.keys())]
        self.gathered = Gathered(common, Evidences(common, kept, self._shelf.kept))

    def _common(self, features: Features, complete: int) -> Common:
        """What was collected; `complete`: the last zxid before the records that count."""
        terms = Terms(self.controllers.all, complete, self.sessions & self._members.broker_of.keys())
        together = () if features.kip455 else self.inputs.topics_requested()
        return Common(
            self._members, features, self.controllers, self.registrations, terms, self.inputs, self.failures,
            self.sessions, self.timeouts, frozenset(self._deleters), self._requests if features.kip455 else [],
            dict(self._told), Subjects(together), Census(self.inputs.departures, terms.ends))
