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
from impl.real.misled import Misled
from impl.real.moves import (
    ALWAYS_HELD, ANY, ASKS, CONTROLLER, CREATE, IN_TURN, LIST, OF_DATA, PROPOSALS, READ, Wanted, answer_to, frames_of, name_of, proposal_of,
)
from impl.real.outside import differences, epoch_in, error_in, isr_proposed, seen_of, told_in, wanted_of
from impl.real.records import Clients
from impl.zookeeper.requests import CODES
from impl.zookeeper.znodes import State
from spec.errors import Unfinished
from spec.language.plain import Plain, ids_in
from spec.language.steps import Step
from spec.zookeeper import ANSWERED, LOST_APPLIED, Answer

WAIT, SOON, SETTLES, LOOK = 90.0, 3.0, 20.0, 0.02
ANSWERED_AT_ONCE = ("leader_and_isr", "serve_fetch", "refuse_isr")
"""How long a frame is waited for, in seconds, how long before what is read besides is let through, how long ZooKeeper
may take to hold what the specification has in the end, and how often is looked; the steps whose answer is awaited.
"""


class Along:
    """Takes the steps of a counterexample in a cluster whose brokers do as they like, and tells of them."""

    def __init__(self, cluster: Cluster, watcher: Watcher, behaviour: Behaviour):
        self._cluster, self._watcher, self._behaviour = cluster, watcher, behaviour
        self._steps = behaviour.steps
        self._held: dict[tuple[str, int], list[Rule]] = {}
        self._answers: dict[int, Rule] = {}
        self._deeds, self._misled = Deeds(cluster), Misled(cluster, behaviour)
        self._ruled: dict[int, int] = {}
        self._ended: set[int] = set()
        self._done: set[int] = set()
        for broker in range(cluster.size.brokers):
            self._held[ZOOKEEPER, broker] = [cluster.links[broker].add(Rule(HOLD, *ALWAYS_HELD, times=None))]
            self._held[KAFKA, broker] = [cluster.inner[broker].add(rule) for rule in self._kafka_rules(broker)
                                         if broker in cluster.inner]
            self._answers[broker] = cluster.links[broker].add(Rule(NOTICE, {"part": ANSWER}, times=None))

    def _kafka_rules(self, broker: int) -> list[Rule]:
        """What is held of all that others ask a broker, and of what it answers; errors say nothing that has a step."""
        apis = {*IN_TURN, *(wanted.pattern["api"] for wanted in self._wanted(KAFKA, broker))}
        if not self._behaviour.has_planes:
            return [Rule(HOLD, {"part": REQUEST, "api": "|".join(sorted(apis))}, times=None)]
        answers, told = {"part": ANSWER, "api": "|".join(OF_DATA)}, {"part": ANSWER, "api": "LeaderAndIsr"}
        return [Rule(HOLD, {"part": REQUEST, "api": "|".join(sorted(apis.union(OF_DATA)))}, times=None),
                Rule(NOTICE, answers | {"error_code": "-?[1-9].*"}, told, times=None), Rule(HOLD, answers, times=None)]

    @property
    def clients(self) -> Clients:
        """The producer and the consumer that have taken steps."""
        return self._deeds.clients

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
        """Take all steps; raises Departs where Kafka goes otherwise, and Unfinished where a step cannot be forced."""
        for number, (step, state) in enumerate(zip(self._steps, self._behaviour.states), 1):
            self._cluster.check()
            self._misled.prepare(number)
            try:
                answer = step.answer if number in self._done else self._take(number, step, state)
            except Unfinished as error:
                raise Unfinished(f"could not be forced: step {number}, {step}: {error}") from None
            except Departs as departs:
                raise Departs(f"step {number}, {departs}") from None
            shown = Step(step.transition, step.arguments, answer)
            self._watcher.say(f"{number:3}  {shown}", step=str(shown))
            self._watcher.look(self._cluster)
            if step.answer not in (None, answer):
                raise Departs(f"step {number}, {step}: the answer is {answer}")

    def compare_end(self) -> None:
        """Compare what ZooKeeper holds with what the specification has in the end; raises Departs."""
        if not wait_until(lambda: not differences(self._behaviour, self._cluster), SETTLES):
            raise Departs(f"in the end {'; '.join(differences(self._behaviour, self._cluster))}")

    def let_all_go(self) -> None:
        """Hold nothing any more; what controllers have sent that rule no more, and was not delivered, is lost."""
        self._misled.end()
        for broker, link in self._cluster.links.items():
            link.remove(*self._held[ZOOKEEPER, broker])
        if self._behaviour.has_planes:
            wait_until(lambda: self._cluster.controller() is not None and all(
                frame.is_stale for frame in self._outdated()), SETTLES)
            for frame in self._outdated():
                frame.drop()
        for broker, link in self._cluster.inner.items():
            link.remove(*self._held[KAFKA, broker])

    def _outdated(self) -> list[Frame]:
        """What is still held of controllers that were followed by others, or whose connections have gone."""
        epoch = epoch_in(self._cluster)
        return [frame for (link, _), rules in self._held.items() if link == KAFKA for rule in rules
                for frame in rule.undecided if frame.is_stale or frame.said.get("controller_epoch", epoch) < epoch]

    def _take(self, number: int, step: Step, state: Plain) -> str | None:
        name, fate = name_of(step), step.arguments.get("fate", ANSWERED)
        if name in ("alter_partition", "change_isr") and not self._behaviour.has_planes:
            self._deeds.bring_isr_about(step.arguments["p"], step.arguments["isr"])
        if name in PROPOSALS:
            self._await_proposal(step, state)
        if not (found := frames_of(step)):
            return self._do(step, state)
        for wanted in found[:-1]:
            answer = self._let(step, wanted, ANSWERED)
            if answer not in (None, "OK", step.answer) or answer == step.answer == "FENCED":
                return answer
        last = found[-1]._replace(said=self._behaviour.told(number))
        if self._asks(number):
            self._await(step, last)
            for later in self._asks(number):
                self._deeds.do(self._steps[later - 1], self._behaviour.states[later - 1])
                self._done.add(later)
        answer = self._let(step, last, fate)
        if answer == "OK":
            self._compare(step, last, state)
            if name == "alter_partition" and self._behaviour.has_planes:
                self._await(step, answer_to(step))
        if name == "elect":
            self._ruled[max(self._ruled, default=0) + 1] = step.arguments["b"]
        return answer

    def _await_proposal(self, step: Step, state: Plain) -> None:
        """Wait until a leader proposes an ISR, and compare it with the specification's."""
        proposed = isr_proposed(self._await(step, proposal_of(step)).said)
        plane = state.planes[step.arguments["p"]]
        if proposed != (expected := ids_in(plane.brokers[step.arguments["b"]].pending)):
            raise Departs(f"{step}: it proposes the ISR {proposed}, and the specification {expected}")

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

    def _refuse_others(self) -> None:
        """Let those go that stand for election while somebody rules, so that they do what else a broker does."""
        if self._cluster.controller() is None:
            return
        for broker in range(self._cluster.size.brokers):
            for frame in self._held[ZOOKEEPER, broker][0].held:
                if fits(frame.said, {"operation": CREATE, "path": CONTROLLER}):
                    frame.let_go()

    def _do(self, step: Step, state: Plain) -> str | None:
        """Do what is a deed; a new process reads what it likes until it is registered."""
        name, broker = name_of(step), step.arguments.get("b")
        if name == "restart":
            always, *others = self._held[ZOOKEEPER, broker]
            self._cluster.links[broker].remove(*others)
            self._held[ZOOKEEPER, broker] = [always]
        if name == "stop":
            wait_until(lambda: self._let_reads_of(broker) or not self._cluster.children[broker].running, WAIT)
        answer = self._deeds.do(step, state)
        if name == "restart":
            self.await_started(broker)
        if name in ("stop", "crash"):
            self._ended |= {epoch for epoch, ruler in self._ruled.items() if ruler == broker}
        return answer or step.answer

    def _let(self, step: Step, wanted: Wanted, fate: int) -> str | None:
        """Let the frame of a step through, or lose it; the answer, where ZooKeeper gives one."""
        frame = self._await(step, wanted)
        if wanted.link == KAFKA:
            return self._deliver(step, wanted, frame)
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
                raise Unfinished(f"ZooKeeper did not answer in {WAIT:.0f} seconds")
            return "LOST"
        if fate != ANSWERED:
            frame.drop()
            return "LOST"
        frame.let_go()
        return self._answer(step, wanted, number)

    def _deliver(self, step: Step, wanted: Wanted, frame: Frame) -> str | None:
        """Let a frame between brokers through, and await that the broker has dealt with it, where its answer shows it."""
        awaited = name_of(step) in ANSWERED_AT_ONCE and not frame.is_stale and self._behaviour.has_planes
        before = {rule: len(rule.taken) for rule in self._held[KAFKA, wanted.broker]} if awaited else {}
        frame.let_go()
        pattern = {"part": ANSWER, "api": wanted.pattern["api"], "sender": frame.said.get("sender")}
        until = time.monotonic() + WAIT
        while awaited and time.monotonic() < until:
            for answer in [each for rule, number in before.items() for each in rule.taken[number:]]:
                if fits(answer.said, pattern):
                    return self._answered(step, answer)
            time.sleep(LOOK)
        if awaited:
            raise Unfinished(f"broker {wanted.broker} did not answer in {WAIT:.0f} seconds")
        return step.answer

    def _answered(self, step: Step, answer: Frame) -> str | None:
        """What a broker has answered to a step that is a request; raises Departs where it refuses LeaderAndIsr."""
        if step.answer is not None:
            return error_in(answer.said)
        if name_of(step) == "refuse_isr":
            answer.let_go()
        elif answer.said["error_code"]:
            raise Departs(f"{step}: it refuses, with {error_in(answer.said)}")
        return None

    def _answer(self, step: Step, wanted: Wanted, number: int) -> str:
        pattern = {**wanted.pattern, "part": ANSWER}
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            for frame in self._answers[wanted.broker].taken[number:]:
                if fits(frame.said, pattern):
                    return _named(frame.said)
            time.sleep(LOOK)
        raise Unfinished(f"ZooKeeper did not answer in {WAIT:.0f} seconds")

    def _await(self, step: Step, wanted: Wanted) -> Frame:
        """The frame that a step stands for, as soon as it is held; whatever is only read before it is let through."""
        until, begun = time.monotonic() + WAIT, time.monotonic()
        while time.monotonic() < until:
            self._cluster.check()
            self._refuse_others()
            for frame in self._held_now(wanted):
                if self._is_wanted(frame, wanted):
                    return frame
            if time.monotonic() > begun + SOON:
                self._let_reads_of(self._ruled.get(wanted.reign, wanted.broker))
                self._turn_away(wanted)
            time.sleep(LOOK)
        others = "; ".join(_words(frame.said) for frame in self._held_now(wanted)) or "nothing"
        raise Departs(f"{step}: waited {WAIT:.0f} seconds for {wanted.text}; it does {others}")

    def _is_wanted(self, frame: Frame, wanted: Wanted) -> bool:
        """Whether a frame is the one; LeaderAndIsr that was sent before it is let through."""
        if not fits(frame.said, wanted.pattern):
            return bool(wanted.before) and fits(frame.said, wanted.before)
        if not wanted.said:
            return True
        told = told_in(frame.said, wanted.pattern["partition_index"])
        if wanted.said.items() <= told.items():
            return True
        self._watcher.say(f"     besides, to broker {wanted.broker}: LeaderAndIsr {told}", besides=frame.said)
        frame.let_go()
        return False

    def _let_reads_of(self, reader: int | None) -> None:
        """Let through what a broker reads besides, and waits for."""
        for rule in self._held.get((ZOOKEEPER, reader), ()):
            for frame in rule.held:
                if fits(frame.said, {"operation": f"{READ}|{LIST}"}):
                    self._watcher.say(f"     besides, broker {reader}: {_words(frame.said)}", besides=frame.said)
                    frame.let_go()

    def _turn_away(self, wanted: Wanted) -> None:
        """Lose what was asked of a controller that is not to answer it, so that whoever asks asks again."""
        if wanted.pattern.get("api") not in IN_TURN or ANY == wanted.broker or wanted.pattern["part"] != REQUEST:
            return
        for broker in self._cluster.inner.keys() - {wanted.broker}:
            for frame in self._held_now(wanted._replace(broker=broker)):
                if fits(frame.said, wanted.pattern):
                    self._watcher.say(f"     lost: {_words(frame.said)}, to broker {broker}", lost=frame.said)
                    frame.drop()

    def _held_now(self, wanted: Wanted) -> list[Frame]:
        """What is held where a frame is looked for; of a process that has ended also what it sent before."""
        brokers = self._cluster.inner if wanted.broker == ANY else [wanted.broker]
        rules = [rule for broker in brokers for rule in self._held[wanted.link, broker]]
        return [frame for rule in rules for frame in (rule.undecided if wanted.reign in self._ended else rule.held)]


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
