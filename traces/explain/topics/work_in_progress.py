"""What a controller is in the middle of: one handler runs to its end before the next write of its thread."""

from collections.abc import Callable, Iterable

from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.deletion.state import (
    DELETING_CONFIG,
    DELETING_LEFTOVERS,
    DELETING_MARKER,
    DELETING_STATES,
    DELETING_TOPIC,
)
from kafkaproof.spec.partition.phases.lists import delete_listed
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.topic_trees import TopicTree
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.explain.partitions.topic_steps import Scene, Step, TopicSteps, copied
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.topics import Place, PlaceKind, text_of

ORDERED = 4
"""Up to so many replicas a union of old and new ones keeps their order (2.3 and before): Scala's small sets do."""


_DELETING = (DELETING_STATES, DELETING_TOPIC, DELETING_CONFIG, DELETING_MARKER, DELETING_LEFTOVERS)


class Reassigning:
    """A controller looks at a partition that is being reassigned: the states of the specification that it may be in.

    `begun`: the zxid of its last write before; `optional`: what it wrote first may have been something else as well.
    """

    def __init__(self, steps: TopicSteps, partition: Partition, begun: int, states: list[Plain]):
        self._steps, self.partition, self.begun, self._states = steps, partition, begun, states
        self.optional = False
        self._next: tuple[Scene | None, list[Step | None]] = None, []

    @property
    def text(self) -> str:
        """What it is, in words."""
        return "the reassignment of {}-{}".format(*self.partition)

    def next_steps(self, scene: Scene) -> list[Step | None]:
        """The writes that may come next, and None where the handler may be at its end."""
        if self._next[0] is not scene:
            self._next = scene, [step for s in self.states(scene) for step in self._steps.next_writes(s, scene)]
        return self._next[1]

    def states(self, scene: Scene) -> list[Plain]:
        """The states that it may be in, with the partition's state as ZooKeeper has it."""
        found = [copied(s) for s in self._states]
        for s in found:
            self._steps.refresh(s, scene.state, scene.epoch)
        return found

    def take(self, scene: Scene, written: Assignment | Elected | None) -> list[Step]:
        """The steps that write this; the handler goes on from them."""
        taken = [step for step in self.next_steps(scene) if step and self._same(step.written, written)]
        if taken:
            self._states, self._next = [step.after for step in taken], (None, [])
        return taken

    def may_end(self, scene: Scene) -> bool:
        """Whether nothing more need come."""
        return None in self.next_steps(scene)

    def awaits_list(self, scene: Scene) -> bool:
        """Whether all that is left is to take the request out of the list."""
        steps = self.next_steps(scene)
        return bool(steps) and all(step and step.name == delete_listed.__name__ for step in steps)

    def allowed(self, scene: Scene) -> str:
        """What may come next, in words."""
        name = "{}-{}".format(*self.partition)
        return " or ".join(dict.fromkeys(step_text(step, name) for step in self.next_steps(scene)))

    def _same(self, expected: Assignment | Elected | None, written: Assignment | Elected | None) -> bool:
        if expected == written or self._steps.kip455 or not isinstance(expected, Assignment):
            return expected == written
        if not isinstance(written, Assignment) or len(expected.replicas) <= ORDERED:
            return False
        return set(expected.replicas) == set(written.replicas) and not written.adding and not written.removing


