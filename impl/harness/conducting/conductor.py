"""Conducts a cluster: its brokers take the steps that they are told, one after another; faults are done for real.

A step is text, of *election* or of *partition*. Where *partition* has in one step what a process does in several (an
election, the end of a reign, a new session), the process takes those of *election* one by one.
"""

from __future__ import annotations

import queue
import time

from kazoo.exceptions import NoNodeError

from kafkaproof.impl.harness.driving.cluster import Cluster
from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.impl.seams.zookeeper.znodes import BrokerId
from kafkaproof.spec.errors import Unfinished
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_APPLIED
from kafkaproof.spec.language.steps import Step, parse_step
from kafkaproof.spec.running.processes import ELECTION, PARTITION

WAIT, LOOK = 120.0, 1.0
"""How long a step may take to become possible, in seconds: its message, or the word of a watch, must come; and how
often it is looked whether the broker lives.
"""
OF_ELECTION = ("session", "election", "legacy", "reign")
"""The modules whose steps are those of *election*."""
STANDING = (
    "handle_change",
    "maybe_resign",
    "look_for_controller",
    "create",
    "confirm_owner",
    "learn_epoch",
    "found_epoch",
    "register",
    "raise_epoch",
    "confirm_controller",
    "confirm_epoch",
    "clean",
)
RESIGNING = ("handle_change", "maybe_resign")
REOPENING = ("notice_expiry", *STANDING[1:], "reopen", "register_broker")
LONG = {"elect": (STANDING, "clean"), "resign": (RESIGNING, "maybe_resign"), "reopen": (REOPENING, "register_broker")}
"""The steps of *partition* that are several of *election*: these, until the last one has been taken."""

FINAL = {"create_first_state": ".*/state", "create_topic": "/brokers/topics/.*"}
"""What the last of the requests of a step that makes several writes to, as a regular expression."""


class Departs(Exception):
    """A step was answered otherwise than it should be; the message names both answers."""


class Conductor:
    """Takes steps in a cluster of `ordered` brokers, each as soon as it is possible, and tells of them."""

    def __init__(self, cluster: Cluster, watcher: Watcher):
        self._cluster, self._watcher, self._taken = cluster, watcher, 0
        self._left: dict[int, tuple[int, bytes]] = {}

    def take_all(self, *texts: str) -> None:
        """Take steps in their order; raises as `take` does."""
        for text in texts:
            self.take(text)

    def take(self, text: str, **content: object) -> str | None:
        """Take a step; returns its answer. `content` is what a message says, besides its arguments, that it handles.

        Raises Departs where the text has another answer, and Unfinished where the step does not become possible.
        """
        step = parse_step(text)
        arguments = {name: value for name, value in step.arguments.items() if name != "fate"}
        fate = step.arguments.get("fate", ANSWERED)
        if fate != ANSWERED:
            transition = step.transition.split(".")[1]
            self._cluster.links[arguments["b"]].lose(fate == LOST_APPLIED, FINAL.get(transition, ".*"))
        answer = self._do(step, dict(arguments), content)
        self._taken += 1
        shown = str(Step(step.transition, arguments, answer))
        self._watcher.say(f"{self._taken:3}  {shown}", step=shown)
        self._watcher.look(self._cluster)
        if step.answer not in (None, answer):
            raise Departs(f"step {self._taken}, {text}: the answer is {answer}")
        return answer

    def _do(self, step, arguments, content) -> str | None:
        module, name = step.transition.split(".")
        if module == "faults" and name not in ("fail_batch", "fail_log_dir", "shut_down"):
            return self._from_outside(name, **arguments)
        b = arguments.pop("b")
        if module == "failover" and name in LONG:
            return self._go_through(b, *LONG[name])
        if name == "start":
            self._cluster.start(b)
        if name == "load":
            return self._order(b, PARTITION, ("load_brokers",))[1]
        if name == "clean":
            self._cluster.leave_isr_notification()
        if name == "controlled_shutdown":
            self._announce(arguments["leaver"], b)
        part = ELECTION if module in OF_ELECTION or name == "fail_batch" else PARTITION
        return self._order(b, part, (name,), content, **arguments)[1]

    def _go_through(self, b, names, last):
        """Take steps of *election* until the last of them; where it is refused, they go on."""
        while True:
            name, answer = self._order(b, ELECTION, names)
            if name == last:
                return answer

    def _order(self, b, part, names, content=None, **arguments) -> tuple[str, str | None]:
        child = self._cluster.children[b]
        child.command(do="take", part=part, any=names, arguments=arguments, content=content or {})
        until = time.monotonic() + WAIT
        while True:
            try:
                told = child.told.get(timeout=LOOK)
                return told["took"], told["answer"]
            except queue.Empty:
                self._cluster.check()
            if time.monotonic() > until:
                wanted = Step(" or ".join(names), {"b": b, **arguments})
                raise Unfinished(f"{wanted} did not become possible in {WAIT:.0f} seconds: see {child.log}")

    def _announce(self, leaver, controller):
        self._cluster.children[leaver].command(
            do="announce", address=self._address(controller), kind="ControlledShutdown"
        )

    def _address(self, b):
        """Where other brokers reach a broker; raises Departs where it is not registered."""
        try:
            return BrokerId.decode(self._cluster.operator.get(BrokerId.path_of(b))[0]).inner
        except NoNodeError:
            raise Departs(f"broker {b} is not registered: the others do not know where it listens") from None

    # From outside

    def _from_outside(self, name: str, **arguments: int) -> str | None:
        cluster, b = self._cluster, arguments.get("b")
        match name:
            case "crash":
                self._left[b] = cluster.children[b].session
                cluster.kill(b)
            case "restart":
                cluster.start(b)
                self._order(b, ELECTION, ("start",))
                self._order(b, ELECTION, ("register_broker",))
            case "stop":
                answer = self._order(b, ELECTION, ("stop",))[1]
                cluster.children[b].wait(WAIT)
                return answer
            case "expire_session":
                cluster.expire(b)
            case "expire_orphan":
                cluster.expire(b, self._left.pop(b))
            case _:
                getattr(cluster, name)(**arguments)
        return None
