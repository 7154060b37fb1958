"""CreateTopics at the broker that is the controller: what is wrong with a request, and the steps that it takes.

The specification says which replicas a partition gets; only the two random numbers that its rule starts from are drawn
here. A topic is answered for when all its partitions have leaders, as far as the controller knows, or when time is up.
"""

from __future__ import annotations

import random
import re
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka.protocol.admin import CreateTopicsResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.clients.topic_settings import values_of_topics, why_not
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.spec.kafka.zookeeper import LOST, NODEEXISTS, OK
from kafkaproof.spec.language.plain import members
from kafkaproof.spec.partition.creation.creation import configure_topic, create_topic

ERRORS = {
    "NONE": 0,
    "REQUEST_TIMED_OUT": 7,
    "INVALID_TOPIC_EXCEPTION": 17,
    "TOPIC_ALREADY_EXISTS": 36,
    "INVALID_PARTITIONS": 37,
    "INVALID_REPLICATION_FACTOR": 38,
    "INVALID_REPLICA_ASSIGNMENT": 39,
    "INVALID_CONFIG": 40,
    "NOT_CONTROLLER": 41,
    "POLICY_VIOLATION": 44,
}
NAME, LONGEST = re.compile(r"[a-zA-Z0-9._-]+"), 249
DEFAULT = -1


class Verdict(NamedTuple):
    """An error by its name, and what is told of it."""

    error: str
    text: str | None = None


CREATED, VALID = Verdict("NONE"), Verdict("NONE", "")
NOT_CONTROLLER = Verdict("NOT_CONTROLLER", "this broker is not the controller")
LOST_ANSWER = Verdict("REQUEST_TIMED_OUT", "ZooKeeper's answer was lost: the topic may be there")
LEADERLESS = Verdict("REQUEST_TIMED_OUT", "the topic is there, and some partition has no leader yet")


def is_name(topic: str) -> bool:
    """Whether a topic may have this name."""
    return bool(NAME.fullmatch(topic)) and topic not in (".", "..") and len(topic) <= LONGEST


@dataclass
class Creation:
    """A request that is not answered yet: until when; verdicts, of topics in order."""

    call: Call
    due: float
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def created(self) -> list[str]:
        """The topics that were created, and must get leaders."""
        return [name for name, verdict in self.verdicts.items() if verdict == CREATED]


