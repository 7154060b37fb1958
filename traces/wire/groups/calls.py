"""Requests of groups, each as the specification's coordinator is asked it, with what the wire says was answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

from kafkaproof.spec.group.network import Verdict
from kafkaproof.traces.wire.exchanges import Exchange

JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT, FETCH = (
    "JoinGroup",
    "SyncGroup",
    "Heartbeat",
    "LeaveGroup",
    "OffsetCommit",
    "OffsetFetch",
)
GROUP_APIS = JOIN, SYNC, HEARTBEAT, LEAVE, COMMIT, FETCH
NONE = Verdict.names[Verdict.names.index("NONE")]
NOTHING = "nothing of what was asked"
"""What stands for an error where an answer is of something else."""
NEVER = (1 << 30) - 1
"""A generation that no group reaches, for the number 0 on the wire: Kafka has no generation 0, and in the specification it
stands for none.
"""
Place = tuple[str, int]


class Offset(NamedTuple):
    """A committed offset; `leader_epoch` is -1 where none is named."""

    offset: int
    leader_epoch: int
    metadata: str


NO_OFFSET = Offset(-1, -1, "")


class Listed(NamedTuple):
    """A member in the list that a leader gets."""

    name: str
    instance: str | None
    metadata: bytes


@dataclass(frozen=True)
class Answer:
    """What a request was answered: the error, and what an answer without one says. None: it does not say.

    `spared`: a leader is told to skip the assignment; `refused`: the errors of partitions that have their own.
    """

    verdict: str
    generation: int = -1
    protocol: str | None = None
    leader: str = ""
    member: str = ""
    members: frozenset[Listed] | None = None
    assignment: bytes = b""
    offsets: dict[Place, Offset] | None = None
    spared: bool = False


@dataclass(eq=False)
class Call:
    """A request to one group: at `broker`, from `time` to `answered` (ms), and what it asks.

    `answer` is None where none was seen. `member` is the id that it names, "" for none; `generation` as the specification
    has it; `places` the partitions whose offsets are fetched, None for all; `exact`: the answer has leader epochs.
    """

    exchange: Exchange
    group: str
    broker: int
    member: str = ""
    instance: str | None = None
    generation: int = 0
    told: bool = True
    session: int = 0
    rebalance: int = 0
    protocols: tuple[tuple[str, bytes], ...] = ()
    assigned: dict[str, bytes] = field(default_factory=dict)
    offsets: dict[Place, Offset] = field(default_factory=dict)
    places: tuple[Place, ...] | None = None
    stable: bool = False
    exact: bool = False
    answer: Answer | None = None

    @property
    def api(self) -> str:
        """Its API."""
        return self.exchange.api

    @property
    def time(self) -> int:
        """When it passed."""
        return self.exchange.time

    @property
    def answered(self) -> int | None:
        """When its answer passed."""
        return self.exchange.answered

    @property
    def fetched(self) -> tuple[Place, ...]:
        """The partitions whose offsets it fetches, as far as that is known."""
        told = self.answer.offsets if self.answer else None
        return tuple(told or ()) if self.places is None else self.places

    @property
    def stands_alone(self) -> bool:
        """Whether it is of nobody in the group: a consumer without a group, or a tool."""
        return self.generation == 0 and not self.member


def calls_of(exchange: Exchange) -> list[Call]:
    """The requests of one group or one member in an exchange."""
    return list(_READERS[exchange.api](exchange, exchange.asked, exchange.told))


def error_in(said: dict[str, Any]) -> str:
    """The error that something names."""
    return said["error_code"].name.upper()


def _ms(time: timedelta | int) -> int:
    return round(time.total_seconds() * 1000) if isinstance(time, timedelta) else time


def _generation(number: int) -> int:
    return 0 if number < 0 else number or NEVER


def _error_of(told: dict[str, Any] | None) -> Answer | None:
    return Answer(error_in(told)) if told else None


def _common(exchange: Exchange, asked: dict[str, Any]) -> dict[str, Any]:
    assert exchange.broker is not None
    return {
        "exchange": exchange,
        "group": asked["group_id"],
        "broker": exchange.broker,
        "member": asked.get("member_id") or "",
        "instance": asked.get("group_instance_id"),
    }


def _joins(exchange: Exchange, asked: dict, told: dict | None) -> Iterator[Call]:
    answer = (
        Answer(
            error_in(told),
            told["generation_id"],
            told["protocol_name"] or None,
            told["leader"],
            told["member_id"],
            frozenset(
                Listed(m["member_id"], m.get("group_instance_id"), bytes(m["metadata"])) for m in told["members"]
            ),
            spared=told.get("skip_assignment", False),
        )
        if told
        else None
    )
    session = _ms(asked["session_timeout"])
    yield Call(
        **_common(exchange, asked),
        told=exchange.version >= TOLD_FROM,
        session=session,
        rebalance=_ms(asked.get("rebalance_timeout", session)),
        protocols=tuple((each["name"], bytes(each["metadata"])) for each in asked["protocols"]),
        answer=answer,
    )


def _syncs(exchange: Exchange, asked: dict, told: dict | None) -> Iterator[Call]:
    yield Call(
        **_common(exchange, asked),
        generation=_generation(asked["generation_id"]),
        assigned={each["member_id"]: bytes(each["assignment"]) for each in asked["assignments"]},
        answer=Answer(error_in(told), protocol=told.get("protocol_name"), assignment=bytes(told["assignment"]))
        if told
        else None,
    )


def _heartbeats(exchange: Exchange, asked: dict, told: dict | None) -> Iterator[Call]:
    generation = _generation(asked["generation_id"])
    yield Call(**_common(exchange, asked), generation=generation, answer=_error_of(told))


def _leavings(exchange: Exchange, asked: dict, told: dict | None) -> Iterator[Call]:
    """From version 3 on a request may be of several members, each with an error of its own."""
    own = told["members"] if told and "members" in told else ()
    for n, each in enumerate(asked.get("members", (asked,))):
        part = told if not told or error_in(told) != NONE or n >= len(own) else own[n]
        common = _common(exchange, {**each, "group_id": asked["group_id"]})
        yield Call(**common, answer=_error_of(part))


def _commits(exchange: Exchange, asked: dict, told: dict | None) -> Iterator[Call]:
    """A partition that has an error of its own is left out."""
    errors = {
        (topic["name"], each["partition_index"]): error_in(each)
        for topic in (told or {}).get("topics", ())
        for each in topic["partitions"]
    }
    own = {place for place, error in errors.items() if error in OF_PARTITIONS}
    rest = {error for place, error in errors.items() if place not in own}
    offsets = {
        (topic["name"], each["partition_index"]): Offset(
            each["committed_offset"], each.get("committed_leader_epoch", -1), each["committed_metadata"] or ""
        )
        for topic in asked["topics"]
        for each in topic["partitions"]
    }
    yield Call(
        **_common(exchange, asked),
        generation=_generation(asked.get("generation_id_or_member_epoch", -1)),
        offsets={place: offset for place, offset in offsets.items() if place not in own},
        answer=Answer(" and ".join(sorted(rest)) or NOTHING) if told else None,
    )


def _fetches(exchange: Exchange, asked: dict, told: dict | None) -> Iterator[Call]:
    """From version 8 on a request may be of several groups."""
    answers = {each["group_id"]: each for each in (told or {}).get("groups", ())}
    for each in asked.get("groups", (asked,)):
        topics = each["topics"]
        part = answers.get(each["group_id"]) if "groups" in asked else told
        yield Call(
            **_common(exchange, {"group_id": each["group_id"]}),
            places=None
            if topics is None
            else tuple((topic["name"], p) for topic in topics for p in topic["partition_indexes"]),
            stable=asked.get("require_stable", False),
            exact=exchange.version >= EXACT_FROM,
            answer=_fetched(part) if part else Answer(NOTHING) if told else None,
        )


def _fetched(part: dict[str, Any]) -> Answer:
    found = {(topic["name"], each["partition_index"]): each for topic in part["topics"] for each in topic["partitions"]}
    errors = {error_in(each) for each in found.values()} - {NONE}
    whole = error_in(part) if "error_code" in part else NONE
    offsets = {
        place: Offset(each["committed_offset"], each.get("committed_leader_epoch", -1), each["metadata"] or "")
        for place, each in found.items()
        if error_in(each) == NONE
    }
    return Answer(" and ".join(sorted(errors)) if errors and whole == NONE else whole, offsets=offsets)


TOLD_FROM, EXACT_FROM = 4, 5
"""The versions of JoinGroup from which on MEMBER_ID_REQUIRED is answered, and of OffsetFetch that have leader epochs."""
OF_PARTITIONS = ("UNKNOWN_TOPIC_OR_PARTITION", "OFFSET_METADATA_TOO_LARGE", "TOPIC_AUTHORIZATION_FAILED")
"""Errors that a commit gets for some of its partitions."""
_READERS: dict[str, Callable[[Exchange, dict, dict | None], Iterator[Call]]] = {
    JOIN: _joins,
    SYNC: _syncs,
    HEARTBEAT: _heartbeats,
    LEAVE: _leavings,
    COMMIT: _commits,
    FETCH: _fetches,
}
