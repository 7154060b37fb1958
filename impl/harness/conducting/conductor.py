"""Conducts a cluster: its brokers take the steps that they are told, one after another; faults are done for real.

A step is text, of *election*, *partition* or *cluster*. Where *partition* has in one step what a process does in
several (an election, a resignation, a new session), the process takes those of *election* one by one.
"""

from __future__ import annotations

import queue
import time
from typing import cast

from kazoo.exceptions import NoNodeError

from kafkaproof.impl.broker.orders import Do
from kafkaproof.impl.harness.driving.child import BrokerChild
from kafkaproof.impl.harness.driving.cluster import Cluster
from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.impl.seams.between.messages import Receiver
from kafkaproof.impl.seams.zookeeper.znodes import BrokerId
from kafkaproof.spec.catalogue import models_of
from kafkaproof.spec.election import active_controller, election, session
from kafkaproof.spec.election.faults import fail_batch
from kafkaproof.spec.election.history import legacy
from kafkaproof.spec.errors import Unfinished
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_APPLIED, MINE, Answer
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import FAULT
from kafkaproof.spec.language.steps import Step, by_name, names, parse_step
from kafkaproof.spec.partition import brokers, failover, faults, machines
from kafkaproof.spec.partition.creation import creation
from kafkaproof.spec.running.processes import ELECTION, PARTITION, SYSTEMS, part_of

WAIT, LOOK = 120.0, 1.0
"""How long a step may take to become possible (its message must come, or a watch fire), and how often to look whether
the broker lives, in seconds.
"""
STEPS = {
    transition.name: transition for system in SYSTEMS for model in models_of(system) for transition in model.transitions
}
"""The transitions of all steps, by module and name as in their texts."""
STANDING = (
    election.handle_change,
    election.maybe_resign,
    election.look_for_controller,
    legacy.create,
    legacy.confirm_owner,
    election.learn_epoch,
    election.found_epoch,
    election.register,
    legacy.raise_epoch,
    election.confirm_controller,
    election.confirm_epoch,
    active_controller.clean,
)
RESIGNING = (election.handle_change, election.maybe_resign)
REOPENING = (session.notice_expiry, *STANDING[1:], session.reopen, session.register_broker)
LONG = by_name(
    {
        failover.elect: (STANDING, active_controller.clean),
        failover.resign: (RESIGNING, election.maybe_resign),
        failover.reopen: (REOPENING, session.register_broker),
    }
)
"""The steps of *partition* that are several of *election*: these, until the last one has been taken."""
ORDERED_FAULTS = names(fail_batch, faults.fail_log_dir, faults.shut_down)
"""The faults that a process brings about when it is told; the others come from outside."""
FINAL = by_name({machines.create_first_state: ".*/state", creation.create_topic: "/brokers/topics/.*"})
"""The path that the last of several requests of a step writes to, as a regular expression."""


class Departs(Exception):
    """A step was answered otherwise than it should be; the message names both answers."""