class Topics:
    """Creates topics, one request after the other; `try_step` takes a step of the broker, `is_led` tells whether all
    partitions of a topic have leaders.
    """

    def __init__(self, process: Process, try_step: Callable[..., bool], is_led: Callable[[str], bool]):
        self._process, self._try_step, self._is_led = process, try_step, is_led
        self._queue: deque[Creation] = deque()
        self._begun: list[Creation] = []

    def create(self, call: Call) -> None:
        """Take a request: its turn comes when the controller is at work."""
        self._queue.append(Creation(call, time.monotonic() + call.request.timeout_ms / 1000))

    def create_next(self) -> bool:
        """As a controller at work: create what the next request wants; False without one."""
        if not self._queue:
            return False
        creation = self._queue[0]
        try:
            there = set(self._process.partition_zookeeper.list_topics())
        except (NotAnswered, Expired):
            return False
        self._begun.append(self._queue.popleft())
        for topic in creation.call.request.topics:
            creation.verdicts[topic.name] = self._why_not(creation, topic, there) or self._create(creation, topic)
        return True

    def tick(self) -> None:
        """Answer what is done, or has waited long enough, or came to a broker that does not rule."""
        rules, now = self._process.election.active == 1, time.monotonic()
        for creation in [each for each in self._queue if not rules or now >= each.due]:
            self._queue.remove(creation)
            verdict = Verdict("REQUEST_TIMED_OUT", "the controller was busy") if rules else NOT_CONTROLLER
            self._answer(creation, {topic.name: verdict for topic in creation.call.request.topics})
        for creation in list(self._begun):
            late = {name: LEADERLESS for name in creation.created if not self._is_led(name)}
            if not late or now >= creation.due:
                self._begun.remove(creation)
                self._answer(creation, creation.verdicts | late)

    def _why_not(self, creation: Creation, topic, there: set[str]) -> Verdict | None:
        """What is wrong with a topic that is to be created; None for nothing.

        Source: kafka.server.AdminManager.createTopics, 1.1 to 2.7; kafka.server.ZkAdminManager.createTopics, 2.8 to
                3.9; org.apache.kafka.common.internals.Topic.validate, 1.1 to 3.9.
        """
        name, partitions, replicas = topic.name, self._partitions(topic), self._replicas(topic)
        live = self._process.partition.controller.live.bit_count()
        asked = [each.name for each in creation.call.request.topics]
        if not is_name(name):
            return Verdict("INVALID_TOPIC_EXCEPTION", f"a name has 1 to {LONGEST} of a-z, A-Z, 0-9, '.', '_', '-'")
        if name in there or name == OFFSETS_TOPIC or asked.count(name) > 1:
            return Verdict("TOPIC_ALREADY_EXISTS", f"topic {name!r} is there")
        if name in self._process.partition_zookeeper.marked:
            return Verdict("TOPIC_ALREADY_EXISTS", f"topic {name!r} is marked for deletion")
        if name == self._process.settings.topic:
            return Verdict("POLICY_VIOLATION", f"topic {name!r}, the first of this cluster, is not created again")
        if any(other.replace(".", "_") == name.replace(".", "_") for other in there):
            return Verdict("INVALID_TOPIC_EXCEPTION", f"topic {name!r} collides with another in '.' and '_'")
        if topic.assignments:
            return Verdict("INVALID_REPLICA_ASSIGNMENT", "only the broker chooses replicas here")
        held = values_of_topics(self._process.settings.min_isr)
        flaw = next((wrong for each in topic.configs if (wrong := why_not(each.name, each.value, held))), None)
        if flaw:
            return Verdict(flaw.error, str(flaw))
        if partitions < 1:
            return Verdict("INVALID_PARTITIONS", "a topic has at least one partition")
        if not 0 < replicas <= live:
            return Verdict("INVALID_REPLICATION_FACTOR", f"{replicas} replicas, and {live} brokers are there")
        if replicas > self._process.settings.replicas:
            return Verdict(
                "POLICY_VIOLATION",
                f"a partition has at most {self._process.settings.replicas} replicas here: start the cluster with more "
                "--replicas",
            )
        return None

    def _partitions(self, topic) -> int:
        return 1 if topic.num_partitions == DEFAULT else topic.num_partitions

    def _replicas(self, topic) -> int:
        settings = self._process.settings
        return settings.replicas if topic.replication_factor == DEFAULT else topic.replication_factor

    def _create(self, creation: Creation, topic) -> Verdict:
        """Create a topic, unless its request only asks whether that is possible."""
        if creation.call.request.validate_only:
            return VALID
        process, brokers = self._process, self._process.settings.brokers
        process.partition_zookeeper.creating = topic.name
        if not self._try_step(configure_topic):
            return NOT_CONTROLLER
        if process.answer != OK:
            return LOST_ANSWER if process.answer == LOST else NOT_CONTROLLER
        taken = self._try_step(
            create_topic,
            new=members(process.partition_zookeeper.free(self._partitions(topic))),
            replicas=self._replicas(topic),
            start=random.randrange(brokers),
            shift=random.randrange(brokers),
        )
        if not taken:
            return NOT_CONTROLLER
        return {OK: CREATED, LOST: LOST_ANSWER, NODEEXISTS: Verdict("TOPIC_ALREADY_EXISTS")}.get(
            process.answer, NOT_CONTROLLER
        )

    def _answer(self, creation: Creation, verdicts: dict[str, Verdict]) -> None:
        kind = CreateTopicsResponse
        creation.call.answer(
            kind(
                throttle_time_ms=0,
                topics=[
                    kind.CreatableTopicResult(
                        name=name, error_code=ERRORS[verdict.error], error_message=verdict.text or None
                    )
                    for name, verdict in verdicts.items()
                ],
            )
        )
