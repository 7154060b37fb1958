"""A counterexample that `kafkaproof check` has found, as a real cluster is driven along it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from kafkaproof.impl.harness.conducting.counterexample import CLUSTER, as_named_today, read_result, shortest_of
from kafkaproof.impl.harness.conducting.replica_messages import said_to
from kafkaproof.impl.harness.driving.cluster import Size
from kafkaproof.impl.harness.real.deposed import Deposed, deposed_in
from kafkaproof.impl.harness.real.moves import HEARD, Wanted, frames_of, is_known
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.cluster import control, faults
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.language.domains import NOBODY, Scope
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.plain import Plain, copied, new_state, values_of
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.steps import Step, parse_step
from kafkaproof.spec.partition import failover
from kafkaproof.spec.topics.steps import CHECK, REMOVE_REPLICA

DRIVEN = ("election", "partition", "topics", CLUSTER)
"""The systems along whose counterexamples real brokers are driven."""
SESSION = 120.0
"""No session ends by itself while steps are taken, in seconds."""
PATIENT: dict[str, object] = {
    "replica.lag.time.max.ms": 10_000,
    "controller.socket.timeout.ms": 600_000,
    "replica.socket.timeout.ms": 600_000,
    "request.timeout.ms": 600_000,
    "controlled.shutdown.max.retries": 10,
    "controlled.shutdown.retry.backoff.ms": 1000,
}
"""The properties of brokers that wait for what is held on their links, and shrink an ISR late."""
WHEN_LEFT = ("may_go_when_followed",)
"""The properties of brokers that shut down, asked when these have gone. Their lasso is followed once."""


@dataclass(frozen=True)
class Behaviour:
    """Steps to a violation of the property `violated`, and the state that each of them leads to; `initial` is the
    first.

    `release`: the release of Kafka whose brokers take them.
    """

    model: Model
    scope: Scope
    violated: str
    initial: Plain
    steps: list[Step]
    states: list[Plain]
    release: str

    @property
    def size(self) -> Size:
        """The cluster that it is a behaviour of, with one broker more where one must come and go."""
        brokers = self.scope["brokers"]
        return Size(
            brokers + self.needs_spare,
            self.scope.get("replicas", brokers),
            partitions=self.scope.get("partitions", 1),
            min_isr=self.scope.get("min_isr", 1),
            release=self.release,
            recorded=False,
            session_timeout=SESSION,
        )

    @property
    def properties(self) -> dict[str, object]:
        """What the brokers' configuration must have: while frames wait for their steps nobody may give up."""
        return PATIENT if self.has_planes else {}

    @property
    def starts_brokers(self) -> bool:
        """Whether brokers start in its steps; all of them run before the first step otherwise, and have a topic."""
        return not hasattr(self.initial.zk, "assignments")

    @property
    def has_planes(self) -> bool:
        """Whether its steps are of logs and clients, too."""
        return self.model.system == CLUSTER

    @cached_property
    def deposed(self) -> list[Deposed]:
        """The controllers that act after they were deposed."""
        return deposed_in([self.initial, *self.states], self.steps)

    @property
    def needs_spare(self) -> bool:
        """Whether a broker without a replica must come and go, or stand in as a controller."""
        return bool(self.stands_in) or any(each.lists for each in self.deposed)

    @property
    def spare(self) -> int:
        """The number of that broker, which the specification does not have."""
        return self.scope["brokers"]

    @cached_property
    def stands_in(self) -> int | None:
        """The first step in which a process begins while there is no controller: a real one would stand for election
        first.

        Right before, the spare broker is elected, and gets no further. None where there are no data planes, for which
        a process must have begun.
        """
        before = [self.initial, *self.states]
        return next(
            (
                number
                for number, step in enumerate(self.steps, 1)
                if self.has_planes
                and step.name == faults.restart.__name__
                and before[number - 1].zk.controller == NOBODY
            ),
            None,
        )

    def besides(self, number: int) -> list[str]:
        """What is done besides from step `number` on, in words."""
        found = []
        for each in self.deposed:
            if each.since == number:
                word = f"broker {self.spare}, which has no replica, is killed or started first; " if each.lists else ""
                found.append(
                    f"besides: {word}from now on what controller {each.broker} reads of /controller is held, "
                    "since it does not know yet that it rules no more"
                )
        if number == self.stands_in:
            found.append(
                f"besides: broker {self.spare} is elected first, and what it asks then is held: a process that "
                "begins while nobody rules stands for election before it serves anybody"
            )
        return found

    def frames(self, number: int) -> list[Wanted]:
        """The frames of step `number`, without those that Kafka knows to be needless.

        A controller that finds a replica outside the ISR writes nothing; one that has cancelled a reassignment does
        not look whether that is over (KafkaController.isReassignmentComplete).
        """
        step, after = self.steps[number - 1], self.states[number - 1]
        before = self.states[number - 2] if number > 1 else self.initial
        found = frames_of(step)
        if step.name in (CHECK, REMOVE_REPLICA):
            p = step.arguments["p"]
            if before.zk.partitions[p].leader_epoch == after.zk.partitions[p].leader_epoch:
                found = found[:1]
            assigned = before.brokers[step.arguments["b"]].controller.partitions[p]
            if step.name == CHECK and not (assigned.adding or assigned.removing):
                found = found[1:]
        return found

    def told(self, number: int) -> dict[str, object]:
        """What LeaderAndIsr says that step `number` handles: leader, leader epoch, and to the leader the ISR."""
        step = self.steps[number - 1]
        if not self.has_planes or step.name != control.leader_and_isr.__name__:
            return {}
        return said_to(self.states[number - 2] if number > 1 else self.initial, step)

    def obeys(self, number: int) -> bool:
        """Whether a broker learns something from step `number`."""
        broker = self.steps[number - 1].arguments["b"]
        before = self.states[number - 2] if number > 1 else self.initial
        return values_of(before.brokers[broker]) != values_of(self.states[number - 1].brokers[broker])

    def obeys_later(self, number: int, broker: int, epoch: int) -> bool:
        """Whether the process of a broker is to obey, in step `number` or later, a controller of an earlier epoch."""
        for step in self.steps[number - 1 :]:
            if step.arguments.get("b") == broker and step.name == control.leader_and_isr.__name__:
                if step.arguments["epoch"] < epoch:
                    return True
            elif step.arguments.get("b") == broker and step.name == faults.restart.__name__:
                return False
        return False

    @property
    def assignments(self) -> list[list[int]]:
        """The replicas of each partition at first, the preferred one first."""
        return replicas_in(self.initial.zk)


