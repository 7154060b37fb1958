"""ListPartitionReassignments at the broker that is the controller (KIP-455): what it knows; answering takes no step."""

from __future__ import annotations

from kafka.protocol.admin import ListPartitionReassignmentsResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.clients.topics import ERRORS
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.language.plain import ids_in
from kafkaproof.spec.partition.reassignment.progress import is_reassigned


class Reassignments:
    """Tells clients which partitions are being reassigned."""

    def __init__(self, process: Process):
        self._process = process

    def serve(self, call: Call) -> None:
        """Answer a request: of the partitions that it names, or of all.

        Source: kafka.controller.KafkaController.listPartitionReassignments, 2.4 to 3.9.
        """
        if not self._process.election.active:
            call.answer(_answer("NOT_CONTROLLER", []))
            return
        wanted = (
            None
            if call.request.topics is None
            else {(topic.name, p) for topic in call.request.topics for p in topic.partition_indexes}
        )
        kind = ListPartitionReassignmentsResponse.OngoingTopicReassignment
        topics: dict[str, list] = {}
        for p, partition in enumerate(self._process.partition.controller.partitions):
            place = self._process.places.place_of(p)
            if place and is_reassigned(partition) and (wanted is None or place in wanted):
                topics.setdefault(place[0], []).append(self._described(kind, place[1], partition))
        call.answer(_answer("NONE", [kind(name=name, partitions=found) for name, found in topics.items()]))

    def _described(self, kind, number, partition):
        assignment, naming = partition.assignment, self._process.ids
        return kind.OngoingPartitionReassignment(
            partition_index=number,
            replicas=naming.ids(assignment.slots[: assignment.length]),
            adding_replicas=naming.ids(ids_in(partition.adding)),
            removing_replicas=naming.ids(ids_in(partition.removing)),
        )


def _answer(error: str, topics: list) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=ERRORS[error], error_message=None, topics=topics
    )
