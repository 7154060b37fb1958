"""DeleteTopics at the broker that is the controller; and StopReplica that is sent again where no answer comes.

A topic is answered for when the controller has it queued, so that nobody is told of it any more, or when time is up.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from kafka.protocol.admin import DeleteTopicsResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.clients.topics import ERRORS as ERRORS_OF_CREATION
from kafkaproof.impl.clients.topics import NOT_CONTROLLER, Verdict
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC
from kafkaproof.spec.kafka.state_machines import REPLICA_DELETION_STARTED
from kafkaproof.spec.kafka.zookeeper import LOST, NODEEXISTS, OK
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.deletion.deletion import mark_topic

ERRORS = ERRORS_OF_CREATION | {"UNKNOWN_TOPIC_OR_PARTITION": 3}
MARKED, UNKNOWN = Verdict("NONE"), Verdict("UNKNOWN_TOPIC_OR_PARTITION")
INTERNAL = Verdict("POLICY_VIOLATION")
LATE = Verdict("REQUEST_TIMED_OUT")
ASK_AGAIN = 2.0
"""How long an answer to StopReplica is waited for, in seconds."""


@dataclass
class Deletion:
    """A request that is not answered yet: until when; verdicts, of topics in order."""

    call: Call
    due: float
    verdicts: dict[str, Verdict] = field(default_factory=dict)


class Deletions:
    """Marks topics for deletion, one request after the other; `try_step` takes a step of the broker."""

    def __init__(self, process: Process, try_step: Callable[..., bool]):
        self._process, self._try_step = process, try_step
        self._queue: deque[Deletion] = deque()
        self._begun: list[Deletion] = []
        self._told: dict[tuple[int, int, int], float] = {}

    def delete(self, call: Call) -> None:
        """Take a request: its turn comes when the controller is at work."""
        self._queue.append(Deletion(call, time.monotonic() + call.request.timeout_ms / 1000))

    def mark_next(self) -> bool:
        """As a controller at work: mark what the next request wants; False without one."""
        if not self._queue:
            return False
        deletion = self._queue.popleft()
        self._begun.append(deletion)
        for name in deletion.call.request.topic_names:
            deletion.verdicts[name] = self._mark(name)
        return True

    def _mark(self, name: str) -> Verdict:
        """Mark a topic that the controller knows; one that is marked already is as good.

        Source: kafka.server.AdminManager.deleteTopics, 1.1 to 2.7; kafka.server.ZkAdminManager.deleteTopics, 2.8 to
                3.9.
        """
        process = self._process
        if name == OFFSETS_TOPIC:
            return INTERNAL
        if name not in process.partition_zookeeper.there or not self._known(name):
            return UNKNOWN
        if self._is_queued(name):
            return MARKED
        if not self._try_step(mark_topic, p=self._known(name)[0]):
            return NOT_CONTROLLER
        return {OK: MARKED, NODEEXISTS: MARKED, LOST: LATE}.get(process.answer, NOT_CONTROLLER)

    def _known(self, name: str) -> list[int]:
        """The partitions of a topic that are in the controller's context."""
        partitions = self._process.partition.controller.partitions
        return [p for p in self._process.places.numbers_of(name) if partitions[p].assignment.length > 0]

    def _is_queued(self, name: str) -> bool:
        """Whether the controller has a topic queued for deletion, or does not know it any more."""
        deleting = self._process.partition.controller.deleting
        return all(contains(deleting, p) for p in self._known(name))

    def tick(self) -> None:
        """Answer what is done, or has waited long enough, or came to a broker that does not rule; ask again."""
        rules, now = self._process.election.active == 1, time.monotonic()
        for deletion in [each for each in self._queue if not rules or now >= each.due]:
            self._queue.remove(deletion)
            verdict = LATE if rules else NOT_CONTROLLER
            self._answer(deletion, dict.fromkeys(deletion.call.request.topic_names, verdict))
        for deletion in list(self._begun):
            late = {
                name: LATE
                for name, verdict in deletion.verdicts.items()
                if verdict == MARKED and not (rules and self._is_queued(name))
            }
            if not late or now >= deletion.due:
                self._begun.remove(deletion)
                self._answer(deletion, deletion.verdicts | late)
        self._ask_again(now)

    def _ask_again(self, now: float) -> None:
        """Send StopReplica again to those who have not answered: what is sent over a link that is cut is lost."""
        controller, network = self._process.partition.controller, self._process.network
        awaited = {
            (controller.epoch, p, r)
            for p, partition in enumerate(controller.partitions)
            for r, state in enumerate(partition.replicas)
            if state == REPLICA_DELETION_STARTED
        }
        self._told = {key: self._told.get(key, now) for key in awaited}
        for key in [key for key, told in self._told.items() if now - told > ASK_AGAIN]:
            self._told[key] = now
            for outgoing in network.stop_of(*key):
                self._process.announce(*outgoing[:3])

    def _answer(self, deletion: Deletion, verdicts: dict[str, Verdict]) -> None:
        kind = DeleteTopicsResponse
        deletion.call.answer(
            kind(
                throttle_time_ms=0,
                responses=[
                    kind.DeletableTopicResult(name=name, error_code=ERRORS[verdict.error])
                    for name, verdict in verdicts.items()
                ],
            )
        )
