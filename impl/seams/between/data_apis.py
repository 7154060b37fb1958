"""What followers ask leaders: Fetch; and what leaders ask the controller: AlterPartition."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from types import MappingProxyType

from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse

from kafkaproof.impl.protocol.inner_frames import Frame
from kafkaproof.impl.protocol.wire import LARGEST
from kafkaproof.impl.seams.between.control_apis import UNKNOWN
from kafkaproof.impl.seams.between.messages import OK, Message, Outcome
from kafkaproof.impl.seams.between.naming import (
    Asked,
    Naming,
    Part,
    Returned,
    answers_by_place,
    asked_of,
    by_topic,
    code,
    common_code,
    in_topics,
    numbers,
    topic_in,
)
from kafkaproof.spec.language.plain import ids_in, members
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.verdicts import TAKE_BACK, WAIT, AlterError, reaction
from kafkaproof.spec.protocol.batches import read_header
from kafkaproof.spec.replica.network import DIVERGING, DONE, FETCH, NO_RECORD, RECORD, SENT
from kafkaproof.spec.replica.zookeeper import Answer
from kafkaproof.spec.running.replica_messages import ASKED, FETCHED, OUTDATED, WRITTEN

PROPOSED, REFUSED = "AlterPartition", "IsrRefused"
"""What a leader proposes; what a controller answers that refuses it for a member. `OUTDATED` is for its version."""
FETCH_WAIT = 0.8
"""How long a leader lets a fetch wait, in seconds (replica.fetch.wait.max.ms)."""
ONE_BATCH = 1
"""A leader sends at least one whole batch, whatever the limit in bytes: a step of a follower takes one."""
AT_ALL = ("not_controller", "stale_broker_epoch")
NO_SESSION, NO_LEADER, NO_OFFSET, NO_REPLICA = -1, -1, -1, -1
ANY_EPOCH = -1
"""The broker epoch of a member of an ISR that is proposed: with ZooKeeper none is told (Partition.addBrokerEpochToIsr)."""
UNKNOWN_ID = "unknown_topic_id"
NOT_LEADER, NOT_CONTROLLER = "not_leader_or_follower", "not_controller"


def refusal_of(answer: int | None) -> str:
    """The name of the error with which a leader answers a fetch."""
    named = "NOT_LEADER" if answer is None else Answer.names[answer]
    return {"OK": OK, "NOT_LEADER": NOT_LEADER}.get(named, named.lower())


class Fetch:
    """A message of a follower for each partition; the answer to it is one, unless the leader refuses it."""

    key, versions, named = FetchRequest.API_KEY, MappingProxyType({"2.8": 12, "3.9": 17}), 12
    served, kinds = (12, 17), (ASKED,)

    @staticmethod
    def request(naming: Naming, messages: list[Message]) -> Asked:
        """As naming.Api; nothing is said of a log by a broker that has none."""
        topics = by_topic(naming, messages)
        wanted = in_topics(topics, "partitions", partial(_wanted, naming), naming.id_of)
        sender = FetchRequest.ReplicaState(replica_id=naming.own_id, replica_epoch=naming.broker_epoch)
        request = FetchRequest(
            replica_id=naming.own_id,
            replica_state=sender,
            max_wait_ms=int(FETCH_WAIT * 1000),
            min_bytes=1,
            max_bytes=LARGEST,
            isolation_level=0,
            session_id=0,
            session_epoch=NO_SESSION,
            topics=[FetchRequest.FetchTopic(topic=each.pop("topic_name"), **each) for each in wanted],
            forgotten_topics_data=[],
            rack_id="",
        )
        return asked_of(topics, request)

    @staticmethod
    def read(naming: Naming, frame: Frame) -> tuple[int, list[Part]]:
        """As naming.Api; a consumer that comes here finds nothing."""
        number, parts, sender = numbers(naming, frame), [], _replica(frame)
        for topic in frame.fields.topics:
            name = topic_in(naming, topic)
            for each in topic.partitions:
                p = number(name, each.partition) if sender >= 0 else None
                parts.append(Part(ASKED, None if p is None else _asked(naming, p, each)))
        return naming.brokers.number(sender), parts

    @staticmethod
    def answer(naming: Naming, frame: Frame, outcomes: list[Outcome]) -> FetchResponse:
        """As naming.Api."""
        of_parts = iter(_with_ids(frame, Fetch.named, outcomes))
        responses = [
            FetchResponse.FetchableTopicResponse(
                topic=getattr(topic, "topic", ""),
                topic_id=getattr(topic, "topic_id", None),
                partitions=[_given(naming, each.partition, next(of_parts)) for each in topic.partitions],
            )
            for topic in frame.fields.topics
        ]
        return FetchResponse(throttle_time_ms=0, error_code=0, session_id=0, responses=responses)

    @staticmethod
    def returned(naming: Naming, asked: Asked, frame: Frame) -> Iterator[Returned]:
        """As naming.Api."""
        given = answers_by_place(naming, frame.fields.responses)
        for place, message in enumerate(asked.messages):
            p = message.content["p"]
            each = given.get(naming.place_of(p))
            if each is not None and each.error_code == 0 and "fields" in message.content:
                fields, body = _answered(naming, p, message.content["fields"], each)
                told = {"p": p, "fields": fields, "answers": message.id, "start": each.log_start_offset}
                yield Returned(place, FETCHED, told, body)


def _replica(frame: Frame) -> int:
    """Who fetches: a broker, or -1 for a consumer."""
    state = getattr(frame.fields, "replica_state", None)
    return state.replica_id if state else getattr(frame.fields, "replica_id", NO_REPLICA)


def _with_ids(frame: Frame, named: int, outcomes: list[Outcome]) -> list[Outcome]:
    """Outcomes as a version has them: where topics have ids, one that is not known has an error of its own."""
    if frame.version <= named:
        return outcomes
    return [UNKNOWN_ID if outcome == UNKNOWN else outcome for outcome in outcomes]


def _wanted(naming: Naming, partition: int, message: Message) -> FetchRequest.FetchTopic.FetchPartition:
    content = message.content
    fields = content.get("fields") or {"epoch": content["leader_epoch"], "offset": 0, "last": NO_EPOCH}
    return FetchRequest.FetchTopic.FetchPartition(
        partition=partition,
        current_leader_epoch=fields["epoch"],
        fetch_offset=naming.offset_of(content["p"], fields["offset"]),
        last_fetched_epoch=fields["last"],
        log_start_offset=naming.start_of(content["p"]),
        partition_max_bytes=ONE_BATCH,
    )


def _asked(naming: Naming, p: int, each) -> dict:
    """What a follower asks, in the specification's terms."""
    fields = {
        "kind": FETCH,
        "peer": naming.broker,
        "epoch": each.current_leader_epoch,
        "offset": naming.boundary(p, each.fetch_offset),
        "last": each.last_fetched_epoch,
        "id": 0,
        "hw": 0,
        "end": 0,
    }
    return {"p": p, "leader_epoch": each.current_leader_epoch, "fields": fields, "start": each.log_start_offset}


