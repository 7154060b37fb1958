"""DeleteRecords at the leader: it raises the log start offset, and waits until the replicas on live brokers have, too.

No step: the specification's logs begin at 0, and what is deleted stays in the file of a log, as in the last segment of
one of Kafka's.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka.protocol.admin import DeleteRecordsResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE, Plane
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.clients.offsets import why_not
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.replica.log_start import UNKNOWN_START, asked_start, is_in_range, low_watermark

NO_WATERMARK = -1
Place = tuple[str, int]


class RecordDeletions:
    """Deletes records at one broker; `plane_of` and `number_of` find a partition, `wait` lets a request wait so many
    milliseconds for its answer.
    """

    def __init__(
        self,
        process: Process,
        plane_of: Callable[[str, int], Plane | None],
        number_of: Callable[[str, int], int | None],
        wait: Callable[[int, Callable[[bool], bool]], None],
    ):
        self._process, self._plane_of, self._number_of, self._wait = process, plane_of, number_of, wait

    def delete(self, call: Call) -> None:
        """Answer a request when it is done for all its partitions, or when its time is up.

        Source: kafka.server.ReplicaManager.deleteRecords, kafka.server.DelayedDeleteRecords.tryComplete, 0.11 to 3.9.
        """
        asked = {
            (topic.name, each.partition_index): each.offset
            for topic in call.request.topics
            for each in topic.partitions
        }
        begun = {place: self._begin(place, offset) for place, offset in asked.items()}
        answers = {place: (error, NO_WATERMARK) for place, (error, _) in begun.items() if error != DONE}

        def done(is_due: bool) -> bool:
            for place, (_, start) in begun.items():
                if place not in answers and (found := self._outcome(place, start, is_due)):
                    answers[place] = found
            if len(answers) < len(begun):
                return False
            call.answer(_answer(answers))
            return True

        self._wait(call.request.timeout_ms, done)

    def _begin(self, place: Place, asked: int) -> tuple[str, int]:
        """Raise the log start offset of a partition: DONE and where its log is to begin, or what is wrong."""
        if place[0] == OFFSETS_TOPIC:
            return "INVALID_TOPIC_EXCEPTION", NO_WATERMARK
        plane = self._plane_of(*place)
        wrong = why_not(plane, NO_EPOCH)
        if plane is None or wrong:
            return wrong or DONE, NO_WATERMARK
        start = asked_start(asked, plane.checkpoint)
        if not is_in_range(start, plane.checkpoint):
            return "OFFSET_OUT_OF_RANGE", NO_WATERMARK
        plane.log.begin_at(start)
        return DONE, start

    def _outcome(self, place: Place, start: int, is_due: bool) -> tuple[str, int] | None:
        """The answer for a partition that waits, and its low watermark; None where it has to wait on."""
        plane = self._plane_of(*place)
        wrong = why_not(plane, NO_EPOCH)
        if plane is None or wrong:
            return wrong or DONE, NO_WATERMARK
        low = low_watermark(plane.log.start_offset, self._starts(place, plane))
        if low >= start:
            return DONE, low
        return ("REQUEST_TIMED_OUT", low) if is_due else None

    def _starts(self, place: Place, plane: Plane) -> list[int]:
        """The log start offsets of the other replicas, as far as their brokers are live."""
        number, alive = self._number_of(*place), self._process.partition.metadata.alive
        told = self._process.partition_zookeeper.told.get(number, ())
        others = [r for r in told if r != self._process.broker and contains(alive, r)]
        return [plane.follower_starts.get(r, UNKNOWN_START) for r in others]


def _answer(answers: dict[Place, tuple[str, int]]) -> DeleteRecordsResponse:
    kind = DeleteRecordsResponse.DeleteRecordsTopicResult
    topics: dict[str, list] = {}
    for (topic, p), (error, low) in answers.items():
        topics.setdefault(topic, []).append(
            kind.DeleteRecordsPartitionResult(partition_index=p, low_watermark=low, error_code=ERRORS[error])
        )
    return DeleteRecordsResponse(
        throttle_time_ms=0, topics=[kind(name=name, partitions=found) for name, found in topics.items()]
    )
