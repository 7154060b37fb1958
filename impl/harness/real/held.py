"""What is held on the links of brokers that do as they like, until its step comes, and what is let through besides."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from kafkaproof.impl.harness.conducting.conductor import Departs
from kafkaproof.impl.harness.driving.acts import KAFKA, ZOOKEEPER
from kafkaproof.impl.harness.driving.cluster import Cluster, wait_until
from kafkaproof.impl.harness.driving.watch import Teller, epoch_in
from kafkaproof.impl.harness.links.rules import HOLD, NOTICE, Frame, Rule, fits
from kafkaproof.impl.harness.real.behaviour import Behaviour
from kafkaproof.impl.harness.real.misled import Misled
from kafkaproof.impl.harness.real.moves import (
    ALWAYS_HELD,
    ANY,
    CANDIDACY,
    DELETES,
    IN_ELECTIONS,
    IN_TURN,
    LIST,
    LOOK_FOR,
    OF_DATA,
    READ,
    STOP,
    Wanted,
    frames_of,
)
from kafkaproof.impl.harness.real.outside import told_in
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.partition.deletion.replica import stop_replica
from kafkaproof.spec.protocol.passed import ANSWER, REQUEST

METADATA = "UpdateMetadata"
WAIT, SOON, SETTLES, LOOK = 90.0, 3.0, 20.0, 0.02
"""How long a frame is waited for, in seconds, how long before what is read besides is let through, how long ZooKeeper
may take to hold what the specification has in the end, and how often to look.
"""


class Held:
    """Holds what the specification gives a step to do.

    `rules`: by link and broker. `ruled`: who was elected in each epoch; `ended`: the epochs whose controller's process
    has ended.
    """

    def __init__(self, cluster: Cluster, watcher: Teller, behaviour: Behaviour):
        self._cluster, self._watcher, self._behaviour = cluster, watcher, behaviour
        self.misled = Misled(cluster, behaviour)
        self._stops = any(step.name == stop_replica.__name__ for step in behaviour.steps)
        self.rules: dict[tuple[str, int], list[Rule]] = {}
        self.ruled: dict[int, int] = {}
        self.ended: set[int] = set()
        self._number = 1
        for broker in range(cluster.size.brokers):
            held = (*IN_ELECTIONS, *self._patterns(broker)) if behaviour.starts_brokers else ALWAYS_HELD
            self.rules[ZOOKEEPER, broker] = [cluster.links[broker].add(Rule(HOLD, *held, times=None))]
            self.rules[KAFKA, broker] = [
                cluster.inner[broker].add(rule) for rule in self._kafka_rules(broker) if broker in cluster.inner
            ]

    def _kafka_rules(self, broker: int) -> list[Rule]:
        """What is held of all that others ask a broker, and of what it answers; errors say nothing that has a step."""
        apis = {*IN_TURN, *(wanted.pattern["api"] for wanted in self._wanted(KAFKA, broker))} - {STOP}
        if not self._behaviour.has_planes:
            stops = [{"part": part, "api": STOP, **DELETES} for part in (REQUEST, ANSWER) if self._stops]
            return [
                Rule(NOTICE, {"part": ANSWER, "api": "LeaderAndIsr"}, times=None),
                Rule(HOLD, {"part": REQUEST, "api": "|".join(sorted(apis))}, *stops, times=None),
            ]
        answers, told = {"part": ANSWER, "api": "|".join(OF_DATA)}, {"part": ANSWER, "api": "LeaderAndIsr"}
        apis |= {*OF_DATA, told["api"], METADATA}
        return [
            Rule(HOLD, {"part": REQUEST, "api": "|".join(sorted(apis))}, times=None),
            Rule(NOTICE, answers | {"error_code": "-?[1-9].*"}, told, times=None),
            Rule(HOLD, answers, times=None),
        ]

    def _wanted(self, link: str, broker: int) -> list[Wanted]:
        """The frames of all steps on a link."""
        return [
            each
            for step in self._behaviour.steps
            for each in frames_of(step)
            if (each.link, each.broker) == (link, broker)
        ]

    def _patterns(self, broker: int) -> list[Mapping[str, Any]]:
        """What the steps of a broker ask of ZooKeeper."""
        return [wanted.pattern for wanted in self._wanted(ZOOKEEPER, broker)]

    def await_started(self, *brokers: int) -> None:
        """Wait until brokers are registered; from then on what they read is held, too, until its step comes."""
        self._cluster.await_that(
            lambda: all(self._cluster.owner(b) is not None for b in brokers), "the brokers are registered"
        )
        for broker in brokers:
            rule = self._cluster.links[broker].add(Rule(HOLD, *self._patterns(broker), times=None))
            self.rules[ZOOKEEPER, broker] = [self.rules[ZOOKEEPER, broker][0], rule]

    def let_all_go(self) -> None:
        """Hold nothing any more; what controllers have sent that rule no more, and was not delivered, is lost."""
        self.misled.end()
        for broker, link in self._cluster.links.items():
            link.remove(*self.rules[ZOOKEEPER, broker])
        if self._behaviour.has_planes:
            wait_until(
                lambda: self._cluster.controller() is not None and all(frame.is_stale for frame in self._outdated()),
                SETTLES,
            )
            for frame in self._outdated():
                frame.drop()
        for broker, inner in self._cluster.inner.items():
            inner.remove(*self.rules[KAFKA, broker])

    def let_all_go_but_fetches(self) -> None:
        """Hold nothing any more but what followers fetch, from now on."""
        rules = {broker: Rule(HOLD, {"part": REQUEST, "api": "Fetch"}, times=None) for broker in self._cluster.inner}
        for broker, link in self._cluster.inner.items():
            link.rules = [rules[broker], *link.rules]
            for frame in [each for rule in self.rules[KAFKA, broker] for each in rule.undecided]:
                if frame.said.get("api") == "Fetch":
                    frame.drop()
        self.let_all_go()
        for broker, rule in rules.items():
            self.rules[KAFKA, broker] = [rule]

    def _outdated(self) -> list[Frame]:
        """What is still held of controllers that were followed by others, or whose connections have gone."""
        epoch = epoch_in(self._cluster)
        return [
            frame
            for (link, _), rules in self.rules.items()
            if link == KAFKA
            for rule in rules
            for frame in rule.undecided
            if frame.is_stale or frame.said.get("controller_epoch", epoch) < epoch
        ]

    def prepare(self, number: int) -> None:
        """Do what has to be done before a step."""
        self._number = number
        self.misled.prepare(number)
        self._tell_metadata()

    def _tell_metadata(self) -> None:
        """Let UpdateMetadata through, but to a broker that is to obey an earlier controller: it no more would."""
        for link, broker in self.rules:
            for frame in [each for rule in self.rules[link, broker] for each in rule.held if link == KAFKA]:
                if frame.said.get("api") == METADATA and not self._behaviour.obeys_later(
                    self._number, broker, frame.said["controller_epoch"]
                ):
                    frame.let_go()

    def free(self, broker: int) -> None:
        """Let a process of a broker begin: until `await_started` it may read what it likes."""
        always, *others = self.rules[ZOOKEEPER, broker]
        self._cluster.links[broker].remove(*others)
        self.rules[ZOOKEEPER, broker] = [always]

    def elected(self, broker: int) -> None:
        """A broker was elected, in the next epoch."""
        self.ruled[max(self.ruled, default=0) + 1] = broker

    def has_ended(self, broker: int) -> None:
        """The process of a broker has ended."""
        self.ended |= {epoch for epoch, ruler in self.ruled.items() if ruler == broker}

    def await_frame(self, step: Step, wanted: Wanted, meanwhile: Callable[[], None] = lambda: None) -> Frame:
        """The frame that a step stands for, as soon as it is held; whatever is only read before it is let through.

        What is to be done `meanwhile` is done again and again, when it does not come at once.
        """
        until, begun = time.monotonic() + WAIT, time.monotonic()
        while time.monotonic() < until:
            self._cluster.check()
            self._refuse_others()
            self._tell_metadata()
            for frame in self._held_now(wanted):
                if self._is_wanted(frame, wanted):
                    return frame
            if time.monotonic() > begun + SOON:
                sender = wanted.broker if wanted.epoch is None else self.ruled.get(wanted.epoch, wanted.broker)
                self.let_reads_of(sender)
                self._turn_away(wanted)
                meanwhile()
                if wanted.link == ZOOKEEPER and self.misled.finds_out(wanted.broker):
                    raise Departs(
                        f"{step}: broker {wanted.broker} looks whose /controller is before it comes to "
                        f"{wanted.text}, and finds out that it rules no more"
                    )
            time.sleep(LOOK)
        others = "; ".join(words_of(frame.said) for frame in self._held_now(wanted)) or "nothing"
        raise Departs(f"{step}: waited {WAIT:.0f} seconds for {wanted.text}; it does {others}")

    def _is_wanted(self, frame: Frame, wanted: Wanted) -> bool:
        """Whether a frame is the one; LeaderAndIsr that was sent before it is let through."""
        if not fits(frame.said, wanted.pattern):
            return wanted.before is not None and fits(frame.said, wanted.before)
        if not wanted.said:
            return True
        told = told_in(frame.said, wanted.pattern["partition_index"])
        if wanted.said.items() <= told.items():
            return True
        self._watcher.say(f"     besides, to broker {wanted.broker}: LeaderAndIsr {told}", besides=told)
        frame.let_go()
        return False

    def _refuse_others(self) -> None:
        """Let those go that stand for election while somebody rules, so that they do what else a broker does."""
        if self._behaviour.starts_brokers or self._cluster.controller() is None:
            return
        for broker in range(self._cluster.size.brokers):
            for frame in self.rules[ZOOKEEPER, broker][0].held:
                if fits(frame.said, CANDIDACY):
                    frame.let_go()

    def let_reads_of(self, reader: int | None) -> None:
        """Let through what a broker reads besides, and waits for."""
        for rule in self.rules.get((ZOOKEEPER, NOBODY if reader is None else reader), ()):
            for frame in rule.held:
                if fits(frame.said, {"operation": f"{READ}|{LIST}|{LOOK_FOR}"}) and not self._is_kept(reader, frame):
                    self._watcher.say(f"     besides, broker {reader}: {words_of(frame.said)}", besides=frame.said)
                    frame.let_go()

    def let_fetch(self, leader: int, follower: int) -> None:
        """Let what a follower fetches, and is answered, through."""
        for frame in [each for rule in self.rules[KAFKA, leader] for each in rule.held]:
            if fits(frame.said, {"api": "Fetch", "sender": follower}):
                self._watcher.say(f"     besides, broker {follower}: Fetch {frame.said['part']}", besides="Fetch")
                frame.let_go()

    def let_shut_down(self, broker: int) -> None:
        """Let through what a broker reads besides, and lose what it asks of controllers that give no answer."""
        self.let_reads_of(broker)
        asks = {"api": "ControlledShutdown", "broker_id": broker}
        for link, b in self.rules:
            for frame in [each for rule in self.rules[link, b] for each in rule.held if link == KAFKA]:
                if fits(frame.said, asks):
                    frame.drop()

    def _is_kept(self, reader: int | None, frame: Frame) -> bool:
        """Whether a controller that is deposed asks who is there, which is the last thing that it may find out."""
        return self.misled.keeps(reader) and fits(frame.said, {"operation": LIST, "path": BROKER_IDS})

    def _turn_away(self, wanted: Wanted) -> None:
        """Lose what was asked of a controller that is not to answer it, so that its sender asks again."""
        if wanted.pattern.get("api") not in IN_TURN or ANY == wanted.broker or wanted.pattern["part"] != REQUEST:
            return
        for broker in self._cluster.inner.keys() - {wanted.broker}:
            for frame in self._held_now(wanted._replace(broker=broker)):
                if fits(frame.said, wanted.pattern):
                    text = f"{words_of(frame.said)}, to broker {broker}"
                    self._watcher.say(f"     lost: {text}", lost=text)
                    frame.drop()

    def _held_now(self, wanted: Wanted) -> list[Frame]:
        """What is held where a frame is looked for; of a process that has ended also what it sent before."""
        brokers = self._cluster.inner if wanted.broker == ANY else [wanted.broker]
        rules = [rule for broker in brokers for rule in self.rules[wanted.link, broker]]
        return [frame for rule in rules for frame in (rule.undecided if wanted.epoch in self.ended else rule.held)]


def words_of(said) -> str:
    """A frame in words."""
    operations = said.get("operations", [said])
    last = operations[-1]
    return f"{last.get('operation') or last.get('api')} {last.get('path', '')}".strip()
