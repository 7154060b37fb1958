"""AlterPartitionReassignments at the broker that is the controller (KIP-455): each partition is a step of its own, and
has an answer of its own. A request is answered when the last of these events is over.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kafka.protocol.admin import AlterPartitionReassignmentsResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.client_requests import ALTERATION
from kafkaproof.spec.election.active_controller import at_work as waits
from kafkaproof.spec.language.plain import members
from kafkaproof.spec.language.sets import difference
from kafkaproof.spec.partition.context import alive
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.reassignment.admin_requests import alter_reassignment
from kafkaproof.spec.partition.reassignment.network import CANCELLATION, REASSIGNMENT
from kafkaproof.spec.partition.reassignment.plans import ACCEPTED, Verdict, verdict_on

Asked = tuple[str, int, tuple[int, ...] | None]
"""A topic, a partition in it, and the replicas that it is to have; None to cancel its reassignment."""


@dataclass
class Alteration:
    """A request that is not answered yet: until when; what is still to be done; the error of each partition."""

    call: Call
    due: float
    left: deque[Asked] = field(default_factory=deque)
    errors: dict[tuple[str, int], str] = field(default_factory=dict)


class Alterations:
    """Reassigns partitions, one after the other; `try_step` takes a step of the broker."""

    def __init__(self, process: Process, try_step: Callable[..., bool]):
        self._process, self._try_step = process, try_step
        self._queue: deque[Alteration] = deque()

    def alter(self, call: Call) -> None:
        """Take a request: its turn comes when the controller is at work."""
        alteration = Alteration(call, time.monotonic() + call.request.timeout_ms / 1000)
        for topic in call.request.topics:
            for each in topic.partitions:
                replicas = None if each.replicas is None else tuple(self._process.ids.numbers(each.replicas))
                alteration.left.append((topic.name, each.partition_index, replicas))
        self._queue.append(alteration)

    def alter_next(self) -> bool:
        """As a controller at work: deal with the next partition that is asked for; False without one."""
        for alteration in self._queue:
            if alteration.left:
                name, partition, replicas = alteration.left.popleft()
                alteration.errors[name, partition] = self._alter(name, partition, replicas)
                return True
        return False

    def _alter(self, name: str, partition: int, replicas: tuple[int, ...] | None) -> str:
        """Take the step that deals with a partition; the error that its request is answered with."""
        p, controller = self._process.places.number_of(name, partition), self._process.partition.controller
        kind = CANCELLATION if replicas is None else REASSIGNMENT
        if replicas is not None and not self._is_sound(replicas):
            return "INVALID_REPLICA_ASSIGNMENT"
        if p is None:
            dead = difference(members(replicas or ()), alive(controller))
            unknown = "INVALID_REPLICA_ASSIGNMENT" if dead else "UNKNOWN_TOPIC_OR_PARTITION"
            return unknown if kind == REASSIGNMENT else "NO_REASSIGNMENT_IN_PROGRESS"
        verdict = verdict_on(controller, p, kind, members(replicas or ()))
        message = self._process.note_request(ALTERATION, {"p": p, "kind": kind, "replicas": list(replicas or ())})
        if not self._try_step(alter_reassignment, message):
            return "NOT_CONTROLLER"
        return DONE if verdict == ACCEPTED else Verdict.names[verdict]

    def _is_sound(self, replicas: tuple[int, ...]) -> bool:
        """Whether there may be such replicas: some, each once, brokers of this cluster, not too many of them.

        Source: kafka.controller.KafkaController.validateReplicas, 2.5 to 3.9 (replicasAreValid, 2.4).
        """
        settings = self._process.settings
        known = all(0 <= replica < settings.brokers for replica in replicas)
        return known and 0 < len(replicas) == len(set(replicas)) <= settings.replicas

    def tick(self) -> None:
        """Answer what is done, or has waited long enough, or came to a broker that does not rule."""
        process, now = self._process, time.monotonic()
        rules = process.election.active == 1
        rests = waits(process.election) and at_work(process.partition.controller)
        for alteration in list(self._queue):
            if rests and not alteration.left:
                self._end(alteration, DONE)
            elif not rules or now >= alteration.due:
                self._end(alteration, "REQUEST_TIMED_OUT" if rules else "NOT_CONTROLLER")

    def _end(self, alteration: Alteration, error: str) -> None:
        self._queue.remove(alteration)
        done = {} if error != DONE else alteration.errors
        alteration.call.answer(
            AlterPartitionReassignmentsResponse(
                throttle_time_ms=0, error_code=ERRORS[error], error_message=None, responses=list(_told(done))
            )
        )


def _told(errors: dict[tuple[str, int], str]) -> Iterator:
    """What is answered of each partition, by topic."""
    kind = AlterPartitionReassignmentsResponse.ReassignableTopicResponse
    for name in dict.fromkeys(topic for topic, _ in errors):
        partitions = [
            kind.ReassignablePartitionResponse(
                partition_index=partition, error_code=ERRORS[error], error_message=None if error == DONE else error
            )
            for (topic, partition), error in errors.items()
            if topic == name
        ]
        yield kind(name=name, partitions=partitions)
