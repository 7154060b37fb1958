"""What keeps deposed controllers from finding out, done on the links of a cluster: see
`kafkaproof.impl.harness.real.deposed`.
"""

from __future__ import annotations

from kafkaproof.impl.harness.driving.cluster import Cluster
from kafkaproof.impl.harness.links.rules import HOLD, NOTICE, Frame, Rule, fits
from kafkaproof.impl.harness.real.behaviour import Behaviour
from kafkaproof.impl.harness.real.deposed import Deposed
from kafkaproof.impl.harness.real.moves import CANDIDACY, LIST
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, Controller
from kafkaproof.spec.protocol.passed import NOTIFICATION, REQUEST


class Misled:
    """Holds what deposed controllers read of /controller, and lets the spare broker come and go, and be elected."""

    def __init__(self, cluster: Cluster, behaviour: Behaviour):
        self._cluster, self._behaviour = cluster, behaviour
        self._slow: dict[Deposed, Rule] = {}
        self._lists: Rule | None = None
        self._number = 0

    def prepare(self, number: int) -> None:
        """Do what has to be done before a step."""
        self._number = number
        for each in self._behaviour.deposed:
            if each.since == number and each.lists:
                self._send_word(each.broker, self._behaviour.spare)
            if each.since == number:
                rule = Rule(HOLD, {"part": REQUEST, "operation": "getData", "path": Controller.path}, times=None)
                self._slow[each] = self._cluster.links[each.broker].add(rule)
            if each.until == number:
                self._let_know(each)
        if self._behaviour.stands_in == number:
            self._stand_in(self._behaviour.spare)

    def keeps(self, broker: int | None) -> bool:
        """Whether a deposed controller is to list the brokers in a later step, and not before."""
        return any(
            each.broker == broker and each.since <= self._number < each.lists for each in self._behaviour.deposed
        )

    def finds_out(self, broker: int) -> bool:
        """Whether a deposed controller looks now whose /controller is; nothing of it comes to ZooKeeper before that."""
        return any(each.broker == broker and rule.held for each, rule in self._slow.items())

    def end(self) -> None:
        """Let all of them find out."""
        for each in list(self._slow):
            self._let_know(each)
        if self._lists:
            self._cluster.links[self._behaviour.spare].remove(self._lists)

    def _let_know(self, deposed: Deposed) -> None:
        if rule := self._slow.pop(deposed, None):
            self._cluster.links[deposed.broker].remove(rule)

    def _send_word(self, controller: int, spare: int) -> None:
        """The spare broker dies, or comes back: wait until a controller was told."""
        link, child = self._cluster.links[controller], self._cluster.children[spare]
        told = link.add(Rule(NOTICE, {"part": NOTIFICATION, "event": "NodeChildrenChanged", "path": BROKER_IDS}))
        if child.running:
            self._cluster.kill(spare)
            self._cluster.expire(spare)
        else:
            self._cluster.start(spare)
        self._cluster.await_that(lambda: told.taken, f"controller {controller} is told of broker {spare}")
        link.remove(told)

    def _stand_in(self, spare: int) -> None:
        """The spare broker is elected; it gets no further than to ask who is there."""
        link = self._cluster.links[spare]
        if not self._cluster.children[spare].running:
            self._cluster.start(spare)

        def candidacies() -> list[Frame]:
            return [frame for rule in link.rules for frame in rule.held if fits(frame.said, CANDIDACY)]

        self._cluster.await_that(candidacies, f"broker {spare} stands for election")
        lists = self._lists = link.add(Rule(HOLD, {"part": REQUEST, "operation": LIST, "path": BROKER_IDS}, times=None))
        for frame in candidacies():
            frame.let_go()
        self._cluster.await_that(lambda: lists.held, f"broker {spare} rules, and asks who is there")
