"""What each broker may be doing: the sets of local states that explain a log so far.

The log determines what ZooKeeper holds; what a broker believes, and how far it is in an election, is
hidden. A broker's step touches its own state and what ZooKeeper holds, never another broker's, so the
states of a cluster are the product of one set a broker. A set is closed under *hidden* steps: reads, events that are
handled, the notice that a session is over, crashes, errors that force a resignation, requests that an
expired session cannot make any more, and at the start of a term the deletion of notifications that do not exist.
"""

from collections.abc import Iterable
from typing import NamedTuple

from kafkaproof.spec.election import election, faults, session
from kafkaproof.spec.election.active_controller import clean, delete_own_controller, write_state, write_when_asked
from kafkaproof.spec.election.broker_state import CLEANING
from kafkaproof.spec.election.history import legacy
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_APPLIED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.steps import names
from kafkaproof.traces.explain.election.single_steps import (
    ME,
    OTHER,
    ElectionSteps,
    Local,
    Outcome,
    Scene,
    renamed_scene,
)

LIMIT = 5_000
_LOGGED = names(
    session.start,
    session.reopen,
    faults.stop,
    faults.expire_session,
    faults.expire_orphan,
    session.register_broker,
    session.die,
    legacy.create,
    legacy.raise_epoch,
    election.found_epoch,
    election.register,
    clean,
    write_state,
    write_when_asked,
    legacy.delete_any_controller,
    delete_own_controller,
)
"""The transitions that a log shows."""


class Shared(NamedTuple):
    """What the log says of /controller (a broker's id or None) and /controller_epoch (-1: there is none)."""

    controller: int | None = None
    epoch: int = -1
    version: int = 0


class Candidate(NamedTuple):
    """A transition that may explain a record, and the answer that it must get (None: it asks nothing)."""

    name: str
    answer: str | None

    @property
    def text(self) -> str:
        """The step as text, without its arguments: ``register -> NODEEXISTS``."""
        return self.name if self.answer is None else f"{self.name} -> {self.answer}"


class Explanation(NamedTuple):
    """One way in which a record may have come about: the step, the broker's state before it, and the outcome."""

    candidate: Candidate
    before: Local
    outcome: Outcome


class Undecided(Exception):
    """A set of possibilities grew above LIMIT; the text says which."""


def own_steps(steps: ElectionSteps) -> list[str]:
    """The transitions that a broker may take by itself, shown by a log or hidden."""
    return [name for name in steps.names if set(steps.arguments(name)) in ({"b"}, {"b", "delivery"})]