class Completing:
    """A controller deletes all that there is of a topic: child first, then the configuration and the marker."""

    def __init__(self, steps: TopicSteps, topic: str, numbers: Iterable[int], exists: bool):
        """`numbers`: of its partitions; `exists`: its controller knows it."""
        self.topic, self._steps, self._exists = topic, steps, exists
        self._places = {number: place for place, number in enumerate(sorted(numbers))}
        self._state = steps.completing(max(len(self._places), 1) if exists else 0)
        self._open: int | None = None
        self._taken: list[Place] = []

    @classmethod
    def of(cls, steps: TopicSteps, topic: str, tree: TopicTree) -> "Completing":
        """The deletion of all that there is of a topic."""
        numbers = {*(tree.topic.partitions if tree.topic else ()), *tree.partitions, *tree.states}
        return cls(steps, topic, numbers, tree.since is not None)

    def of_few(self, most: int) -> "Completing":
        """The same of so many of its partitions at most: one that is gone, and of the others the first."""
        begun = [place.number for place in self._taken if place.number in self._places]
        rest = [number for number in self._places if number not in begun]
        few = Completing(self._steps, self.topic, [*begun[-1:], *rest][:most], self._exists)
        for place in self._taken:
            if place.number in few._places or place.number not in self._places:
                few.take(place)
        return few

    @property
    def text(self) -> str:
        """What it is, in words."""
        return f"the deletion of {self.topic}"

    @property
    def state(self) -> Plain:
        """The state that it is in."""
        return self._state

    def next_places(self, tree: TopicTree) -> list[Place]:
        """What may be deleted next; nothing at the end."""
        doing = self._doing
        if doing is None:
            return []
        if self._open in tree.partitions:
            return [Place(PlaceKind.PARTITION, self.topic, self._open)]
        if doing in (DELETING_STATES, DELETING_TOPIC):
            states = [Place(PlaceKind.STATE, self.topic, number) for number in sorted(tree.states)]
            empty = [Place(PlaceKind.PARTITION, self.topic, n) for n in sorted(tree.partitions) if n not in tree.states]
            if states or empty:
                return states + empty
            if tree.directory:
                return [Place(PlaceKind.DIRECTORY, self.topic)]
            if tree.since is not None:
                return [Place(PlaceKind.TOPIC, self.topic)]
        if doing != DELETING_MARKER and tree.config:
            return [Place(PlaceKind.CONFIG, self.topic)]
        return [Place(PlaceKind.MARKER, self.topic)] if tree.marked is not None else []

    def take(self, place: Place) -> None:
        """Go on behind a deletion."""
        self._taken.append(place)
        if place.kind == PlaceKind.STATE:
            self._open = place.number
            self._step(deletion.delete_state, self._places.get(place.number, 0))
        elif place.kind == PlaceKind.PARTITION and self._open != place.number:
            self._step(deletion.delete_state, self._places.get(place.number, 0))
        if place.kind in (PlaceKind.TOPIC, PlaceKind.CONFIG, PlaceKind.MARKER):
            for each in self._places.values() or (0,):
                self._step(deletion.delete_state, each)
            self._step(deletion.delete_topic)
        if place.kind in (PlaceKind.CONFIG, PlaceKind.MARKER):
            self._step(deletion.delete_config)
        if place.kind == PlaceKind.MARKER:
            self._step(deletion.delete_marker)
            self._step(deletion.delete_leftovers)

    def allowed(self, tree: TopicTree) -> str:
        """What may come next, in words."""
        return " or ".join(f"delete {place_text(place)}" for place in self.next_places(tree)) or "anything"

    @property
    def _doing(self) -> int | None:
        doing = self._state.brokers[0].controller.doing
        return doing if doing in _DELETING else None

    def _step(self, transition: Callable, *arguments: int) -> None:
        """A transition of the controller, unless another controller has left it nothing to do."""
        self._steps.take(transition, self._state, *arguments)


class Listing:
    """A controller that has finished a reassignment (2.4+) takes it out of /admin/reassign_partitions, which exists."""

    def __init__(self, partition: Partition, target: tuple[int, ...]):
        self.partition, self.target = partition, target

    @property
    def text(self) -> str:
        """What it is, in words."""
        return "taking {}-{} out of /admin/reassign_partitions".format(*self.partition)


Work = Reassigning | Completing | Listing


def step_text(step: Step | None, name: str) -> str:
    """A step in words."""
    if step is None:
        return "anything"
    if isinstance(step.written, Assignment):
        return f"{step.name}: assignment of {name} {text_of(step.written)}"
    if isinstance(step.written, Elected):
        return f"{step.name}: state of {name} leader {step.written.leader}, ISR {sorted(step.written.isr)}"
    return f"{step.name}: {name} out of /admin/reassign_partitions"


def place_text(place: Place) -> str:
    """The path of a topic's znode."""
    base = f"/brokers/topics/{place.topic}"
    paths = {
        PlaceKind.TOPIC: base,
        PlaceKind.DIRECTORY: f"{base}/partitions",
        PlaceKind.PARTITION: f"{base}/partitions/{place.number}",
        PlaceKind.STATE: f"{base}/partitions/{place.number}/state",
        PlaceKind.CONFIG: f"/config/topics/{place.topic}",
        PlaceKind.MARKER: f"/admin/delete_topics/{place.topic}",
    }
    return paths[place.kind]
