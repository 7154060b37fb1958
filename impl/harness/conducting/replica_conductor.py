"""Conducts a cluster whose brokers have data planes: what brokers tell each other for a step is brought about first."""

from __future__ import annotations

from kafkaproof.impl.harness.conducting.conductor import Conductor
from kafkaproof.impl.harness.driving.cluster import Cluster
from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.spec.running.processes import PARTITION

DECISIONS, OK = ("alter_partition", "confirm_isr", "refuse_isr"), "OK"


class PlaneConductor(Conductor):
    """Takes the steps of *cluster*.

    In the model a fetch that is refused stays, as the follower repeats it, and one that is on its way to a process that
    ends reaches the next one. `_refused` are those, as partition and follower; `_restarted` such brokers.
    """

    def __init__(self, cluster: Cluster, watcher: Watcher):
        super().__init__(cluster, watcher)
        self._refused: set[tuple[int, int]] = set()
        self._restarted: set[int] = set()

    def _do(self, step, arguments, content) -> str | None:
        name = step.transition.split(".")[1]
        if name in DECISIONS:
            self._propose(arguments["sender"], arguments["b"], arguments["p"])
        if name == "refuse_isr":
            proposal = {key: arguments[key] for key in ("p", "sender", "isr")}
            self._order(arguments["b"], PARTITION, ("refuse",), content, **proposal)
            told = {"p": arguments["p"], "controller": arguments["b"], "isr": arguments["isr"]}
            return self._order(arguments["sender"], PARTITION, (name,), content, **told)[1]
        elif name in ("crash", "stop"):
            self._order(arguments["b"], PARTITION, ("checkpoint",))
        elif name == "restart":
            self._restarted.add(arguments["b"])
            if arguments.pop("hw") == 0:
                self._cluster.lose_checkpoint(arguments["b"])
        elif name == "serve_fetch":
            return self._serve(arguments, content)
        return super()._do(step, arguments, content)

    def _serve(self, arguments, content) -> str | None:
        """A broker answers a follower, who asks again where its request may not be there."""
        b, place = arguments.pop("b"), (arguments["p"], arguments["follower"])
        if place in self._refused or b in self._restarted:
            self._order(arguments["follower"], PARTITION, ("ask_again",), p=arguments["p"], address=self._address(b))
        answer = self._order(b, PARTITION, ("serve_fetch",), content, **arguments)[1]
        (self._refused.discard if answer == OK else self._refused.add)(place)
        return answer

    def _propose(self, sender, controller, p):
        """A leader asks a broker, who takes itself for the controller, for the ISR that it wishes."""
        self._cluster.children[sender].command(do="propose", address=self._address(controller), p=p)