class Possibilities:
    """For each broker the set of its possible local states; `shared` is what all see."""

    def __init__(self, steps: ElectionSteps, brokers: Iterable[int], shared: Shared):
        self.steps = steps
        self.shared = shared
        self.sets: dict[int, frozenset[Local]] = {b: frozenset({steps.down}) for b in brokers}
        self._tried = own_steps(steps)
        self.logged = [name for name in steps.names if name in _LOGGED]
        self._next: dict[tuple[Local, Scene], set[Local]] = {}
        self._closed: dict[tuple[frozenset[Local], Scene], frozenset[Local]] = {}
        for broker in self.sets:
            self.close(broker)

    def scene(self, broker: int, state_epoch: int = 0) -> Scene:
        """What is shared, as `broker` sees it from its seat."""
        controller = {None: NOBODY, broker: ME}.get(self.shared.controller, OTHER)
        return Scene(controller, self.shared.epoch, self.shared.version, state_epoch)

    def close(self, broker: int) -> None:
        """Add all that hidden steps lead to; raises Undecided."""
        scene, states = self.scene(broker), self.sets[broker]
        if (states, scene) in self._closed:
            self.sets[broker] = self._closed[states, scene]
            return
        found = set(states)
        waiting = list(found)
        while waiting:
            new = self._hidden_from(waiting.pop(), scene) - found
            found |= new
            waiting += new
            if len(found) > LIMIT:
                raise Undecided(f"more than {LIMIT} possible states of broker {broker}")
        closed = frozenset(found)
        self.sets[broker] = self._closed[states, scene] = self._closed.setdefault((closed, scene), closed)

    def _hidden_from(self, local: Local, scene: Scene) -> set[Local]:
        """What one hidden step leads to; computed once for all states that are alike but for their epochs."""
        names = self.steps.names_of(local, scene)
        key = self.steps.renamed(local, names.small), renamed_scene(scene, names.small)
        if key not in self._next:
            taken = ((name, self.steps.take(name, ANSWERED, *key)) for name in self._tried)
            self._next[key] = {out.local for name, out in taken if out and self._is_hidden(name, key[0], out)}
        return {self.steps.renamed(after, names.real) for after in self._next[key]}

    def _is_hidden(self, name: str, local: Local, outcome: Outcome) -> bool:
        if name not in _LOGGED or outcome.answer == "EXPIRED":
            return True
        begins = name == clean.__name__ and self.steps.field(local, "doing") == CLEANING
        return begins and outcome.answer == "OK"

    def outcomes(
        self, broker: int, candidates: Iterable[Candidate], after: Shared, state_epoch: int = 0, term: int | None = None
    ) -> list[Explanation]:
        """All ways in which the broker may have taken one of the steps, got its answer and left `after`.

        `state_epoch`: that of the partition which is written; `term`: the controller epoch that was written.
        """
        found = []
        for candidate in candidates:
            if not self.steps.has(candidate.name):
                continue
            for local, scene in self.readied(broker, candidate.name, state_epoch):
                outcome = self.steps.take(candidate.name, ANSWERED, local, scene)
                if outcome is None or outcome.answer != candidate.answer or term not in (None, outcome.term):
                    continue
                if self.absolute(broker, outcome.scene) == after:
                    found.append(Explanation(candidate, local, outcome))
        return found

    def readied(self, broker: int, name: str, state_epoch: int):
        """The local states to try a step from; a partition may have been read just before it is written."""
        scene = self.scene(broker, state_epoch)
        for local in self.sets[broker]:
            yield local, scene
            if name in names(write_state, write_when_asked):
                yield local, self.steps.after_reading(local, scene)

    def absolute(self, broker: int, scene: Scene) -> Shared:
        """What is shared after a step that a broker took from its seat."""
        controller = {NOBODY: None, ME: broker, OTHER: self.shared.controller}[scene.controller]
        return Shared(controller, scene.epoch, scene.version)

    def settle(self, broker: int, found, after: Shared, unchanged: Iterable[Local] = ()) -> None:
        """Go on with the outcomes found for a broker (and with states that stay as they are).

        An answer may be lost, or come later than the next request of a pipeline: to the broker that is the same.
        """
        locals_after = set(unchanged)
        for candidate, local, outcome in found:
            locals_after.add(outcome.local)
            if candidate.answer is not None and "delivery" in self.steps.arguments(candidate.name):
                scene = self.scene(broker)._replace(state_epoch=outcome.scene.state_epoch)
                lost = self.steps.take(candidate.name, LOST_APPLIED, local, scene)
                assert lost is not None  # a step that is enabled is so whatever becomes of its request
                locals_after.add(lost.local)
        if found and after != self.shared:
            self._tell_others(broker, *found[0])
        self.sets[broker] = frozenset(locals_after)
        self._see(after, broker)

    def _tell_others(self, broker: int, candidate: Candidate, local: Local, outcome: Outcome) -> None:
        """Let the step fire the watches of the other brokers."""
        for other, states in self.sets.items():
            if other != broker:
                seen = (self.steps.take(candidate.name, ANSWERED, local, self.scene(broker), s) for s in states)
                self.sets[other] = frozenset(out.other for out in seen if out)

    def settle_operator(self, name: str, after: Shared) -> bool:
        """A step of an operator, such as the deletion of /controller by hand; False when it is not allowed."""
        results = {}
        for broker, states in self.sets.items():
            outcomes = [self.steps.take(name, ANSWERED, local, self.scene(broker)) for local in states]
            if not all(out and self.absolute(broker, out.scene) == after for out in outcomes):
                return False
            results[broker] = frozenset(out.local for out in outcomes if out)
        self.sets = results
        self._see(after)
        return True

    def unregister(self, broker: int) -> None:
        """Somebody deletes /brokers/ids/b by hand: no step of the election system, but it frees the id."""
        self.sets[broker] = frozenset(self.steps.unregistered(local) for local in self.sets.get(broker, ()))

    def _see(self, after: Shared, broker: int | None = None) -> None:
        """Close the sets again: all of them when what they share has changed."""
        changed = after != self.shared
        if after.version != self.shared.version:
            self.steps.forget()
            self._closed.clear()
            for each, states in self.sets.items():
                self.sets[each] = frozenset(self.steps.aged(local, after.version) for local in states)
        self.shared = after
        for each in self.sets:
            if changed or each == broker:
                self.close(each)
