"""The judge of the data path: goes through requests and answers in the order of time, and keeps what they tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from kafkaproof.spec.protocol.batches import Batch
from kafkaproof.spec.protocol.fetch_sessions import Fetch, Given, Place, Sessions, Wanted, heads_of
from kafkaproof.spec.replica.errors import KNOWN, TAKEN, UNKNOWN_TOPICS
from kafkaproof.traces.explain.partitions.sent import STOP_REPLICA
from kafkaproof.traces.wire.control.answers import errors_in
from kafkaproof.traces.wire.control.entries import entries_of, id_text, name_of
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.history import Partition
from kafkaproof.traces.wire.replica.followers import Ends, Followers
from kafkaproof.traces.wire.replica.known import Known
from kafkaproof.traces.wire.replica.leaders import CLIENT, OUT_OF_RANGE, Asked, Leaders
from kafkaproof.traces.wire.replica.logs import FAR, end_of, words_of
from kafkaproof.traces.wire.replica.producers import Producers, Sent
from kafkaproof.traces.wire.replica.roles import Roles
from kafkaproof.traces.wire.replica.stage import variants_of
from kafkaproof.traces.wire.traffic import Traffic
from kafkaproof.traces.wire.verdicts import LISTED, STEP, WRONG, Judged, Verdict

FETCH, PRODUCE, OFFSETS = "Fetch", "Produce", "OffsetForLeaderEpoch"
DATA = FETCH, PRODUCE, OFFSETS
_NO_TOPIC = Verdict(LISTED, "of a topic that is not in the log")
_NO_METADATA = Verdict(LISTED, "a broker that may not have been told of the topic yet")
_OLDER = Verdict(LISTED, "records of an older format")
_NO_EPOCH = Verdict(
    LISTED, "an epoch of no record: the end is not known, where transitions give that of the epoch before"
)
_ORDER = {WRONG: 0, STEP: 1, LISTED: 2}


class Part(NamedTuple):
    """A part of a request, about one partition, and the batch that is in it."""

    asked: Asked
    batch: Batch | None = None


def judge_replicas(traffic: Traffic, judged: Judged) -> None:
    """Judge what followers and clients ask of replicas, and what is answered."""
    Path(traffic).judge(judged)


class Path:
    """The data path of some traffic."""

    def __init__(self, traffic: Traffic):
        self._exchanges = [each for each in traffic.exchanges if each.api in DATA]
        self._removals = [each for each in traffic.of(STOP_REPLICA) if not each.is_lost]
        self._names = {id: topic for topic in traffic.history.topics for id in traffic.history.topic_ids(topic)}
        self._history, self._known = traffic.history, Known()
        self._roles = Roles(traffic.exchanges, traffic.history)
        variants = variants_of(traffic.features)
        self._leaders = Leaders(self._known, self._roles, variants)
        self._followers = Followers(self._known, self._roles, variants)
        self._producers = Producers(self._known, self._roles, self._leaders)
        self._sessions: dict[int | None, Sessions] = defaultdict(Sessions)
        self._fetches: dict[Exchange, Fetch] = {}
        self._parts: dict[Exchange, dict[Partition, Part]] = {}
        self._before: dict[tuple, Exchange] = {}
        self._told: set[Exchange] = set()
        self._found: dict[Exchange, list[Verdict]] = defaultdict(list)

    def judge(self, judged: Judged) -> None:
        """Judge all messages."""
        for _, _, _, event, argument in sorted(self._events(), key=lambda each: each[:3]):
            event(*argument)
        for each in self._exchanges:
            found = self._found[each] or [Verdict(STEP, f"{each.api}, not answered")]
            judged.note(each, min(found, key=lambda verdict: _ORDER[verdict.kind]))

    def _events(self) -> Iterator[tuple[float, int, int, Any, tuple]]:
        """What happens, in order: when, and first what changes roles, then requests, then answers."""
        begins = min((each.time for each in self._exchanges), default=0)
        for partition, versions in self._history.states.items():
            for version in versions:
                if version.before is None and version.time >= begins:
                    yield version.time, 0, 0, self._known.create, (partition,)
            for broker in {r for each in versions for r in each.state.isr}:
                for time in self._roles.begins_to_lead(broker, partition):
                    yield time, 0, 1, self._known.begin, (broker, partition)
                for time in self._roles.ceases_to_lead(broker, partition):
                    yield time, 0, 1, self._known.free, (broker, partition)
        for each in self._removals:
            for entry in entries_of(each):
                if entry.kind == STOP_REPLICA:
                    is_done = errors_in(each).get(entry.partition) == TAKEN
                    yield (
                        each.time,
                        0,
                        2,
                        self._known.remove if is_done else self._known.free,
                        (each.broker, entry.partition),
                    )
        for life in self._history.lives:
            if life.time >= begins:
                yield life.time, 0, 2, self._known.restart, (life.broker,)
        for number, each in enumerate(self._exchanges):
            if each.is_lost:
                continue
            yield each.time, 1, number, self._ask, (each,)
            if each.told is not None and each.answered is not None:
                yield each.answered, 2, number, self._tell, (each,)

    def _ask(self, exchange: Exchange) -> None:
        """A request arrives; what its connection was answered within the same millisecond came before."""
        channel = exchange.place.file, exchange.connection
        before, self._before[channel] = self._before.get(channel), exchange
        if before and before.told is not None and before.answered == exchange.time:
            self._tell(before)
        {FETCH: self._ask_fetch, PRODUCE: self._ask_produce, OFFSETS: self._ask_ends}[exchange.api](exchange)

    def _tell(self, exchange: Exchange) -> None:
        """A request is answered."""
        if exchange not in self._told:
            self._told.add(exchange)
            {FETCH: self._tell_fetch, PRODUCE: self._tell_produce, OFFSETS: self._tell_ends}[exchange.api](exchange)

    # What is asked

    def _partition(self, exchange: Exchange, place: Place) -> Partition | None:
        """The partition that a request names, if the log has it."""
        named, number = place
        topic = named if isinstance(named, str) else self._names.get(id_text(named) or "")  # type: ignore[arg-type]
        if topic is None or (topic, number) not in self._history.states:
            self._found[exchange].append(_NO_TOPIC)
            return None
        return topic, number

    def _part(self, exchange: Exchange, sender: int, partition: Partition, wanted: Wanted, batch=None) -> Part:
        assert exchange.broker is not None
        until = exchange.time if exchange.answered is None else exchange.answered
        floor = self._leaders.floor(exchange.broker, partition, exchange.time)
        least = self._known.of(exchange.broker, partition).log.least
        return Part(Asked(exchange.broker, sender, partition, wanted, exchange.time, until, floor, least), batch)

    def _ask_fetch(self, exchange: Exchange) -> None:
        fetch = self._fetches[exchange] = self._sessions[exchange.broker].ask(exchange.asked)
        parts, sender = self._parts.setdefault(exchange, {}), replica_of(exchange)
        for place, wanted in fetch.wanted.items():
            if (partition := self._partition(exchange, place)) is None:
                continue
            parts[partition] = self._part(exchange, sender, partition, wanted)
            if sender == CLIENT:
                continue
            assert exchange.broker is not None
            leader = self._known.of(exchange.broker, partition)
            leader.ends_most[sender] = max(leader.most_of(sender), wanted.offset)
            if place in fetch.named:
                why = self._followers.why_not_asked(sender, exchange.broker, partition, wanted, exchange.time)
                self._note(exchange, partition, why and f"broker {sender} {why}")
        if not fetch.is_whole and sender != CLIENT:
            self._open(exchange.broker, sender, parts.keys())

    def _open(self, broker: int | None, sender: int, named: Iterable[Partition]) -> None:
        """A follower fetches more than what is known: its ends may be anywhere."""
        for partition, own in self._known.replicas.items():
            if partition not in set(named) and broker in own:
                own[broker].ends_most[sender] = FAR

    def _note(self, exchange: Exchange, partition: Partition, why: str | None) -> None:
        self._found[exchange].append(
            Verdict(WRONG, f"{name_of(partition)}: {why}") if why else Verdict(STEP, exchange.api)
        )

    def _list(self, exchange: Exchange, asked: Asked, error: str) -> bool:
        """Whether an answer is of a listed kind."""
        if error in UNKNOWN_TOPICS and not self._roles.knows_topic(asked.broker, asked.partition[0], asked.since):
            self._found[exchange].append(_NO_METADATA)
            return True
        if error in (TAKEN, OUT_OF_RANGE) or error in KNOWN or error in UNKNOWN_TOPICS:
            return False
        self._found[exchange].append(Verdict(LISTED, f"answered {error}, which no transition gives"))
        return True

    # What a fetch is answered

    def _tell_fetch(self, exchange: Exchange) -> None:
        given = self._sessions[exchange.broker].give(self._fetches[exchange], exchange.told or {})
        is_empty = not any(each.batches is None or each.batches for each in given.values())
        is_whole = is_empty and not exchange.asked.get("isolation_level")
        for place, each in given.items():
            partition = self._partition(exchange, place)
            if partition in self._parts[exchange]:
                self._given(exchange, self._parts[exchange][partition].asked, each, is_whole)

    def _given(self, exchange: Exchange, asked: Asked, given: Given, is_empty: bool) -> None:
        if self._list(exchange, asked, given.error):
            return
        follows = asked.sender != CLIENT
        role = self._leaders.role_of(asked, given, is_empty)
        if isinstance(role, str):
            self._note(exchange, asked.partition, role)
        elif given.error == TAKEN:
            self._note(exchange, asked.partition, self._why_not_given(asked, role, given))
        else:
            self._note(exchange, asked.partition, None)
        if follows and not exchange.answer_lost:
            self._followers.told(asked.sender, asked.partition, asked.wanted, given)

    def _why_not_given(self, asked: Asked, role: Any, given: Given) -> str | None:
        """Why a leader does not give this; what it gives tells of its log."""
        replica, records = self._known.of(asked.broker, asked.partition), self._known.records[asked.partition]
        if asked.sender != CLIENT and not given.diverging:
            replica.ends_least[asked.sender] = asked.wanted.offset
        why = self._leaders.reach(asked.broker, asked.partition, role, asked, given.hw)
        batches = given.batches or ()
        why = why or self._leaders.why_not_records(replica, asked, role, batches)
        if asked.sender == CLIENT and batches and end_of(batches[-1]) > replica.hw_most:
            why = why or f"gives a consumer {words_of(batches[-1])}, where its ISR has fetched up to {replica.hw_most}"
        for each in () if why else batches:
            records.add(each)
            replica.log.add(each)
        replica.log.least = max(replica.log.least, asked.wanted.offset if not given.diverging else 0)
        return why

    # What producers are answered

    def _ask_produce(self, exchange: Exchange) -> None:
        parts = self._parts.setdefault(exchange, {})
        for place, records in _sent_in(exchange.asked):
            if (partition := self._partition(exchange, place)) is None:
                continue
            heads = heads_of(records)
            if not heads or len(heads) != 1:
                self._found[exchange].append(_OLDER)
                continue
            self._known.records[partition].send(heads[0])
            parts[partition] = self._part(exchange, CLIENT, partition, Wanted(0, None, None), heads[0])
            if exchange.told is None:
                self._producers.lost(partition, heads[0])

    def _tell_produce(self, exchange: Exchange) -> None:
        for topic in (exchange.told or {})["responses"]:
            for each in topic["partition_responses"]:
                partition = topic["name"], each["index"]
                part, error = self._parts[exchange].get(partition), each["error_code"].name.upper()
                if part is None or part.batch is None or self._list(exchange, part.asked, error):
                    continue
                sent = Sent(part.batch, exchange.asked["acks"], error, each["base_offset"], part.asked.least)
                self._note(exchange, partition, self._producers.why_not(part.asked, sent))

    # Where epochs end

    def _ask_ends(self, exchange: Exchange) -> None:
        parts = self._parts.setdefault(exchange, {})
        for topic in exchange.asked["topics"]:
            for each in topic["partitions"]:
                if partition := self._partition(exchange, (topic["topic"], each["partition"])):
                    epoch = each.get("current_leader_epoch", -1)
                    wanted = Wanted(0, epoch if epoch >= 0 else None, each["leader_epoch"])
                    parts[partition] = self._part(exchange, replica_of(exchange), partition, wanted)

    def _tell_ends(self, exchange: Exchange) -> None:
        for topic in (exchange.told or {})["topics"]:
            for each in topic["partitions"]:
                partition, error = (topic["topic"], each["partition"]), each["error_code"].name.upper()
                part = self._parts[exchange].get(partition)
                if part is None or self._list(exchange, part.asked, error):
                    continue
                epoch, end = each.get("leader_epoch"), each["end_offset"]
                why = self._leaders.of_epoch(part.asked, error, (epoch, end))
                if why and error == TAKEN and end < 0 and not self._has_epoch(part.asked):
                    self._found[exchange].append(_NO_EPOCH)
                else:
                    self._note(exchange, partition, why)
                if part.asked.sender != CLIENT and error == TAKEN and not exchange.answer_lost:
                    known = part.asked.wanted.last or 0
                    ends = Ends(-1, 0) if end < 0 else Ends(known if epoch is None else epoch, end)
                    self._followers.told_end(part.asked.sender, partition, ends)

    def _has_epoch(self, asked: Asked) -> bool:
        """Whether a record of the epoch that is asked for was seen in a leader's log."""
        runs = self._known.of(asked.broker, asked.partition).log.runs()
        return any(each.epoch == asked.wanted.last for each in runs)


def replica_of(exchange: Exchange) -> int:
    """The follower that sends a request, CLIENT where a client does."""
    asked = exchange.asked
    state = asked.get("replica_state") or {}
    named = max(asked.get("replica_id", CLIENT), state.get("replica_id", CLIENT))
    return named if named >= 0 else exchange.sender if exchange.sender is not None else CLIENT


def _sent_in(said: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
    for topic in said["topic_data"]:
        for each in topic["partition_data"]:
            yield (topic["name"], each["index"]), each["records"]
