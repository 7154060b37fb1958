"""Single steps of the election system, executed for one broker and seen by another.

A transition of a broker reads and writes what is its own and, through ZooKeeper, what all share; on other
brokers it only fires watches. So a cluster of any size is followed with states of two seats: the broker
that acts, and one other. What is a broker's own is a `Local`; what the log determines is a `Scene`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.model.refusals import Refusal
from kafkaproof.spec.election.faults import edit_epoch
from kafkaproof.spec.kafka.zookeeper import ABSENT, ANSWERED, ORPHAN, read_state
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Model, Property
from kafkaproof.spec.language.plain import Plain, values_of
from kafkaproof.spec.language.sets import contains, only
from kafkaproof.traces.explain.election.epoch_names import Names

ME, OTHER = 0, 1
_NUMBERED = ("epoch", "epoch_version", "read_epoch", "read_version", "seen_epoch", "applied")
_SCOPE = {"brokers": 2, "receivers": 1, "epochs": 1, "faults": 1}
_LOGGED = (
    "one_owner",
    "epoch_unique",
    "no_stale_write",
    "deletes_own",
    "epoch_bound",
    "epoch_node",
    "state_epoch_never_falls",
)
"""The properties that a log decides: they speak of ZooKeeper and of writes, not of what brokers believe."""

Local = tuple[int, ...]
"""The values of brokers[b], of zk.clients[b], and whether /controller belongs to an orphan of b."""


class Scene(NamedTuple):
    """What the brokers share: whose /controller is, /controller_epoch, and the partition that is written."""

    controller: int  # NOBODY, ME or OTHER
    epoch: int
    version: int
    state_epoch: int = 0
    reader: bool = False


class Outcome(NamedTuple):
    """What a step did: to the broker, to the other seat, to what is shared; and what it breaks.

    `term`: the epoch in which the broker takes itself for the controller before it, 0 for none.
    """

    local: Local
    other: Local
    scene: Scene
    answer: str | None
    term: int
    broken: frozenset[str]


class ElectionSteps:
    """Executes the transitions of one variant; every step is computed once, whatever its epochs are called."""

    def __init__(self, model: Model):
        self.model = model
        self._execution = Execution(model, {name: _SCOPE[name] for name in model.scope})
        self._transitions = {t.function.__name__: t for t in model.transitions}
        self._blank = self._execution.initial_states()[0]
        self._known: dict[tuple, Outcome | None] = {}
        self._named: dict[tuple, Outcome | None] = {}
        self._read: dict[tuple[Local, Scene], Scene] = {}
        self._latest: tuple[tuple, Plain] | None = None
        names = (*_names(self._blank.brokers[ME]), *(f"client.{n}" for n in _names(self._blank.zk.clients[ME])))
        self._place = {name: place for place, name in enumerate(names)}
        self._numbered = [place for name, place in self._place.items() if name.rpartition(".")[2] in _NUMBERED]
        self.properties = logged_properties(model)
        self.down = self._local(self._blank, ME)

    @property
    def names(self) -> list[str]:
        """The names of all transitions."""
        return list(self._transitions)

    def arguments(self, name: str) -> list[str]:
        """The names of the arguments of a transition."""
        return list(self._transitions[name].arguments)

    def has(self, name: str) -> bool:
        """Whether the variant has a transition of this name."""
        return name in self._transitions

    def field(self, local: Local, name: str) -> int:
        """A field of the broker, or with `client.` before its name of what ZooKeeper holds for it."""
        return local[self._place[name]]

    def has_session(self, local: Local) -> bool:
        """Whether the broker has a process whose session is open."""
        return bool(self.field(local, "client.session"))

    def orphaned(self, local: Local) -> bool:
        """Whether a session of a former process of the broker still owns something."""
        return bool(local[-1]) or self.field(local, "client.registered") == ORPHAN

    def aged(self, local: Local, version: int) -> Local:
        """The same state, with a read of /controller_epoch that is older than two elections made two elections old.

        Both are answered alike by everything. Without this, sets would grow with every election.
        """
        epoch, read = self._place["read_epoch"], self._place["read_version"]
        gap = version - 2 - local[read]
        if gap <= 0 or not local[epoch]:
            return local
        values = list(local)
        values[epoch] += gap
        values[read] += gap
        return tuple(values)

    def unregistered(self, local: Local) -> Local:
        """The same state after /brokers/ids/b was deleted by hand."""
        values = list(local)
        values[self._place["client.registered"]] = ABSENT
        return tuple(values)

    def take(self, name: str, delivery: int, local: Local, scene: Scene, other: Local | None = None) -> Outcome | None:
        """The step of a broker, None when the transition is not enabled."""
        key = (name, delivery, local, scene, other)
        if key not in self._known:
            self._known[key] = self._take_named(*key)
        return self._known[key]

    def _take_named(self, name, delivery, local, scene, other):
        """The same step where epochs have other names, with the real ones put back."""
        names = self.names_of(local, scene, other or ())
        key = (
            name,
            delivery,
            self.renamed(local, names.small),
            renamed_scene(scene, names.small),
            other and self.renamed(other, names.small),
        )
        if key not in self._named:
            self._named[key] = self._take(*key)
        outcome = self._named[key]
        return outcome and outcome._replace(
            local=self.renamed(outcome.local, names.real),
            other=self.renamed(outcome.other, names.real),
            scene=renamed_scene(outcome.scene, names.real),
            term=names.real(outcome.term),
        )

    def names_of(self, local: Local, scene: Scene, other: Local = ()) -> Names:
        """Other names for all epochs and versions; their own where an operator may write any epoch."""
        values = self.epochs_in([part for part in (local, other) if part], scene)
        return Names(range(-1, max(values) + 1) if self.has(edit_epoch.__name__) else values)

    def epochs_in(self, locals: Iterable[Local], scene: Scene) -> list[int]:
        """All epochs and versions in some local states, and in what is shared."""
        own = [local[place] for local in locals for place in self._numbered]
        return [*own, scene.epoch, scene.version, scene.state_epoch]

    def renamed(self, local: Local, name: Callable[[int], int]) -> Local:
        """A local state with other names for its epochs."""
        values = list(local)
        for place in self._numbered:
            values[place] = name(values[place])
        return tuple(values)

    def _take(self, name, delivery, local, scene, other):
        state = self._before(local, scene, other)
        transition = self._transitions[name]
        values = {"b": ME, "delivery": delivery}
        arguments = tuple(values[argument] for argument in transition.arguments)
        after = self._execution.after(state, transition, arguments)
        if after is None:
            return None
        answer = self._execution.step(transition, arguments).answer
        broken = frozenset() if other else self._broken(state, after)
        return Outcome(
            self._local(after, ME), self._local(after, OTHER), _scene(after), answer, state.brokers[ME].epoch, broken
        )

    def refusal(self, name: str, local: Local, scene: Scene) -> Refusal | None:
        """The guard by which the transition refuses a broker, None where it does not."""
        transition = self._transitions[name]
        values = {"b": ME, "delivery": ANSWERED}
        arguments = tuple(values[argument] for argument in transition.arguments)
        return self._execution.refusal(self._state(local, scene, None), transition, arguments)

    def after_reading(self, local: Local, scene: Scene) -> Scene:
        """The scene after the broker has read the partition state, with the specification's request for it.

        A model of one partition reads it when a term begins and when a write finds another version; a real
        controller reads each of many before it writes. The read leaves no trace in a log.
        """
        key = local, scene
        if key not in self._read:
            state = self._state(local, scene, None)
            read_state(state.zk, ME, state.brokers[ME].epoch)
            self._read[key] = _scene(state)
        return self._read[key]

    def forget(self) -> None:
        """Drop the steps that were computed: those of another epoch never come again."""
        self._known.clear()
        self._read.clear()

    def _before(self, *parts) -> Plain:
        """The state before a step, kept for the next one: many are tried from each state."""
        if self._latest is None or self._latest[0] != parts:
            self._latest = parts, self._state(*parts)
        return self._latest[1]

    def judge(self, before: Scene, after: Scene) -> frozenset[str]:
        """The ids of the properties that a write outside the election system breaks."""
        scenes = (scene._replace(controller=NOBODY) for scene in (before, after))
        return self._broken(*(self._state(self.down, scene, None) for scene in scenes))

    def _broken(self, before: Plain, after: Plain) -> frozenset[str]:
        return frozenset(
            name
            for name, p in self.properties.items()
            if not (p.predicate(before, after) if p.kind == "step" else p.predicate(after))
        )

    def _state(self, local, scene, other) -> Plain:
        state = self._blank.copy()
        for seat, own in ((ME, local), (OTHER, other or self.down)):
            values = iter(own)
            _fill(state.brokers[seat], values)
            _fill(state.zk.clients[seat], values)
            if scene.controller == seat:
                state.zk.controller_orphaned = next(values)
        zk = state.zk
        if other is None:
            zk.clients[OTHER].session = 1
        zk.controller, zk.epoch, zk.epoch_version, zk.state_epoch = scene[:4]
        zk.state_readers = only(ME) if scene.reader else 0
        return state

    def together(self, scope: Mapping[str, int], locals: Sequence[Local], scene: Scene) -> Plain:
        """A state of all brokers, each with one of its local states; `scene.controller` is the seat of one of them."""
        state = Execution(self.model, scope).initial_states()[0]
        zk = state.zk
        zk.controller, zk.epoch, zk.epoch_version, zk.state_epoch = scene[:4]
        for seat, own in enumerate(locals):
            values = iter(own)
            _fill(state.brokers[seat], values)
            _fill(zk.clients[seat], values)
            if scene.controller == seat:
                zk.controller_orphaned = next(values)
        return state

    def _local(self, state: Plain, seat: int) -> Local:
        orphaned = state.zk.controller_orphaned if state.zk.controller == seat else 0
        return (*values_of(state.brokers[seat]), *values_of(state.zk.clients[seat]), orphaned)


def logged_properties(model: Model) -> dict[str, Property]:
    """The properties of a model that a log decides, by their ids."""
    return {identity(p): p for p in model.properties if p.name in _LOGGED}


def identity(prop: Property) -> str:
    """The id of a property that its text names (C4), else the property's name."""
    found = re.search(r"\((C\d+)\)", prop.text)
    return found[1] if found else prop.name


def renamed_scene(scene: Scene, name: Callable[[int], int]) -> Scene:
    """A scene with other names for its epochs."""
    return scene._replace(epoch=name(scene.epoch), version=name(scene.version), state_epoch=name(scene.state_epoch))


def _scene(state: Plain) -> Scene:
    zk = state.zk
    return Scene(zk.controller, zk.epoch, zk.epoch_version, zk.state_epoch, contains(zk.state_readers, ME))


def _names(record: Plain) -> Iterator[str]:
    """Names of the leaves of a record, in the order of `values_of`."""
    for name in record.__slots__:
        part = getattr(record, name)
        yield from (f"{name}.{inner}" for inner in _names(part)) if isinstance(part, Plain) else (name,)


def _fill(record: Plain, values: Iterator[int]) -> None:
    """Set the leaves of a record, in the order of `values_of`."""
    for name in record.__slots__:
        part = getattr(record, name)
        if isinstance(part, Plain):
            _fill(part, values)
        else:
            setattr(record, name, next(values))
