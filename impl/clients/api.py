"""What clients ask for. Produce and consume are steps of data planes; everything else is read and answered.

Which partition exists and who leads it is a hint (`kafkaproof.impl.clients.metadata`): a broker that does not lead says
so, from its own record.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kafka.protocol.admin import (
    AlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    DescribeLogDirsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    ListPartitionReassignmentsRequest,
)
from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse
from kafka.protocol.consumer.offsets import ListOffsetsRequest, OffsetForLeaderEpochRequest
from kafka.protocol.metadata.find_coordinator import FindCoordinatorRequest
from kafka.protocol.metadata.metadata import MetadataRequest
from kafka.protocol.producer.produce import ProduceRequest, ProduceResponse
from kafka.protocol.producer.transaction import InitProducerIdRequest

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE, Offer
from kafkaproof.impl.clients.alterations import Alterations
from kafkaproof.impl.clients.configs import Configs
from kafkaproof.impl.clients.deletions import Deletions
from kafkaproof.impl.clients.elections import Elections
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.clients.expansions import Expansions
from kafkaproof.impl.clients.log_dirs import LogDirs
from kafkaproof.impl.clients.metadata import Metadata
from kafkaproof.impl.clients.offsets import Offsets, why_not
from kafkaproof.impl.clients.producer_ids import ProducerIds
from kafkaproof.impl.clients.producers import REPEATED, TAKEN, Producers
from kafkaproof.impl.clients.reassignments import Reassignments
from kafkaproof.impl.clients.record_deletions import RecordDeletions
from kafkaproof.impl.clients.topics import Topics
from kafkaproof.impl.clients.zookeeper_offsets import ZookeeperOffsets
from kafkaproof.impl.groups.coordinator import Coordinator
from kafkaproof.impl.protocol.batches import split
from kafkaproof.impl.protocol.group_requests import found
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, OFFSETS_TOPIC
from kafkaproof.spec.cluster import data_plane
from kafkaproof.spec.group.find_coordinator import find_verdict
from kafkaproof.spec.group.network import NONE as NOTHING_WRONG
from kafkaproof.spec.group.network import Verdict
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.protocol.batches import CorruptBatch
from kafkaproof.spec.protocol.fetch_limits import fits
from kafkaproof.spec.replica.broker import LEADER, enough_in_sync
from kafkaproof.spec.replica.clients.network import lacks_replicas
from kafkaproof.spec.replica.zookeeper import NOT_ENOUGH_REPLICAS

ALL = -1
NO_SESSION = 0
"""No fetch session is kept: every fetch names all that it wants (KIP-227)."""


@dataclass
class Waiting:
    """A request that waits for its answer until `due`; `done` looks whether there is one, and gives it."""

    due: float
    done: Callable[[bool], bool] = field(repr=False)


class Api:
    """Serves the clients of one broker; `try_step` takes a step of it."""

    def __init__(self, process: Process, try_step: Callable[..., bool]):
        self._process, self._try_step = process, try_step
        self._waiting: list[Waiting] = []
        self._producers: list[Producers] = []
        self.metadata = Metadata(process)
        self.topics = Topics(process, try_step, self.metadata.is_led)
        self.deletions = Deletions(process, try_step)
        self.expansions = Expansions(process, try_step, self.metadata.is_led)
        self.alterations = Alterations(process, try_step)
        self.elections = Elections(process, try_step)
        self.producer_ids = ProducerIds(process, lambda: self.metadata.controller)
        offsets = Offsets(self._plane)
        configs = Configs(process, self.metadata.has)
        self._serve = {
            MetadataRequest: self.metadata.serve,
            ProduceRequest: self._produce,
            InitProducerIdRequest: self.producer_ids.serve,
            FetchRequest: self._fetch,
            ListOffsetsRequest: offsets.list_offsets,
            OffsetForLeaderEpochRequest: offsets.ends_of_epochs,
            FindCoordinatorRequest: self._find_coordinator,
            DeleteRecordsRequest: RecordDeletions(process, self._plane, self._number, self._wait).delete,
            CreateTopicsRequest: self.topics.create,
            DeleteTopicsRequest: self.deletions.delete,
            CreatePartitionsRequest: self.expansions.expand,
            ListPartitionReassignmentsRequest: Reassignments(process).serve,
            AlterPartitionReassignmentsRequest: self.alterations.alter,
            ElectLeadersRequest: self.elections.elect,
            DescribeConfigsRequest: configs.describe,
            AlterConfigsRequest: configs.alter,
            IncrementalAlterConfigsRequest: configs.alter_incrementally,
            DescribeLogDirsRequest: LogDirs(process).serve,
        }
        has_groups = process.settings.offsets != NONE and process.planes
        self.coordinator = Coordinator(process, try_step, self._exists) if has_groups else None
        self._offsets = ZookeeperOffsets(process.requests, self._exists)

    def handle(self, call: Call) -> None:
        """Answer a request, now or later."""
        if self._offsets.takes(call):
            self._offsets.handle(call)
        elif self.coordinator and call.kind in self.coordinator.kinds:
            self.coordinator.handle(call)
        else:
            self._serve[call.kind](call)

    def tick(self, is_all: bool = True) -> None:
        """Answer what has become possible, or has waited long enough; not `is_all`: what waits for data planes."""
        now = time.monotonic()
        self._waiting = [each for each in self._waiting if not each.done(now >= each.due)]
        if self.coordinator and (is_all or self.coordinator.leader.done):
            self.coordinator.tick()
        if not is_all:
            return
        self.topics.tick()
        self.deletions.tick()
        self.expansions.tick()
        self.alterations.tick()
        self.elections.tick()

    def _wait(self, milliseconds: int, done: Callable[[bool], bool]) -> None:
        """Let a request wait for its answer, unless `done` gives it at once."""
        if not done(False):
            self._waiting.append(Waiting(time.monotonic() + milliseconds / 1000, done))

    def _plane(self, topic: str, p: int):
        """The data plane of a partition, None where there is no such partition (any more), or it is not for clients."""
        number = self._number(topic, p)
        if number is None or not self._process.planes:
            return None
        is_told = self._process.partition.replicas[number].leader_epoch != NO_EPOCH
        return self._process.planes[number] if is_told or topic in self.metadata.known().topics else None

    def _exists(self, topic: str, p: int) -> bool:
        """Whether there is such a partition for clients."""
        return self._plane(topic, p) is not None

    def _number(self, topic: str, p: int) -> int | None:
        """The number of a partition, None where this broker knows of none."""
        return self._process.places.number_of(topic, p)

    def _producers_of(self, p: int) -> Producers:
        """What the log of a partition says of producers."""
        self._producers += [Producers(plane.log) for plane in self._process.planes[len(self._producers) :]]
        return self._producers[p]

    def _find_coordinator(self, call: Call) -> None:
        brokers, leader = self.metadata.known().brokers, self.metadata.known().coordinator
        verdict = find_verdict(int(leader in brokers))
        found_at = (
            (self._process.ids.id(leader), brokers[leader].host, brokers[leader].port)
            if verdict == NOTHING_WRONG
            else None
        )
        call.answer(found(Verdict.names[verdict], found_at))

    # Produce

    def _produce(self, call: Call) -> None:
        request, kind = call.request, ProduceResponse.TopicProduceResponse
        results: dict[tuple[str, int], tuple[str | None, int]] = {}
        for topic in request.topic_data:
            for partition in topic.partition_data:
                place = topic.name, partition.index
                results[place] = None, -1
                self._append(place, bytes(partition.records or b""), request.acks, results)

        def done(is_due: bool) -> bool:
            if not is_due and any(error is None for error, _ in results.values()):
                return False
            answers: dict[str, list] = {}
            for (topic, p), (error, base) in results.items():
                answers.setdefault(topic, []).append(
                    kind.PartitionProduceResponse(
                        index=p,
                        error_code=ERRORS[error or "REQUEST_TIMED_OUT"],
                        base_offset=base if error == DONE else -1,
                    )
                )
            call.answer(
                None
                if request.acks == 0
                else ProduceResponse(
                    responses=[kind(name=name, partition_responses=found) for name, found in answers.items()]
                )
            )
            return True

        self._wait(request.timeout_ms, done)

    def _append(self, place, data: bytes, acks: int, results) -> None:
        """Offer the batches of one partition, one step each; the outcome is put into `results`."""
        plane, p = self._plane(*place), self._number(*place)
        if place[0] == OFFSETS_TOPIC:
            results[place] = "INVALID_TOPIC_EXCEPTION", -1
            return
        try:
            batches = split(data)
        except CorruptBatch:
            results[place] = "CORRUPT_MESSAGE", -1
            return
        if plane is None or p is None or not batches:
            results[place] = "UNKNOWN_TOPIC_OR_PARTITION" if plane is None else DONE, -1
            return
        left, base = len(batches), plane.log.offset_of(self._producers_of(p).judge(batches[0])[1])

        def respond(error: str) -> None:
            nonlocal left
            left -= 1
            if results[place][0] in (None, DONE) and (error != DONE or left == 0):
                results[place] = error, base

        for batch in batches:
            error = self._offer(plane, p, batch, acks, respond)
            if error:
                results[place] = error, -1
                return

    def _offer(self, plane, p, batch, acks, respond) -> str | None:
        """Take the step of one batch, unless it is a duplicate; what went wrong with it, None for nothing."""
        verdict, at = self._producers_of(p).judge(batch)
        judges = plane.replica.state == LEADER and not lacks_replicas(int(acks == ALL), enough_in_sync(plane.replica))
        if judges and verdict == REPEATED:
            plane.repeat(at if acks == ALL else None, respond)
            return None
        if judges and verdict != TAKEN:
            return verdict
        if not self._try_step(data_plane.produce, offer=Offer(batch, respond), p=p, acks=int(acks == ALL)):
            failed = self._process.partition.replicas[p].failed
            return "KAFKA_STORAGE_ERROR" if failed else "NOT_LEADER_OR_FOLLOWER"
        if self._process.answer == NOT_ENOUGH_REPLICAS:
            return "NOT_ENOUGH_REPLICAS"
        if acks != ALL:
            respond(DONE)
        return None

    # Fetch and ListOffsets

    def _fetch(self, call: Call) -> None:
        request = call.request
        wanted = [(topic.topic, each) for topic in request.topics for each in topic.partitions]

        def done(is_due: bool) -> bool:
            ready = any(self._has_something(topic, each) for topic, each in wanted)
            if ready or is_due:
                call.answer(self._fetched(request, wanted))
            return ready or is_due

        self._wait(request.max_wait_ms, done)

    def _has_something(self, topic, wanted) -> bool:
        """Whether a fetch of a partition is not to wait: there is a batch, or something is wrong."""
        plane = self._plane(topic, wanted.partition)
        if why_not(plane, wanted.current_leader_epoch) is not None:
            return True
        return not plane.log.has(wanted.fetch_offset) or wanted.fetch_offset < plane.checkpoint

    def _fetched(self, request, wanted):
        kind, given, answers = FetchResponse.FetchableTopicResponse, 0, {}
        for topic, each in wanted:
            error, plane, data = self._consume(topic, each, given, request.max_bytes)
            given += len(data)
            hw = plane.checkpoint if plane else -1
            answers.setdefault(topic, []).append(
                kind.PartitionData(
                    partition_index=each.partition,
                    error_code=ERRORS[error],
                    high_watermark=hw,
                    last_stable_offset=hw,
                    log_start_offset=plane.log.start_offset if plane else -1,
                    aborted_transactions=[],
                    records=data,
                )
            )
        responses = [kind(topic=topic, partitions=found) for topic, found in answers.items()]
        return FetchResponse(throttle_time_ms=0, error_code=ERRORS[DONE], session_id=NO_SESSION, responses=responses)

    def _consume(self, topic, wanted, given, most) -> tuple[str, object, bytes]:
        """Read batches from an offset on, one step each, as many as fit into an answer that has `given` bytes already."""
        plane, p, data = self._plane(topic, wanted.partition), self._number(topic, wanted.partition), b""
        wrong = why_not(plane, wanted.current_leader_epoch)
        if wrong is not None:
            return wrong, None, b""
        if not plane.log.has(wanted.fetch_offset):
            return "OFFSET_OUT_OF_RANGE", plane, b""
        place, limit = plane.log.place_of(wanted.fetch_offset), wanted.partition_max_bytes
        while place < plane.log.length:
            if not fits(plane.log.slots[place].size, given + len(data), len(data), most, limit):
                break
            plane.clients.position = place
            if not self._try_step(data_plane.consume, p=p):
                break
            data += plane.log.read(place)
            place += 1
        return DONE, plane, data
