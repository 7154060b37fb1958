"""Drives brokers that do as they like along a counterexample, step by step: real ones, or ours.

What the specification gives a step to do is held on the brokers' links until that step comes; faults are done. What a
broker does beyond it, and only reads, is let through and told.
"""

from __future__ import annotations

import time

from kazoo.exceptions import EXCEPTIONS, BadVersionError

from impl.conducting.conductor import Departs
from impl.driving.acts import KAFKA, ZOOKEEPER
from impl.driving.cluster import Cluster, wait_until
from impl.driving.watch import Watcher
from impl.links.passed import ANSWER, REQUEST
from impl.links.rules import DROP, HOLD, NOTICE, Frame, Rule, fits
from impl.real.behaviour import Behaviour
from impl.real.deeds import Deeds
from impl.real.moves import ALWAYS_HELD, ASKS, IN_TURN, LIST, READ, Wanted, frames_of, name_of
from impl.real.outside import differences, seen_of, wanted_of
from impl.zookeeper.requests import CODES
from impl.zookeeper.znodes import State
from spec.errors import Unfinished
from spec.language.plain import Plain
from spec.language.steps import Step
from spec.zookeeper import ANSWERED, LOST_APPLIED, Answer

WAIT, SOON, SETTLES, LOOK = 90.0, 3.0, 20.0, 0.02
"""How long a frame is waited for, in seconds, how long before what is read besides is let through, how long ZooKeeper
may take to hold what the specification has in the end, and how often is looked.
"""


