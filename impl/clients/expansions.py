"""CreatePartitions at the broker that is the controller: what is wrong with a request, and the steps that it takes.

A topic is answered for when all its partitions have leaders, as far as the controller knows, or when time is up.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from kafka.protocol.admin import CreatePartitionsResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.clients.topics import CREATED, LOST_ANSWER, NOT_CONTROLLER, VALID, Verdict
from kafkaproof.impl.clients.topics import ERRORS as ERRORS_OF_CREATION
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.kafka.replica_lists import place_of_added
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST, NONODE, OK
from kafkaproof.spec.language.plain import ids_in, members
from kafkaproof.spec.language.sets import is_empty
from kafkaproof.spec.partition.context import is_queued
from kafkaproof.spec.partition.expansion.expansion import read_topic, write_partitions
from kafkaproof.spec.partition.reassignment.progress import is_reassigned

ERRORS = ERRORS_OF_CREATION | {"UNKNOWN_TOPIC_OR_PARTITION": 3, "REASSIGNMENT_IN_PROGRESS": 60}
UNKNOWN = Verdict("UNKNOWN_TOPIC_OR_PARTITION", "there is no such topic")
REASSIGNED = Verdict("REASSIGNMENT_IN_PROGRESS", "a partition of the topic is being reassigned")
TOO_FEW = Verdict("INVALID_REPLICATION_FACTOR", "not enough brokers are there")
LATE = Verdict("REQUEST_TIMED_OUT", "the partitions are there, and some have no leader yet")


@dataclass
class Expansion:
    """A request that is not answered yet: until when; verdicts, of topics in order."""

    call: Call
    due: float
    verdicts: dict[str, Verdict] = field(default_factory=dict)


class Expansions:
    """Adds partitions, one request after the other; `try_step` takes a step of the broker, `is_led` tells whether all
    partitions of a topic have leaders.
    """

    def __init__(self, process: Process, try_step: Callable[..., bool], is_led: Callable[[str], bool]):
        self._process, self._try_step, self._is_led = process, try_step, is_led
        self._queue: deque[Expansion] = deque()
        self._begun: list[Expansion] = []

    def expand(self, call: Call) -> None:
        """Take a request: its turn comes when the controller is at work."""
        self._queue.append(Expansion(call, time.monotonic() + call.request.timeout_ms / 1000))

    def expand_next(self) -> bool:
        """As a controller at work: add what the next request wants; False without one."""
        if not self._queue:
            return False
        expansion = self._queue.popleft()
        self._begun.append(expansion)
        for topic in expansion.call.request.topics:
            wrong = self._why_not(topic)
            valid = VALID if expansion.call.request.validate_only else None
            expansion.verdicts[topic.name] = wrong or valid or self._add(topic)
        return True

    def _known(self, name: str) -> list[int]:
        """The partitions of a topic that are in the controller's context."""
        partitions = self._process.partition.controller.partitions
        return [p for p in self._process.places.numbers_of(name) if partitions[p].assignment.length > 0]

    def _why_not(self, topic) -> Verdict | None:
        """What is wrong with what is asked for a topic; None for nothing.

        Source: kafka.server.AdminManager.createPartitions, 1.0 to 2.6 (kafka.server.ZkAdminManager, 2.7 to 3.9).
        """
        controller, known = self._process.partition.controller, self._known(topic.name)
        if not known:
            return UNKNOWN
        if any(is_queued(controller, p) for p in known):
            return Verdict("INVALID_TOPIC_EXCEPTION", "the topic is queued for deletion")
        if any(is_reassigned(controller.partitions[p]) for p in known):
            return REASSIGNED
        if topic.count <= len(known):
            return Verdict("INVALID_PARTITIONS", f"the topic has {len(known)} partitions")
        if topic.assignments:
            return Verdict("INVALID_REPLICA_ASSIGNMENT", "only the broker chooses replicas here")
        if controller.partitions[known[0]].assignment.length > controller.live.bit_count():
            return TOO_FEW
        return None

    def _add(self, topic) -> Verdict:
        """Add partitions to a topic; the preferred replica of its first one says where the assignment starts."""
        process, known = self._process, self._known(topic.name)
        controller, p = process.partition.controller, known[0]
        first = controller.partitions[p].assignment.slots[0]
        start = place_of_added(ids_in(controller.live), first)
        new = members(process.partition_zookeeper.free(topic.count - len(known)))
        if not self._try_step(read_topic, p=p, new=new, start=start) or process.answer == EXPIRED:
            return NOT_CONTROLLER
        if process.answer == NONODE:
            return UNKNOWN
        if is_empty(process.partition.expansion.new):
            return TOO_FEW if process.partition_zookeeper.settled else REASSIGNED
        if not self._try_step(write_partitions, p=p):
            return NOT_CONTROLLER
        return {OK: CREATED, LOST: LOST_ANSWER}.get(process.answer, NOT_CONTROLLER)

    def tick(self) -> None:
        """Answer what is done, or has waited long enough, or came to a broker that does not rule."""
        rules, now = self._process.election.active == 1, time.monotonic()
        for expansion in [each for each in self._queue if not rules or now >= each.due]:
            self._queue.remove(expansion)
            verdict = Verdict("REQUEST_TIMED_OUT", "the controller was busy") if rules else NOT_CONTROLLER
            self._answer(expansion, {topic.name: verdict for topic in expansion.call.request.topics})
        for expansion in list(self._begun):
            wanted = {topic.name: topic.count for topic in expansion.call.request.topics}
            added = [name for name, verdict in expansion.verdicts.items() if verdict == CREATED]
            late = {n: LATE for n in added if len(self._known(n)) < wanted[n] or not self._is_led(n)}
            if not late or now >= expansion.due:
                self._begun.remove(expansion)
                self._answer(expansion, expansion.verdicts | late)

    def _answer(self, expansion: Expansion, verdicts: dict[str, Verdict]) -> None:
        kind = CreatePartitionsResponse
        expansion.call.answer(
            kind(
                throttle_time_ms=0,
                results=[
                    kind.CreatePartitionsTopicResult(
                        name=name, error_code=ERRORS[verdict.error], error_message=verdict.text or None
                    )
                    for name, verdict in verdicts.items()
                ],
            )
        )