def _given(naming: Naming, partition: int, outcome: Outcome) -> FetchResponse.FetchableTopicResponse.PartitionData:
    """What is answered of a partition."""
    kind = FetchResponse.FetchableTopicResponse.PartitionData
    answered: dict[str, object] = {
        "partition_index": partition,
        "error_code": code(outcome).value,
        "high_watermark": NO_OFFSET,
    }
    answered |= {"last_stable_offset": NO_OFFSET, "log_start_offset": 0, "aborted_transactions": None}
    if not isinstance(outcome, Message):
        return kind(records=b"", **answered)
    p, fields = outcome.content["p"], outcome.content["fields"]
    answered["high_watermark"] = naming.offset_of(p, outcome.content.get("hw", fields["hw"]))
    answered["log_start_offset"] = naming.start_of(p)
    if fields["kind"] == DIVERGING:
        end = naming.offset_of(p, fields["end"])
        answered["diverging_epoch"] = kind.EpochEndOffset(epoch=fields["last"], end_offset=end)
    return kind(records=outcome.body, **answered)


def _answered(naming: Naming, p: int, asked: dict, each) -> tuple[dict, bytes]:
    """The answer to a fetch, in the specification's terms, and the batch in it."""
    body, diverging = bytes(each.records or b""), each.diverging_epoch
    if diverging is not None and diverging.epoch != NO_EPOCH:
        end = naming.boundary(p, diverging.end_offset)
        return asked | {"kind": DIVERGING, "last": diverging.epoch, "end": end}, b""
    hw = naming.boundary(p, each.high_watermark)
    if not body:
        return asked | {"kind": NO_RECORD, "last": 0, "hw": hw}, b""
    batch = read_header(body)
    return asked | {"kind": RECORD, "last": batch.epoch, "id": batch.crc, "hw": hw}, body[: batch.size]