class Along:
    """Takes the steps of a counterexample in a cluster whose brokers do as they like, and tells of them."""

    def __init__(self, cluster: Cluster, watcher: Watcher, behaviour: Behaviour):
        self._cluster, self._watcher, self._behaviour = cluster, watcher, behaviour
        self._steps = behaviour.steps
        self._held: dict[tuple[str, int], list[Rule]] = {}
        self._answers: dict[int, Rule] = {}
        self._deeds = Deeds(cluster)
        self._ruled: dict[int, int] = {}
        self._done: set[int] = set()
        for broker in range(cluster.size.brokers):
            apis = {*IN_TURN, *(wanted.pattern["api"] for wanted in self._wanted(KAFKA, broker))}
            self._held[ZOOKEEPER, broker] = [cluster.links[broker].add(Rule(HOLD, *ALWAYS_HELD, times=None))]
            inner = cluster.inner.get(broker)
            rule = Rule(HOLD, {"part": REQUEST, "api": "|".join(sorted(apis))}, times=None)
            self._held[KAFKA, broker] = [inner.add(rule)] if inner else []
            self._answers[broker] = cluster.links[broker].add(Rule(NOTICE, {"part": ANSWER}, times=None))

    def _wanted(self, link: str, broker: int) -> list[Wanted]:
        """The frames of all steps on a link."""
        return [each for step in self._steps for each in frames_of(step) if (each.link, each.broker) == (link, broker)]

    def await_started(self, *brokers: int) -> None:
        """Wait until brokers are registered; from then on what they read is held, too, until its step comes."""
        self._cluster.await_that(lambda: all(self._cluster.owner(b) is not None for b in brokers),
                                 "the brokers are registered")
        for broker in brokers:
            patterns = [wanted.pattern for wanted in self._wanted(ZOOKEEPER, broker)]
            rule = self._cluster.links[broker].add(Rule(HOLD, *patterns, times=None))
            self._held[ZOOKEEPER, broker] = [self._held[ZOOKEEPER, broker][0], rule]

    def take_all(self) -> None:
        """Take all steps; raises Departs where Kafka goes otherwise, and Unfinished where a step does not come."""
        for number, (step, state) in enumerate(zip(self._steps, self._behaviour.states), 1):
            self._cluster.check()
            answer = step.answer if number in self._done else self._take(number, step, state)
            shown = Step(step.transition, step.arguments, answer)
            self._watcher.say(f"{number:3}  {shown}", step=str(shown))
            self._watcher.look(self._cluster)
            if step.answer not in (None, answer) and frames_of(step):
                raise Departs(f"step {number}, {step}: the answer is {answer}")

    def compare_end(self) -> None:
        """Compare what ZooKeeper holds with what the specification has in the end; raises Departs."""
        if not wait_until(lambda: not differences(self._behaviour, self._cluster), SETTLES):
            raise Departs(f"in the end {'; '.join(differences(self._behaviour, self._cluster))}")

    def let_all_go(self) -> None:
        """Hold nothing any more."""
        for (link, broker), rules in self._held.items():
            self._cluster.link_of(broker, link).remove(*rules)

    def _take(self, number: int, step: Step, state: Plain) -> str | None:
        name, fate = name_of(step), step.arguments.get("fate", ANSWERED)
        if name in ("alter_partition", "change_isr"):
            self._deeds.bring_isr_about(step.arguments["p"], step.arguments["isr"])
        if not (found := frames_of(step)):
            self._do(step, state)
            return step.answer
        for wanted in found[:-1]:
            answer = self._let(step, wanted, ANSWERED)
            if answer not in (None, "OK", step.answer) or answer == step.answer == "FENCED":
                return answer
        if self._asks(number):
            self._await(step, found[-1])
            for later in self._asks(number):
                self._deeds.do(self._steps[later - 1], self._behaviour.states[later - 1])
                self._done.add(later)
        answer = self._let(step, found[-1], fate)
        if answer == "OK":
            self._compare(step, found[-1], state)
        if name == "elect":
            self._ruled[max(self._ruled, default=0) + 1] = step.arguments["b"]
            self._refuse_others(found[-1])
        return answer

    def _asks(self, number: int) -> list[int]:
        """The steps right behind one by which an administrator asks a controller that is still at that one."""
        found = []
        while number < len(self._steps) and name_of(self._steps[number]) in ASKS:
            number += 1
            found.append(number)
        return found

    def _compare(self, step: Step, wanted: Wanted, state: Plain) -> None:
        """Compare what a step has written to a partition's state with what the specification writes."""
        frame = next((each for each in reversed(self._answers[wanted.broker].taken) if fits(
            each.said, {**wanted.pattern, "part": ANSWER})), None) if wanted.link == ZOOKEEPER else None
        written = frame and _written(frame.said)
        if written is None:
            return
        expected = wanted_of(state.zk.partitions[step.arguments["p"]])
        if written != expected:
            raise Departs(f"{step}: it writes {written}, and the specification {expected}")

    def _refuse_others(self, wanted: Wanted) -> None:
        """Let those go that stood for election, too, so that they do what else a broker does."""
        for broker in range(self._cluster.size.brokers):
            for frame in self._held_now(wanted._replace(broker=broker)):
                if fits(frame.said, wanted.pattern):
                    frame.let_go()

    def _do(self, step: Step, state: Plain) -> None:
        """Do what is a deed; a new process reads what it likes until it is registered."""
        broker = step.arguments.get("b")
        if name_of(step) != "restart":
            self._deeds.do(step, state)
            return
        always, *others = self._held[ZOOKEEPER, broker]
        self._cluster.links[broker].remove(*others)
        self._held[ZOOKEEPER, broker] = [always]
        self._deeds.do(step, state)
        self.await_started(broker)

    def _let(self, step: Step, wanted: Wanted, fate: int) -> str | None:
        """Let the frame of a step through, or lose it; the answer, where ZooKeeper gives one."""
        frame = self._await(step, wanted)
        if wanted.link == KAFKA:
            frame.let_go()
            return None
        answers, link = self._answers[wanted.broker], self._cluster.links[wanted.broker]
        number = len(answers.taken)
        if not fits(frame.said, wanted.pattern):
            frame.let_go()
            answer = self._answer(step, wanted._replace(pattern=wanted.before), number)
            return self._let(step, wanted, fate) if answer in ("OK", "NODEEXISTS") else answer
        if fate == LOST_APPLIED:
            lost = Rule(DROP, {**wanted.pattern, "part": ANSWER})
            link.rules = [lost, *link.rules]
            frame.let_go()
            if not lost.await_taken(WAIT):
                raise Unfinished(f"{step}: ZooKeeper did not answer in {WAIT:.0f} seconds")
            return "LOST"
        if fate != ANSWERED:
            frame.drop()
            return "LOST"
        frame.let_go()
        return self._answer(step, wanted, number)

    def _answer(self, step: Step, wanted: Wanted, number: int) -> str:
        pattern = {**wanted.pattern, "part": ANSWER}
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            for frame in self._answers[wanted.broker].taken[number:]:
                if fits(frame.said, pattern):
                    return _named(frame.said)
            time.sleep(LOOK)
        raise Unfinished(f"{step}: ZooKeeper did not answer in {WAIT:.0f} seconds")

    def _await(self, step: Step, wanted: Wanted) -> Frame:
        """The frame that a step stands for, as soon as it is held; whatever is only read before it is let through."""
        until, begun = time.monotonic() + WAIT, time.monotonic()
        while time.monotonic() < until:
            self._cluster.check()
            for frame in self._held_now(wanted):
                if fits(frame.said, wanted.pattern) or wanted.before and fits(frame.said, wanted.before):
                    return frame
            if time.monotonic() > begun + SOON:
                self._let_reads_go(wanted)
            time.sleep(LOOK)
        others = "; ".join(_words(frame.said) for frame in self._held_now(wanted)) or "nothing"
        raise Departs(f"{step}: waited {WAIT:.0f} seconds for {wanted.text}; it does {others}")

    def _let_reads_go(self, wanted: Wanted) -> None:
        """Let through what the sender of a frame reads besides, and waits for."""
        reader = self._ruled.get(wanted.sender) if wanted.link == KAFKA else wanted.broker
        for rule in self._held.get((ZOOKEEPER, reader), ()):
            for frame in rule.held:
                if fits(frame.said, {"operation": f"{READ}|{LIST}"}):
                    self._watcher.say(f"     besides, broker {reader}: {_words(frame.said)}", besides=frame.said)
                    frame.let_go()

    def _held_now(self, wanted: Wanted) -> list[Frame]:
        return [frame for rule in self._held[wanted.link, wanted.broker] for frame in rule.held]


def _written(said) -> dict | None:
    """Leader, ISR and leader epoch of a state that a frame writes, None where it writes none."""
    for operation in said.get("operations", [said]):
        if operation.get("path", "").endswith("/state") and "data" in operation:
            return seen_of(State.decode(operation["data"]))
    return None


def _named(said) -> str:
    """What the specification calls an answer."""
    if said.get("failed") == 0 and said["operations"][0]["operation"] == "check":
        if said["error"] == BadVersionError.code:
            return "FENCED"
    if said["error"] == 0:
        return "OK"
    code = CODES.get(EXCEPTIONS[said["error"]])
    return str(said["error"]) if code is None else Answer.names[code]


def _words(said) -> str:
    """A frame in words."""
    operations = said.get("operations", [said])
    last = operations[-1]
    return f"{last.get('operation') or last.get('api')} {last.get('path', '')}".strip()
