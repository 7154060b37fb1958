"""Changes of the data path: of what followers fetch, of what leaders give them, and of what producers are told."""

import struct
from collections.abc import Callable

from kio.schema.errors import ErrorCode

FETCH, PRODUCE, OFFSETS = "Fetch", "Produce", "OffsetForLeaderEpoch"
_BASE_AT, _EPOCH_AT, _CRC_AT, _COUNT_AT = (0, "!q"), (12, "!i"), (17, "!I"), (23, "!i")


def asked_parts(said: dict) -> list[dict]:
    """What a request names."""
    return [each for topic in said.get("topics", ()) for each in topic["partitions"]]


def given_parts(said: dict) -> list[dict]:
    """What an answer says of partitions that have no error."""
    topics = said.get("responses", said.get("topics", ()))
    parts = [each for topic in topics for each in topic.get("partitions", topic.get("partition_responses", ()))]
    return [each for each in parts if each["error_code"] == ErrorCode.none]


def of_part(parts: Callable, name: str, change: Callable) -> Callable:
    """A field of the first part is another; `change` gives None where there is nothing to change."""

    def apply(said):
        own = [each for each in parts(said) if each.get(name) is not None]
        if not own or (value := change(own[0][name])) is None:
            return False
        own[0][name] = value
        return True

    return apply


def by(number: int, least: int = 0) -> Callable:
    """Another number; only where it is at least `least` before and after."""
    return lambda value: value + number if value >= least and value + number >= least else None


def in_batch(field: tuple[int, str], number: int) -> Callable:
    """A number in the head of the first batch is another."""
    place, form = field

    def change(records):
        if not records:
            return None
        data = bytearray(records)
        struct.pack_into(form, data, place, struct.unpack_from(form, data, place)[0] + number)
        return bytes(data)

    return change


def without_first(records):
    """The first batch of several is left out."""
    size = 12 + int.from_bytes(records[8:12], "big") if records else 0
    return bytes(records[size:]) if records and len(records) > size else None


def nothing(records):
    """No records are given."""
    return b"" if records else None


def diverging(said: dict) -> bool:
    """The logs are said to diverge."""
    own = [each for each in given_parts(said) if "diverging_epoch" in each and each["high_watermark"] > 2]
    if not own or own[0]["diverging_epoch"]["end_offset"] >= 0:
        return False
    own[0]["diverging_epoch"] = {"epoch": 0, "end_offset": own[0]["high_watermark"] - 2}
    own[0]["records"] = b""
    return True


def error(name: str) -> Callable:
    """The first part has an error."""

    def apply(said):
        if not (own := given_parts(said)):
            return False
        own[0]["error_code"] = getattr(ErrorCode, name)
        if "high_watermark" in own[0]:
            own[0]["high_watermark"], own[0]["records"] = -1, b""
        if "base_offset" in own[0]:
            own[0]["base_offset"] = -1
        return True

    return apply


def no_error(said: dict) -> bool:
    """What was refused has no error."""
    topics = said.get("responses", said.get("topics", ()))
    parts = [each for topic in topics for each in topic.get("partitions", topic.get("partition_responses", ()))]
    own = [each for each in parts if each["error_code"] in REFUSALS]
    if not own:
        return False
    own[0]["error_code"] = ErrorCode.none
    own[0]["base_offset" if "base_offset" in own[0] else "high_watermark"] = 0
    return True


REFUSALS = (ErrorCode.not_leader_or_follower, ErrorCode.fenced_leader_epoch, ErrorCode.unknown_leader_epoch)


def offset_of(said: dict) -> int:
    """The offset that a producer was told first."""
    return said["responses"][0]["partition_responses"][0]["base_offset"]


def another(said: dict) -> bool:
    """Another replica asks."""
    if "replica_id" in said:
        said["replica_id"] = (said["replica_id"] + 1) % 3
    else:
        said["replica_state"]["replica_id"] = (said["replica_state"]["replica_id"] + 1) % 3
    return True


def sent_batch(said: dict) -> bool:
    """A batch has other records."""
    part = said["topic_data"][0]["partition_data"][0]
    part["records"] = in_batch(_CRC_AT, 1)(part["records"])
    return True


ASKED = {
    (FETCH, "fetch offset, further on"): of_part(asked_parts, "fetch_offset", by(7)),
    (FETCH, "fetch offset, further back"): of_part(asked_parts, "fetch_offset", by(-1)),
    (FETCH, "leader epoch of the follower"): of_part(asked_parts, "current_leader_epoch", by(1)),
    (FETCH, "epoch of the follower's last record"): of_part(asked_parts, "last_fetched_epoch", by(1)),
    (FETCH, "follower"): another,
    (PRODUCE, "records of a batch"): sent_batch,
    (OFFSETS, "epoch that is asked for"): of_part(asked_parts, "leader_epoch", by(-1)),
}
TOLD = {
    (FETCH, "high watermark, raised"): of_part(given_parts, "high_watermark", by(4)),
    (FETCH, "high watermark, fallen"): of_part(given_parts, "high_watermark", by(-3)),
    (FETCH, "error NOT_LEADER_OR_FOLLOWER"): error("not_leader_or_follower"),
    (FETCH, "error FENCED_LEADER_EPOCH"): error("fenced_leader_epoch"),
    (FETCH, "error UNKNOWN_LEADER_EPOCH"): error("unknown_leader_epoch"),
    (FETCH, "error OFFSET_OUT_OF_RANGE"): error("offset_out_of_range"),
    (FETCH, "error turned to none"): no_error,
    (FETCH, "logs that diverge"): diverging,
    (FETCH, "offset of a batch"): of_part(given_parts, "records", in_batch(_BASE_AT, 1)),
    (FETCH, "leader epoch of a batch"): of_part(given_parts, "records", in_batch(_EPOCH_AT, 1)),
    (FETCH, "records of a batch"): of_part(given_parts, "records", in_batch(_CRC_AT, 1)),
    (FETCH, "number of records of a batch"): of_part(given_parts, "records", in_batch(_COUNT_AT, 1)),
    (FETCH, "a batch left out"): of_part(given_parts, "records", without_first),
    (FETCH, "all records left out"): of_part(given_parts, "records", nothing),
    (PRODUCE, "offset, further on"): of_part(given_parts, "base_offset", by(1)),
    (PRODUCE, "offset, further back"): of_part(given_parts, "base_offset", by(-1)),
    (PRODUCE, "error NOT_LEADER_OR_FOLLOWER"): error("not_leader_or_follower"),
    (PRODUCE, "error NOT_ENOUGH_REPLICAS"): error("not_enough_replicas"),
    (PRODUCE, "error turned to none"): no_error,
    (OFFSETS, "end of an epoch, further on"): of_part(given_parts, "end_offset", by(3)),
    (OFFSETS, "end of an epoch, further back"): of_part(given_parts, "end_offset", by(-1)),
    (OFFSETS, "epoch in the answer"): of_part(given_parts, "leader_epoch", by(1)),
    (OFFSETS, "error NOT_LEADER_OR_FOLLOWER"): error("not_leader_or_follower"),
    (OFFSETS, "error FENCED_LEADER_EPOCH"): error("fenced_leader_epoch"),
}
AT_ONCE = "acknowledged at once"
UNANSWERED = "answer left out"
