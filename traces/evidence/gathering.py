"""Takes a log apart: what all streams share, and the writes of each."""

from array import array
from collections import defaultdict

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.columns import Rows, distinct, groups
from kafkaproof.traces.evidence.choices import Census, Choice
from kafkaproof.traces.evidence.cluster_inputs import CommonInputs
from kafkaproof.traces.evidence.controllers import Controllers
from kafkaproof.traces.evidence.failures import Failures
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.evidence.kept_writes import Shelf
from kafkaproof.traces.evidence.registrations import Registrations
from kafkaproof.traces.evidence.streams import Common, Evidences, Gathered, Kept
from kafkaproof.traces.evidence.subjects import Subjects, subjects_of
from kafkaproof.traces.evidence.terms import Terms
from kafkaproof.traces.evidence.writes import Form, Write, writes_of
from kafkaproof.traces.reading.cluster import Members, below
from kafkaproof.traces.reading.current_states import Standing
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.reading.state_records import StateWrite, StateWrites
from kafkaproof.traces.reading.sweep import Listener
from kafkaproof.traces.zookeeper.snapshot import Znode
from kafkaproof.traces.zookeeper.transactions import Check, CreateSession, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.contents import state_in
from kafkaproof.traces.zookeeper.znodes.topics import NO_NUMBER, OUTSIDE, PlaceKind, place_of


class Gathering(Listener):
    """Takes a log apart that is swept: collects what streams share, and the writes of each. `gathered`: all of it.

    What was written while the snapshot was taken is not judged: what stood before is unknown. A state that ZooKeeper
    cannot have written tells nothing of others.
    """

    gathered: Gathered

    def __init__(self, recording: Recording, features: Features, members: Members, root: str):
        self._recording, self._features, self._members, self._root = recording, features, members, root

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
        writes = list(
            writes_of(transaction, self._members, self._root, self._latest.get(transaction.session, 0), self._count + 1)
        )
        if all(write.place.number != NO_NUMBER for write in writes) and len(writes) == sum(
            type(operation) is not Check for operation in transaction.operations
        ):
            self.inputs.last_time = transaction.time
        else:
            self.controllers.add(transaction)
            self.registrations.add(transaction)
            self.inputs.add(transaction, self._tree)
            for operation in transaction.operations:
                if isinstance(operation, CreateSession):
                    self.timeouts[transaction.session] = operation.timeout
        self._count += len(writes)
        self._now = {}
        for write in writes:
            if write.checked:
                self._latest[write.session] = write.zxid
            if write.place != OUTSIDE and not (contradictions and write.place.kind == PlaceKind.STATE):
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
        found = Write(
            zxid,
            time,
            session,
            self._members.broker_of.get(session),
            Form.SET,
            write.path,
            place,
            write.data,
            write.checked,
            previous,
            self._count,
        )
        self._now = {}
        if not contradictions:
            self._choose(found)
        self._shelf.add(place.topic, found)

    def states_written(self, writes: StateWrites) -> None:
        """Go on by many such records."""
        self.inputs.last_time = int(writes.times[-1])
        sessions = np.unique(writes.sessions, return_inverse=True)[1]
        self._shelf.add_states(writes, self._previous(writes, sessions), self._count + 1)
        self._count += len(writes)
        removes = writes.removes
        rows = np.flatnonzero(writes.elects | removes)
        epochs, leaders = writes.states.controller_epochs[rows], writes.names.leaders[writes.states.held[rows]]
        leaders = np.where(removes[rows], NOBODY, leaders)
        whom = (np.unique(each, return_inverse=True)[1] for each in (epochs, leaders))
        first, codes = distinct(sessions[rows], *whom)
        choices = [
            Choice((epoch, session), leader, None)
            for epoch, session, leader in zip(
                epochs[first].tolist(), writes.sessions[rows[first]].tolist(), leaders[first].tolist()
            )
        ]
        self._choices.extend(writes.zxids[rows], (codes, choices))

    def _previous(self, writes: StateWrites, sessions: np.ndarray) -> np.ndarray:
        """The zxid of the checked write before each that is checked, of its session; 0 for the others."""
        found, checked = np.zeros(len(writes), np.int64), np.flatnonzero(writes.checked)
        for rows in (checked[each] for each in groups(sessions[checked])):
            session = int(writes.sessions[rows[0]])
            found[rows[1:]], found[rows[0]] = writes.zxids[rows[:-1]], self._latest.get(session, 0)
            self._latest[session] = int(writes.zxids[rows[-1]])
        return found

    def _note(self, write: Write) -> None:
        """Collect what a write tells all streams."""
        kind, deleted = write.place.kind, write.form == Form.DELETE
        if kind == PlaceKind.STATE:
            self._choose(write)
        elif kind == PlaceKind.REASSIGN:
            self._requests.append(write)
        elif kind == PlaceKind.ISR_CHANGE and not deleted:
            self._told[write.broker].append(write.zxid)
        if deleted and write.place.in_topic:
            self._deleters.add(write.session)

    def _choose(self, write: Write) -> None:
        """Note whom a write of a partition's state chooses."""
        after = None if write.form == Form.DELETE else state_in(write.data)
        before = self._now[write.path] if write.path in self._now else self._standing.at(self._root + write.path)
        self._now[write.path] = after
        if after is None:
            return
        term_key = after.controller_epoch, write.session
        if before is None or after.leader != before.leader:
            self._choices.append(write.zxid, Choice(term_key, after.leader, after.isr if before is None else None))
        elif after.leader_epoch > before.leader_epoch and after.isr != before.isr:
            self._choices.append(write.zxid, Choice(term_key, NOBODY, None))

    def end(self) -> None:
        """Put the writes into their streams."""
        self._shelf.close()
        complete = self._recording.start.last_processed_zxid if self._recording.start else 0
        common = self._common(self._features, complete)
        common.census.add(self._choices)
        nodes: dict[str, dict[str, Znode]] = defaultdict(dict)
        for path, node in self._before.items():
            if topic := (place_of(path) or OUTSIDE).topic:
                nodes[common.subjects.of_topic(topic)][path] = node
        listed = {
            path: node
            for path, node in self._before.items()
            if (place_of(path) or OUTSIDE).kind in (PlaceKind.REASSIGN, PlaceKind.PREFERRED)
        }
        names = common.subjects.names(self._shelf.names)
        kept = [
            Kept(name, nodes.get(name, {}) | listed, self._shelf.pieces(names.get(name, ())))
            for name in sorted(names.keys() | nodes.keys())
        ]
        self.gathered = Gathered(common, Evidences(common, kept, self._shelf.kept))

    def _common(self, features: Features, complete: int) -> Common:
        """What was collected; `complete`: the last zxid before the records that count."""
        terms = Terms(self.controllers.all, complete, self.sessions & self._members.broker_of.keys())
        together = () if features.kip455 else self.inputs.topics_requested()
        return Common(
            self._members,
            features,
            self.controllers,
            self.registrations,
            terms,
            self.inputs,
            self.failures,
            self.sessions,
            self.timeouts,
            frozenset(self._deleters),
            self._requests if features.kip455 else [],
            dict(self._told),
            Subjects(together),
            Census(self.inputs.departures, terms.ends),
            not self._recording.gaps,
        )
