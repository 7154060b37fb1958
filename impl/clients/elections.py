"""ElectLeaders at the broker that is the controller (KIP-460): one step for all partitions of a request, each of which has
an error of its own. A request is answered when that event is over.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kafka.protocol.admin import ElectLeadersResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.client_requests import ELECTION
from kafkaproof.spec.election.active_controller import at_work as waits
from kafkaproof.spec.partition.context import is_known, is_queued
from kafkaproof.spec.partition.network import PREFERRED_TYPE, UNCLEAN_TYPE
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.triggers import admin_election, needs_any, needs_preferred

PREFERRED = 0
"""The election type of the protocol; the other one is unclean."""
FAILED = {PREFERRED_TYPE: "PREFERRED_LEADER_NOT_AVAILABLE", UNCLEAN_TYPE: "ELIGIBLE_LEADERS_NOT_AVAILABLE"}
Place = tuple[str, int]


@dataclass
class Election:
    """A request that is not answered yet: until when; the errors so far, and the partitions that are being elected."""

    call: Call
    due: float
    errors: dict[Place, str] = field(default_factory=dict)
    elected: dict[Place, int] = field(default_factory=dict)

    @property
    def kind(self) -> int:
        """The type of the election."""
        return PREFERRED_TYPE if self.call.request.election_type == PREFERRED else UNCLEAN_TYPE


class Elections:
    """Holds elections, one request after the other; `try_step` takes a step of the broker."""

    def __init__(self, process: Process, try_step: Callable[..., bool]):
        self._process, self._try_step = process, try_step
        self._queue: deque[Election] = deque()
        self._begun: list[Election] = []

    def elect(self, call: Call) -> None:
        """Take a request: its turn comes when the controller is at work."""
        self._queue.append(Election(call, time.monotonic() + call.request.timeout_ms / 1000))

    def elect_next(self) -> bool:
        """As a controller at work: hold the election that is asked for next; False without one."""
        if not self._queue:
            return False
        election = self._queue.popleft()
        self._begun.append(election)
        for place in self._places(election.call.request):
            p = self._process.places.number_of(*place)
            error = self._why_not(election.kind, p)
            if error is None and p is not None:
                election.elected[place] = p
            elif error is not None:
                election.errors[place] = error
        content = {"type": election.kind, "partitions": sorted(election.elected.values())}
        if election.elected and not self._try_step(admin_election, self._process.note_request(ELECTION, content)):
            election.errors |= dict.fromkeys(election.elected, "NOT_CONTROLLER")
            election.elected = {}
        return True

    def _places(self, request) -> list[Place]:
        """The partitions that a request names, or all that the controller knows."""
        if request.topic_partitions is not None:
            return [(topic.topic, p) for topic in request.topic_partitions for p in topic.partitions]
        partitions = enumerate(self._process.partition.controller.partitions)
        known = [self._process.places.place_of(p) for p, each in partitions if each.assignment.length > 0]
        return [place for place in known if place]

    def _why_not(self, kind: int, p: int | None) -> str | None:
        """Why no election is held for a partition; None where one is.

        (In Kafka a partition without a state ends the event, and nobody is answered.)

        Source: kafka.controller.KafkaController.processReplicaLeaderElection, 2.4 to 3.9.
        """
        controller = self._process.partition.controller
        if p is None or controller.partitions[p].assignment.length == 0:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if is_queued(controller, p):
            return "INVALID_TOPIC_EXCEPTION"
        if not is_known(controller.partitions[p]):
            return "UNKNOWN_SERVER_ERROR"
        needs = needs_preferred if kind == PREFERRED_TYPE else needs_any
        return None if needs(controller, p) else "ELECTION_NOT_NEEDED"

    def tick(self) -> None:
        """Answer what is done, or has waited long enough, or came to a broker that does not rule."""
        process, now = self._process, time.monotonic()
        rules = process.election.active == 1
        rests = waits(process.election) and at_work(process.partition.controller)
        for election in [*self._begun, *self._queue]:
            if election in self._begun and rules and rests:
                self._answer(election, DONE, election.errors | self._outcome(election))
            elif not rules or now >= election.due:
                self._answer(election, "REQUEST_TIMED_OUT" if rules else "NOT_CONTROLLER", {})

    def _outcome(self, election: Election) -> dict[Place, str]:
        """Whether the partitions were elected, as the controller knows them when the event is over."""
        controller = self._process.partition.controller
        needs = needs_preferred if election.kind == PREFERRED_TYPE else needs_any
        return {place: FAILED[election.kind] if needs(controller, p) else DONE for place, p in election.elected.items()}

    def _answer(self, election: Election, error: str, errors: dict[Place, str]) -> None:
        (self._begun if election in self._begun else self._queue).remove(election)
        if election.call.request.topic_partitions is None:
            errors = {place: each for place, each in errors.items() if each != "ELECTION_NOT_NEEDED"}
        election.call.answer(
            ElectLeadersResponse(
                throttle_time_ms=0, error_code=ERRORS[error], replica_election_results=list(_told(errors))
            )
        )


def _told(errors: dict[Place, str]) -> Iterator:
    """What is answered of each partition, by topic."""
    kind = ElectLeadersResponse.ReplicaElectionResult
    for name in dict.fromkeys(topic for topic, _ in errors):
        results = [
            kind.PartitionResult(
                partition_id=p, error_code=ERRORS[error], error_message=None if error == DONE else error
            )
            for (topic, p), error in errors.items()
            if topic == name
        ]
        yield kind(topic=name, partition_result=results)
