"""What a log shows, stream by stream: what all of them share, and what is written in each."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from spec.language.domains import NOBODY
from traces.census import Census
from traces.cluster import Members, below
from traces.common import CommonInputs
from traces.controllers import Controllers
from traces.facts.registrations import Registrations
from traces.failures import Failures
from traces.features import Features, find_features
from traces.partitions.changes import Changes
from traces.partitions.inputs import Inputs
from traces.partitions.leaving import Leaving
from traces.recording import Recording
from traces.reigns import Reigns, Terms
from traces.subjects import Subjects
from traces.topics.world import World
from traces.transactions import CreateSession
from traces.writes import Write, writes_of
from traces.znodes import place_of
from traces.zookeeper_snapshot import Znode
from traces.zookeeper_tree import Tree

_END = 1 << 64


@dataclass(frozen=True)
class Common:
    """What all streams of a log share: who ruled, what could be read, whom controllers chose.

    `sessions`: those that were open before the first record that counts; `timeouts`: how long each session lasts
    unheard, in ms; `deleters`: the sessions that delete znodes of topics; `requests`: the writes of
    /admin/reassign_partitions, which are in every stream from 2.4 on; `told`: the zxids at which each broker told of
    ISRs.
    """

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
    told: dict[int | None, list[int]]
    subjects: Subjects
    census: Census


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
        self.leaving = Leaving(common.inputs.departures, common.inputs.last_time, common.census)
        self._checked: dict[int, list[Write]] = defaultdict(list)
        for write in self.writes:
            self.inputs.note(write.zxid, write.path, None if write.form == "delete" else write.data or b"")
            self.changes.add(write)
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
    streams: dict[str, Evidence]


def gather(recording: Recording, variant: str, members: Members, root: str) -> Gathered:
    """Take a recording apart into its streams.

    What was written while the snapshot was taken is not judged: what stood before is unknown.
    """
    tree = Tree(recording.start)
    complete = recording.start.last_processed_zxid if recording.start else 0
    for transaction in recording.transactions:
        if transaction.zxid <= complete:
            tree.apply(transaction)
    collected = _Collected(members, root, tree)
    before = {known: node for path, node in tree.nodes.items() if place_of(known := below(root, path) or "")}
    for transaction in recording.transactions:
        if transaction.zxid > complete:
            collected.add(transaction)
    features = find_features(recording, variant, root)
    common = collected.common(features, complete)
    writes, nodes = defaultdict(list), defaultdict(dict)
    for write in collected.writes:
        for subject in common.subjects.of(write):
            writes[subject].append(write)
    listed = {path: node for path, node in before.items() if place_of(path).kind in ("reassign", "preferred")}
    for path, node in before.items():
        if topic := place_of(path).topic:
            nodes[common.subjects.of_topic(topic)][path] = node
    streams = {name: Evidence(name, common, nodes[name] | listed, writes[name])
               for name in sorted(writes.keys() | nodes.keys())}
    for evidence in streams.values():
        common.census.add(evidence.changes.all)
    return Gathered(common, streams)


class _Collected:
    """Collects in one pass what streams share, and the writes."""

    def __init__(self, members: Members, root: str, tree: Tree):
        self._members, self._root, self._tree = members, root, tree
        self.controllers, self.registrations = Controllers(members, root, tree.nodes), Registrations(root, tree.nodes)
        self.inputs, self.failures = CommonInputs(root, tree), Failures()
        self.timeouts, self.sessions = dict(tree.sessions), frozenset(tree.sessions)
        self.writes: list[Write] = []
        self._latest: dict[int, int] = {}

    def add(self, transaction) -> None:
        """Go on by a record."""
        if transaction.failed:
            self.failures.add(transaction)
            return
        self._tree.apply(transaction)
        self.controllers.add(transaction)
        self.registrations.add(transaction)
        self.inputs.add(transaction, self._tree)
        for write in writes_of(transaction, self._members, self._root):
            if write.checked:
                write = write._replace(previous=self._latest.get(write.session, 0))
                self._latest[write.session] = write.zxid
            self.writes.append(write)
        self.timeouts |= {transaction.session: o.timeout for o in transaction.operations
                          if isinstance(o, CreateSession)}

    def common(self, features: Features, complete: int) -> Common:
        """What was collected; `complete`: the last zxid before the records that count."""
        terms = Terms(self.controllers.all, complete, self.sessions & self._members.broker_of.keys())
        deleters = {w.session for w in self.writes if w.form == "delete" and w.place and w.place.in_topic}
        requests = [w for w in self.writes if w.place and w.place.kind == "reassign"]
        told = defaultdict(list)
        for write in self.writes:
            if write.form != "delete" and write.place and write.place.kind == "isr_change":
                told[write.broker].append(write.zxid)
        together = () if features.kip455 else self.inputs.topics_requested()
        return Common(
            features, self.controllers, self.registrations, terms, self.inputs, self.failures, self.sessions,
            self.timeouts, frozenset(deleters), requests if features.kip455 else [],
            told, Subjects(together), Census(self.inputs.departures, terms.ends))
