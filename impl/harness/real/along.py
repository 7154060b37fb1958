"""Drives brokers that do as they like along a counterexample, step by step: real ones, or ours.

What a step of the specification does is held on the brokers' links until that step comes; faults are done. What a
broker only reads beyond that is let through and told.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from kazoo.exceptions import EXCEPTIONS, BadVersionError

from kafkaproof.impl.harness.conducting.conductor import Departs
from kafkaproof.impl.harness.driving.acts import KAFKA, ZOOKEEPER
from kafkaproof.impl.harness.driving.cluster import Cluster, wait_until
from kafkaproof.impl.harness.driving.watch import Teller
from kafkaproof.impl.harness.links.rules import DROP, NOTICE, Frame, Rule, fits
from kafkaproof.impl.harness.links.zookeeper import CHECK
from kafkaproof.impl.harness.real.behaviour import Behaviour
from kafkaproof.impl.harness.real.deeds import Deeds
from kafkaproof.impl.harness.real.held import LOOK, SETTLES, WAIT, Held
from kafkaproof.impl.harness.real.moves import (
    ASKS,
    CONTROLLER,
    LOOK_FOR,
    PROPOSALS,
    PROPOSED,
    READ,
    Wanted,
    answer_to,
    frames_of,
    proposal_of,
)
from kafkaproof.impl.harness.real.outside import differences, error_in, isr_proposed, seen_of, wanted_of
from kafkaproof.impl.harness.real.records import Clients
from kafkaproof.impl.seams.zookeeper.requests import CODES
from kafkaproof.impl.seams.zookeeper.znodes import State
from kafkaproof.spec.cluster import control, data_plane, faults
from kafkaproof.spec.errors import Unfinished
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_APPLIED, Answer
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain, ids_in
from kafkaproof.spec.language.steps import Step, names
from kafkaproof.spec.partition import brokers, failover
from kafkaproof.spec.partition.deletion.deletion import replica_stopped
from kafkaproof.spec.partition.deletion.replica import stop_replica
from kafkaproof.spec.protocol.passed import ANSWER

ANSWERED_AT_ONCE = names(control.leader_and_isr, data_plane.serve_fetch, control.refuse_isr)
"""The steps between brokers whose answer is awaited."""
ENDS = names(faults.stop, faults.crash)
FINDS = {"operation": f"{READ}|{LOOK_FOR}", "path": CONTROLLER}
"""The frames by which a broker looks who the controller is."""


class Along:
    """Takes the steps of a counterexample in a cluster whose brokers do as they like, and tells of them."""

    def __init__(self, cluster: Cluster, watcher: Teller, behaviour: Behaviour):
        self._cluster, self._watcher, self._behaviour = cluster, watcher, behaviour
        self._steps = behaviour.steps
        self._deeds, self._held = Deeds(cluster), Held(cluster, watcher, behaviour)
        self._done: set[int] = set()
        self._number = 0
        self._answers = {b: link.add(Rule(NOTICE, {"part": ANSWER}, times=None)) for b, link in cluster.links.items()}
        self.await_started, self.let_all_go = self._held.await_started, self._held.let_all_go
        self.let_all_go_but_fetches = self._held.let_all_go_but_fetches

    @property
    def clients(self) -> Clients:
        """The producer and the consumer that have taken steps."""
        return self._deeds.clients

    def take_all(self) -> None:
        """Take all steps; raises Departs where Kafka goes otherwise, and Unfinished where a step cannot be forced."""
        for number, (step, state) in enumerate(zip(self._steps, self._behaviour.states), 1):
            self._cluster.check()
            self._number = number
            self._held.prepare(number)
            try:
                answer = step.answer if number in self._done else self._take(number, step, state)
            except Unfinished as error:
                raise Unfinished(f"could not be forced: step {number}, {step}: {error}") from None
            except Departs as departs:
                raise Departs(f"step {number}, {departs}") from None
            asked = step.answer is not None or answer != "OK"
            shown = Step(step.transition, step.arguments, answer if asked else None)
            self._watcher.say(f"{number:3}  {shown}", step=str(shown))
            self._watcher.look(self._cluster)
            if step.answer not in (None, answer):
                raise Departs(f"step {number}, {step}: the answer is {answer}")

    def compare_end(self) -> None:
        """Compare what ZooKeeper holds with what the specification has in the end; raises Departs."""
        if not wait_until(lambda: not differences(self._behaviour, self._cluster), SETTLES):
            raise Departs(f"in the end {'; '.join(differences(self._behaviour, self._cluster))}")

    def _take(self, number: int, step: Step, state: Plain) -> str | None:
        name, delivery = step.name, step.arguments.get("delivery", ANSWERED)
        if name in PROPOSED and not self._behaviour.has_planes:
            self._deeds.bring_isr_about(step.arguments["p"], step.arguments["isr"])
        if name in PROPOSALS:
            self._await_proposal(step, state)
        if not (found := self._behaviour.frames(number)):
            return self._do(step, state)
        if self._is_repeated(number):
            found = found[-1:]
        for wanted in found[:-1]:
            answer = self._let(step, wanted, ANSWERED)
            if answer not in (None, "OK", step.answer) or answer == step.answer == "FENCED":
                return answer
        last = found[-1]._replace(said=self._behaviour.told(number))
        if self._asks(number):
            self._held.await_frame(step, last)
            for later in self._asks(number):
                self._deeds.do(self._steps[later - 1], self._behaviour.states[later - 1])
                self._done.add(later)
        if name == brokers.broker_change.__name__:
            self._let_answers_come(number)
        answer = self._let(step, last, delivery)
        if answer == "OK":
            self._compare(step, last, state)
            if name == control.alter_partition.__name__ and self._behaviour.has_planes:
                self._held.await_frame(step, answer_to(step))
        if name == failover.elect.__name__:
            self._held.elected(step.arguments["b"])
        return answer

    def _let_answers_come(self, number: int) -> None:
        """Let through the answers that a controller handles later: it gets none from brokers that it has found gone.

        They wait in its queue, in the order of their steps, behind the event that it is at.
        """
        b, before = self._steps[number - 1].arguments["b"], self._steps[: number - 1]
        self._held.await_frame(self._steps[number - 1], frames_of(self._steps[number - 1])[-1])
        stopped = {step.arguments["b"] for step in before if step.name == stop_replica.__name__}
        for later, step in enumerate(self._steps[number:], number + 1):
            if step.name == replica_stopped.__name__ and step.arguments["b"] == b and step.arguments["r"] in stopped:
                self._held.await_frame(step, frames_of(step)[0]).let_go()
                self._deeds.go_round(b)
                self._done.add(later)

    def _is_repeated(self, number: int) -> bool:
        """Whether a controller writes again what a leader has proposed, since the answer to its write was lost."""
        step, before = self._steps[number - 1], self._steps[: number - 1]
        proposal = ("b", "p", "sender", "isr")
        same = [
            each
            for each in before
            if each.name == step.name == control.alter_partition.__name__
            and all(each.arguments.get(name) == step.arguments.get(name) for name in proposal)
        ]
        return bool(same) and same[-1].answer == "LOST"

    def _await_proposal(self, step: Step, state: Plain) -> None:
        """Wait until a leader proposes an ISR, and compare it with the specification's.

        A leader adds a follower to the ISR only when that fetches, so a follower that has everything may fetch
        again.
        """
        leader, follower = step.arguments["b"], step.arguments["follower"]
        plane = state.planes[step.arguments["p"]]

        def fetch_again() -> None:
            if step.name == data_plane.expand_isr.__name__ and plane.brokers[leader].log == plane.brokers[follower].log:
                self._held.let_fetch(leader, follower)

        proposed = isr_proposed(self._held.await_frame(step, proposal_of(step), fetch_again).said)
        if proposed != (expected := ids_in(plane.brokers[leader].pending)):
            raise Departs(f"{step}: it proposes the ISR {proposed}, and the specification {expected}")

    def _asks(self, number: int) -> list[int]:
        """The steps right behind one in which an administrator asks a controller that is still busy with it."""
        found = []
        while number < len(self._steps) and self._steps[number].name in ASKS:
            number += 1
            found.append(number)
        return found

    def _compare(self, step: Step, wanted: Wanted, state: Plain) -> None:
        """Compare what a step has written to a partition's state with what the specification writes."""
        if wanted.link != ZOOKEEPER:
            return
        answers = reversed(self._answers[wanted.broker].taken)
        frame = next((each for each in answers if fits(each.said, {**wanted.pattern, "part": ANSWER})), None)
        written = frame and _written(frame.said)
        if written is None:
            return
        expected = wanted_of(state.zk.partitions[step.arguments["p"]])
        if written != expected:
            raise Departs(f"{step}: it writes {written}, and the specification {expected}")

    def _do(self, step: Step, state: Plain) -> str | None:
        """Do a step that is a deed; a new process may read what it likes until it is registered.

        A controller may read what it likes until it is asked: it says that it rules only when it has begun.
        """
        name, broker = step.name, step.arguments.get("b", NOBODY)
        if name == faults.restart.__name__:
            self._held.free(broker)
        if name == faults.stop.__name__:
            wait_until(lambda: self._shuts_down(broker), WAIT)
        answer = self._deeds.do(step, state, lambda: self._held.let_reads_of(self._cluster.controller()))
        if name == faults.restart.__name__:
            self.await_started(broker)
        if name in ENDS:
            self._held.has_ended(broker)
        return answer or step.answer

    def _shuts_down(self, broker: int) -> bool:
        """Let through what a broker asks for while it shuts down; whether it has."""
        self._held.let_shut_down(broker)
        return not self._cluster.children[broker].running

    def _let(self, step: Step, wanted: Wanted, delivery: int) -> str | None:
        """Let the frame of a step through, or lose it; returns the answer, where ZooKeeper gives one."""
        frame = self._held.await_frame(step, wanted)
        if wanted.link == KAFKA:
            return self._deliver(step, wanted, frame)
        answers, link = self._answers[wanted.broker], self._cluster.links[wanted.broker]
        number = len(answers.taken)
        if not fits(frame.said, wanted.pattern):
            frame.let_go()
            answer = self._answer(step, wanted._replace(pattern=wanted.before or {}), number)
            return self._let(step, wanted, delivery) if answer in ("OK", "NODEEXISTS") else answer
        if delivery == LOST_APPLIED:
            lost = Rule(DROP, {**wanted.pattern, "part": ANSWER})
            link.rules = [lost, *link.rules]
            frame.let_go()
            if not lost.await_taken(WAIT):
                raise Unfinished(f"ZooKeeper did not answer in {WAIT:.0f} seconds")
            return "LOST"
        if delivery != ANSWERED:
            frame.drop()
            return "LOST"
        frame.let_go()
        return self._answer(step, wanted, number)

    def _deliver(self, step: Step, wanted: Wanted, frame: Frame) -> str | None:
        """Let a frame between brokers through; wait until the broker has dealt with it, where an answer shows that."""
        awaited = step.name in ANSWERED_AT_ONCE and not frame.is_stale
        before = {rule: len(rule.taken) for rule in self._held.rules[KAFKA, wanted.broker]} if awaited else {}
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
        if step.name == control.refuse_isr.__name__:
            answer.let_go()
        elif answer.said["error_code"] and self._behaviour.obeys(self._number):
            raise Departs(f"{step}: it refuses, with {error_in(answer.said)}")
        return None

    def _answer(self, step: Step, wanted: Wanted, number: int) -> str:
        pattern = {**wanted.pattern, "part": ANSWER}
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            for frame in self._answers[wanted.broker].taken[number:]:
                if fits(frame.said, pattern):
                    return self._named(frame.said, wanted.broker)
            time.sleep(LOOK)
        raise Unfinished(f"ZooKeeper did not answer in {WAIT:.0f} seconds")

    def _named(self, said: Mapping[str, Any], reader: int) -> str:
        """What the specification calls an answer; a broker may find itself in /controller."""
        answer = named(said)
        if answer == "OK" and fits(said, FINDS) and self._cluster.controller() == reader:
            return "MINE"
        return answer


def _written(said) -> dict | None:
    """Leader, ISR and leader epoch of a state that a frame writes, None where it writes none."""
    for operation in said.get("operations", [said]):
        if operation.get("path", "").endswith("/state") and "data" in operation:
            return seen_of(State.decode(operation["data"]))
    return None


def named(said: Mapping[str, Any]) -> str:
    """What the specification calls an answer, without regard to whom it names."""
    if said.get("failed") == 0 and said["operations"][0]["operation"] == CHECK:
        if said["error"] == BadVersionError.code:
            return "FENCED"
    if said["error"] == 0:
        return "OK"
    code = CODES.get(EXCEPTIONS[said["error"]])
    return str(said["error"]) if code is None else Answer.names[code]
