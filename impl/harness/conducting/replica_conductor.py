"""Conducts a cluster whose brokers have data planes: for each step it first brings about what they must tell each
other."""

from __future__ import annotations

from kafkaproof.impl.broker.orders import Do
from kafkaproof.impl.harness.conducting.conductor import Conductor
from kafkaproof.impl.harness.driving.cluster import Cluster
from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.impl.server.ordered_replica_steps import OrderedPlanes
from kafkaproof.spec.cluster import control, data_plane, faults
from kafkaproof.spec.language.steps import names
from kafkaproof.spec.running.processes import PARTITION

DECISIONS, OK = names(control.alter_partition, control.confirm_isr, control.refuse_isr), "OK"
REFUSE, ASK_AGAIN, CHECKPOINT = names(OrderedPlanes.refuse, OrderedPlanes.ask_again, OrderedPlanes.checkpoint)
"""Orders that are no steps, but must be carried out for one."""


class PlaneConductor(Conductor):
    """Takes the steps of *cluster*.

    In the model a fetch that is refused stays, as the follower repeats it, and one that is on its way to a process that
    ends reaches the next one. `_refused` has the former, as partition and follower, and `_restarted` the brokers of the
    latter.
    """

    def __init__(self, cluster: Cluster, watcher: Watcher):
        super().__init__(cluster, watcher)
        self._refused: set[tuple[int, int]] = set()
        self._restarted: set[int] = set()

    def _do(self, step, arguments, content) -> str | None:
        if step.name in DECISIONS:
            self._propose(arguments["sender"], arguments["b"], arguments["p"])
        match step.name:
            case control.refuse_isr.__name__:
                proposal = {key: arguments[key] for key in ("p", "sender", "isr")}
                self._order(arguments["b"], PARTITION, (REFUSE,), content, **proposal)
                told = {"p": arguments["p"], "controller": arguments["b"], "isr": arguments["isr"]}
                return self._order(arguments["sender"], PARTITION, (step.name,), content, **told)[1]
            case faults.crash.__name__ | faults.stop.__name__:
                self._order(arguments["b"], PARTITION, (CHECKPOINT,))
            case faults.restart.__name__:
                self._restarted.add(arguments["b"])
                if arguments.pop("hw") == 0:
                    self._cluster.lose_checkpoint(arguments["b"])
            case data_plane.serve_fetch.__name__:
                return self._serve(arguments, content)
        return super()._do(step, arguments, content)

    def _serve(self, arguments, content) -> str | None:
        """A broker answers a follower, who asks again where its request may not be there."""
        b, place = arguments.pop("b"), (arguments["p"], arguments["follower"])
        if place in self._refused or b in self._restarted:
            self._order(arguments["follower"], PARTITION, (ASK_AGAIN,), p=arguments["p"], leader=self._receiver(b))
        answer = self._order(b, PARTITION, names(data_plane.serve_fetch), content, **arguments)[1]
        (self._refused.discard if answer == OK else self._refused.add)(place)
        return answer

    def _propose(self, sender, controller, p):
        """A leader proposes its ISR to a broker that takes itself for the controller."""
        self._cluster.children[sender].command(do=Do.PROPOSE, to=self._receiver(controller), p=p)