class AlterPartition:
    """A message of a leader for each partition; the answer to it is one, unless the leader is to ask again."""

    key, versions, named, served, kinds = 56, MappingProxyType({"2.8": 1, "3.9": 3}), 1, (0, 3), (PROPOSED,)

    @staticmethod
    def request(naming: Naming, messages: list[Message]) -> Asked:
        """As naming.Api."""
        topics = by_topic(naming, messages)
        proposed = in_topics(topics, "partitions", partial(_proposed, naming), naming.id_of)
        fields = {"broker_id": naming.own_id, "broker_epoch": naming.broker_epoch, "topics": proposed}
        return asked_of(topics, fields)

    @staticmethod
    def read(naming: Naming, frame: Frame) -> tuple[int, list[Part]]:
        """As naming.Api."""
        number, parts = numbers(naming, frame), []
        for topic in frame.fields.topics:
            name = topic_in(naming, topic)
            for each in topic.partitions:
                p, isr = number(name, each.partition_index), members(naming.brokers.numbers(_isr_in(each)))
                content = {
                    "p": p,
                    "leader_epoch": each.leader_epoch,
                    "isr": isr,
                    "version": each.partition_epoch,
                    "fields": {"state": SENT, "epoch": each.leader_epoch, "isr": isr},
                }
                parts.append(Part(PROPOSED, None if p is None else content))
        return naming.brokers.number(frame.fields.broker_id), parts

    @staticmethod
    def answer(naming: Naming, frame: Frame, outcomes: list[Outcome]) -> dict:
        """As naming.Api."""
        found = [(_named(frame, outcome), outcome) for outcome in _with_ids(frame, AlterPartition.named, outcomes)]
        of_parts = iter(found)
        topics = [
            {
                "topic_name": getattr(topic, "topic_name", None),
                "topic_id": getattr(topic, "topic_id", None),
                "partitions": [_decided(naming, frame, each, *next(of_parts)) for each in topic.partitions],
            }
            for topic in frame.fields.topics
        ]
        common = common_code((name for name, _ in found), AT_ALL)
        return {"throttle_time": timedelta(), "error_code": common, "topics": [] if common.value else topics}

    @staticmethod
    def returned(naming: Naming, asked: Asked, frame: Frame) -> Iterator[Returned]:
        """As naming.Api."""
        found = answers_by_place(naming, frame.fields.topics)
        for place, message in enumerate(asked.messages):
            p = message.content["p"]
            each = found.get(naming.place_of(p))
            if each is None:
                continue
            if each.error_code.name == OK:
                fields = {"state": DONE, "epoch": each.leader_epoch, "isr": members(naming.brokers.numbers(each.isr))}
                more = {"fields": fields, "version": each.partition_epoch, "answers": message.id}
                yield Returned(place, WRITTEN, {"p": p} | more)
            elif kind := _kind_of(each.error_code.name):
                more = {"fields": message.content["fields"], "error": each.error_code.name.upper()}
                yield Returned(place, kind, {"p": p} | more)


def _proposed(naming: Naming, partition: int, message: Message) -> dict:
    isr = naming.brokers.ids(ids_in(message.content["isr"]))
    return {
        "partition_index": partition,
        "leader_epoch": message.content["leader_epoch"],
        "new_isr": isr,
        "new_isr_with_epochs": [{"broker_id": b, "broker_epoch": ANY_EPOCH} for b in isr],
        "partition_epoch": message.content["version"],
    }


def _isr_in(proposed) -> list[int]:
    epochs = getattr(proposed, "new_isr_with_epochs", None)
    return list(proposed.new_isr) if epochs is None else [each.broker_id for each in epochs]


def _named(frame: Frame, outcome: Outcome) -> str:
    """The name of the error with which an AlterPartition is answered; in place of INELIGIBLE_REPLICA, which the versions
    without ids do not have, OPERATION_NOT_ATTEMPTED.
    """
    if isinstance(outcome, Message):
        error = outcome.content.get("error", OK if outcome.kind == WRITTEN else "INVALID_UPDATE_VERSION").lower()
    else:
        error = str(outcome)
    has_ids = frame.version > AlterPartition.named
    return "operation_not_attempted" if error == "ineligible_replica" and not has_ids else error


def _decided(naming: Naming, frame: Frame, each, error: str, outcome: Outcome) -> dict:
    found = {"partition_index": each.partition_index, "error_code": code(error), "leader_id": frame.fields.broker_id}
    if not isinstance(outcome, Message) or outcome.kind != WRITTEN:
        return found | {"leader_id": NO_LEADER, "leader_epoch": NO_EPOCH, "isr": [], "partition_epoch": NO_EPOCH}
    fields = outcome.content["fields"]
    isr = naming.brokers.ids(ids_in(fields["isr"]))
    return found | {"leader_epoch": fields["epoch"], "isr": isr, "partition_epoch": outcome.content["version"]}


def _kind_of(error: str) -> str | None:
    """The kind of message that an error is to a leader, None where it is to ask again."""
    known = error.upper()
    verdict = reaction(AlterError.names.index(known)) if known in AlterError.names else WAIT
    return {TAKE_BACK: REFUSED, WAIT: OUTDATED}.get(verdict)