class Conductor:
    """Takes steps in a cluster of `ordered` brokers, each as soon as it is possible, and tells of them."""

    def __init__(self, cluster: Cluster, watcher: Watcher):
        self._cluster, self._watcher, self._taken = cluster, watcher, 0
        self._left: dict[int, tuple[int, bytes] | None] = {}

    def take_all(self, *texts: str) -> None:
        """Take steps in their order; raises as `take` does."""
        for text in texts:
            self.take(text)

    def take(self, text: str, **content: object) -> str | None:
        """Take a step; returns its answer. `content` is what a message says, besides its arguments, that it handles.

        Raises Departs where the text has another answer, and Unfinished where the step does not become possible.
        """
        step = parse_step(text)
        arguments = {name: value for name, value in step.arguments.items() if name != "delivery"}
        delivery = step.arguments.get("delivery", ANSWERED)
        if delivery != ANSWERED:
            self._cluster.links[arguments["b"]].lose(delivery == LOST_APPLIED, FINAL.get(step.name, ".*"))
        answer = self._do(step, dict(arguments), content)
        self._taken += 1
        shown = str(Step(step.transition, arguments, answer))
        self._watcher.say(f"{self._taken:3}  {shown}", step=shown)
        self._watcher.look(self._cluster)
        if step.answer not in (None, answer):
            raise Departs(f"step {self._taken}, {text}: the answer is {answer}")
        return answer

    def _do(self, step, arguments, content) -> str | None:
        transition = STEPS[step.transition]
        if transition.kind == FAULT and step.name not in ORDERED_FAULTS:
            return self._from_outside(step.name, **arguments)
        b, part = arguments.pop("b"), part_of(transition.function)
        if part == PARTITION and step.name in LONG:
            return self._go_through(b, *LONG[step.name])
        match step.name:
            case session.start.__name__:
                self._cluster.start(b)
            case active_controller.load.__name__:
                return self._order(b, PARTITION, names(failover.load_brokers))[1]
            case active_controller.clean.__name__:
                self._cluster.leave_isr_notification()
            case brokers.controlled_shutdown.__name__:
                self._announce(arguments["leaver"], b)
            case failover.move_controller.__name__:
                return self._give_up(b)
        return self._order(b, part, (step.name,), content, **arguments)[1]

    def _go_through(self, b, functions, last):
        """Take steps of *election* until the last of them; where it is refused, they go on."""
        while True:
            name, answer = self._order(b, ELECTION, names(*functions))
            if name == last.__name__:
                return answer

    def _give_up(self, b):
        """A failover has failed: the steps of *election* that give up /controller, if it is still the broker's."""
        self._order(b, PARTITION, names(failover.move_controller))
        if self._order(b, ELECTION, names(active_controller.trigger_move))[1] in (None, Answer.names[MINE]):
            self._order(b, ELECTION, names(active_controller.delete_own_controller, legacy.delete_any_controller))

    def _order(self, b, part, any_of, content=None, **arguments) -> tuple[str, str | None]:
        child = cast(BrokerChild, self._cluster.children[b])
        child.command(do=Do.TAKE, part=part, any=any_of, arguments=arguments, content=content or {})
        until = time.monotonic() + WAIT
        while True:
            try:
                told = child.told.get(timeout=LOOK)
                return told["took"], told["answer"]
            except queue.Empty:
                self._cluster.check()
            if time.monotonic() > until:
                wanted = Step(" or ".join(any_of), {"b": b, **arguments})
                raise Unfinished(f"{wanted} did not become possible in {WAIT:.0f} seconds: see {child.log}")

    def _announce(self, leaver, controller):
        self._cluster.children[leaver].command(do=Do.ANNOUNCE, to=self._receiver(controller), kind="ControlledShutdown")

    def _receiver(self, b) -> Receiver:
        """Where other brokers reach a broker; raises Departs where it is not registered."""
        try:
            return Receiver(b, *BrokerId.decode(self._cluster.operator.get(BrokerId.path_of(b))[0]).inner)
        except NoNodeError:
            raise Departs(f"broker {b} is not registered: the others do not know where it listens") from None

    # From outside

    def _from_outside(self, name: str, **arguments: int) -> str | None:
        cluster, b = self._cluster, arguments.get("b", NOBODY)
        match name:
            case faults.crash.__name__:
                self._left[b] = cluster.children[b].session
                cluster.kill(b)
            case faults.restart.__name__:
                cluster.start(b)
                self._order(b, ELECTION, names(session.start))
                self._order(b, ELECTION, names(session.register_broker))
            case faults.stop.__name__:
                answer = self._order(b, ELECTION, names(faults.stop))[1]
                cluster.children[b].wait(WAIT)
                return answer
            case faults.expire_session.__name__:
                cluster.expire(b)
            case faults.expire_orphan.__name__:
                cluster.expire(b, self._left.pop(b))
            case _:
                getattr(cluster, name)(**arguments)
        return None