def replicas_in(zk: Plain) -> list[list[int]]:
    """The replicas of each partition that there is in a ZooKeeper of the specification, the preferred one first."""
    return [list(each.slots[: each.length]) for each in zk.assignments if each.length]


def read_behaviour(directory: Path, release: str, wanted: str | None = None) -> Behaviour:
    """The counterexample of a run: that of the property `wanted`, or the shortest.

    Raises UserError where there is none, where it is of another version of the specification, and where nothing is
    known of what one of its steps is outside.
    """
    result = read_result(directory)
    shortest = shortest_of(directory, result, wanted, may_stand=True, rounds=WHEN_LEFT)
    if shortest["property"] is None:
        raise UserError(
            f"{directory}: the path violates nothing, and --kafka shows a violation; our own brokers take it"
        )
    model, scope = find(result["system"], result["variant"])[0], result["scope"]
    steps = [as_named_today(model, parse_step(text)) for text in shortest["trace"]]
    for number, step in enumerate(steps, 1):
        if not is_known(step):
            raise UserError(f"{directory}: step {number}, {step}: nothing is known of what it is outside of a process")
    if model.system not in DRIVEN:
        raise UserError(f"{directory}: {model.system} is not driven: {', '.join(DRIVEN)} are")
    for arguments in Transition(model.initial).choices(scope):
        initial = new_state(model.state, scope)
        model.initial(initial, *arguments)
        if states := followed(model, initial, steps):
            steps, states = _postponed(model, initial, steps, states)
            found = Behaviour(model, scope, shortest["property"], initial, steps, states, release)
            _check_stand_in(directory, found)
            return found
    raise UserError(
        f"{directory}: its steps are not those of {model.system}, {model.variant}; the run is of another "
        "version of the specification"
    )


def _check_stand_in(directory: Path, found: Behaviour) -> None:
    """Raise UserError where somebody is elected after a broker that stands in."""
    for number, step in enumerate(found.steps, 1):
        if found.stands_in and number > found.stands_in and step.name == failover.elect.__name__:
            raise UserError(
                f"{directory}: step {number}, {step}: cannot be forced, since in step {found.stands_in} a "
                "process begins while nobody rules, which real brokers do not"
            )


def answered(model: Model, initial: Plain, steps: list[Step]) -> list[Step]:
    """The same steps, all enabled, each with the answer that the specification gives there."""
    answers: list[int] = []

    def watched(seam):
        def ask(*arguments):
            answers.append(seam(*arguments))
            return answers[-1]

        return ask

    seams, state, found = {seam: watched(seam) for seam in model.seams}, copied(initial), []
    for step in steps:
        answers.clear()
        transition = model.transition(step.transition)
        rebind(transition.function, seams)(state, *(step.arguments[name] for name in transition.arguments))
        found.append(replace(step, answer=model.answers[answers[-1]] if answers else None))
    return found


def followed(model: Model, initial: Plain, steps: list[Step]) -> list[Plain] | None:
    """The states that steps lead to, None where one is not enabled."""
    state, found = copied(initial), []
    for step in steps:
        try:
            transition = model.transition(step.transition)
            arguments = [step.arguments[name] for name in transition.arguments]
        except KeyError:
            return None
        if not transition.function(state, *arguments):
            return None
        found.append(copied(state))
    return found


def _postponed(model: Model, initial: Plain, steps: list[Step], states: list[Plain]) -> tuple[list[Step], list[Plain]]:
    """The same steps, each that brokers hear of at once as late as may be, so that the end is the same state; and the
    states that they lead to.
    """
    for place in reversed(range(len(steps))):
        if steps[place].name not in HEARD:
            continue
        others = steps[:place] + steps[place + 1 :]
        for later in range(len(others), place, -1):
            tried = others[:later] + [steps[place]] + others[later:]
            found = followed(model, initial, tried)
            if found and values_of(found[-1]) == values_of(states[-1]):
                steps, states = tried, found
                break
    return steps, states
