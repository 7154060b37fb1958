"""Traffic of real clusters with one thing changed: fields, messages that are lost, sent again or sent to another."""

import copy
import random
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import tampered_data
from kio.schema.errors import ErrorCode
from tampered_data import AT_ONCE, FETCH, PRODUCE, UNANSWERED, given_parts

from kafkaproof.traces.commands.log import report_of
from kafkaproof.traces.reading.cluster import find_root
from kafkaproof.traces.reading.recording import read_readable
from kafkaproof.traces.wire.connections import REQUESTS
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.history import History
from kafkaproof.traces.wire.judging import judge_wire
from kafkaproof.traces.wire.listeners import Listeners
from kafkaproof.traces.wire.reading import Wire, read_wire
from kafkaproof.traces.wire.replica.judge import DATA, judge_replicas
from kafkaproof.traces.wire.traffic import Traffic
from kafkaproof.traces.wire.verdicts import Judged

RECORDINGS = Path(__file__).parents[3] / "traces" / "recordings"
NAMES = "3.9.1-wire", "2.8.2-wire", "1.1.1-wire"
LEADER, UPDATE, STOP, ALTER, LEAVE = (
    "LeaderAndIsr",
    "UpdateMetadata",
    "StopReplica",
    "AlterPartition",
    "ControlledShutdown",
)
_OPTIONS = SimpleNamespace(logs=None, chroot=None, release=None, variant=None, master=None, wire=[])


class Recorded(NamedTuple):
    """A recording: its traffic, what ZooKeeper's log tells, and the releases."""

    exchanges: list[Exchange]
    history: History
    features: object

    def judged(self, exchanges: list[Exchange]) -> Judged:
        """Judge some traffic in its place."""
        return judge_wire(wire_of(exchanges), self.history, self.features)

    def judged_of_data(self, exchanges: list[Exchange]) -> Judged:
        """Judge the data path alone: nothing that is changed in it changes what is said of the rest."""
        wire = wire_of(exchanges)
        found = Judged(wire)
        readable = [each for each in wire.exchanges if each.broker is not None and wire.readable(each)]
        judge_replicas(Traffic(readable, self.history, self.features), found)
        return found


def wire_of(exchanges: list[Exchange]) -> Wire:
    """Some traffic, in the order of time."""
    wire = Wire()
    wire.exchanges = sorted(exchanges, key=lambda each: each.time)
    return wire


def recorded(name: str, apis: tuple[str, ...] = ()) -> Recorded:
    """Read a recording: its traffic of some APIs, or all."""
    directory = RECORDINGS / name
    recording, _ = read_readable(directory)
    report = report_of(recording, None, SimpleNamespace(directory=directory, **vars(_OPTIONS)))
    history = History([recording], find_root(recording, None), report.streams)
    wire = read_wire([directory], Listeners())
    exchanges = [each for each in wire.exchanges if not apis or each.api in apis]
    return Recorded(exchanges, history, report.streams.features)


def changed(
    exchange: Exchange, asked: Callable | None = None, told: Callable | None = None, **attributes
) -> Exchange | None:
    """A message with something changed in its request or its answer; None where there is nothing to change."""
    found = copy.copy(exchange)
    found.__dict__["asked"], found.__dict__["told"] = copy.deepcopy(exchange.asked), copy.deepcopy(exchange.told)
    for change, said in (asked, found.asked), (told, found.told):
        if change and (not said or change(said) is False):
            return None
    for name, value in attributes.items():
        setattr(found, name, value)
    return found


def parts(said: dict) -> list[dict]:
    """What is said of each partition."""
    found = list(said.get("ungrouped_partition_states", ())) + list(said.get("partition_errors", ()))
    for topic in (*said.get("topic_states", ()), *said.get("topics", ())):
        found += [*topic.get("partition_states", ()), *topic.get("partitions", ()), *topic.get("partition_errors", ())]
    return [each for each in found if isinstance(each, dict)]


def of_part(change: Callable) -> Callable:
    """A change of what is said of the first partition that there is."""

    def apply(said):
        own = parts(said)
        return False if not own else change(own[0])

    return apply


def raised(name: str, by: int = 1) -> Callable:
    """A number is another one."""

    def apply(said):
        if not isinstance(said.get(name), int) or said[name] < 0:
            return False
        said[name] += by
        return True

    return apply


def without_one(name: str) -> Callable:
    """A list of brokers lacks its last member."""

    def apply(said):
        if len(said.get(name) or ()) < 2:
            return False
        said[name] = tuple(said[name])[:-1]
        return True

    return apply


def with_one(name: str, member: object) -> Callable:
    """A list has one more member."""

    def apply(said):
        if said.get(name) is None:
            return False
        said[name] = (*said[name], member)
        return True

    return apply


def swapped(name: str, other: object) -> Callable:
    """Something is another thing."""

    def apply(said):
        if name not in said or said[name] == other:
            return False
        said[name] = other
        return True

    return apply


def turned(name: str) -> Callable:
    """A list is in the reverse order, which is another."""

    def apply(said):
        if len(said.get(name) or ()) < 2:
            return False
        said[name] = tuple(reversed(said[name]))
        return True

    return apply


def leader_moved(said: dict) -> bool:
    """Another member of the ISR, or nobody, leads."""
    if said.get("leader", -1) < 0:
        return False
    said["leader"] = next((each for each in said["isr"] if each != said["leader"]), -1)
    return True


def flag_turned(said: dict) -> bool:
    """What is to be deleted is not, and the other way round."""
    own = parts(said)
    if own and "delete_partition" in own[0]:
        own[0]["delete_partition"] = not own[0]["delete_partition"]
    elif "delete_partitions" in said:
        said["delete_partitions"] = not said["delete_partitions"]
    else:
        return False
    return True


def one_less_alive(said: dict) -> bool:
    """One of the live brokers is left out."""
    said["live_brokers"] = said["live_brokers"][1:]
    return len(said["live_brokers"]) > 0


def one_more_alive(said: dict) -> bool:
    """A broker that there never was is live."""
    said["live_brokers"] = (*said["live_brokers"], {"id_": 77})
    return True


def id_changed(said: dict) -> bool:
    """A topic has another id."""
    import uuid

    topics = [each for each in said.get("topic_states", ()) if each.get("topic_id")]
    if not topics:
        return False
    topics[0]["topic_id"] = uuid.UUID(int=4242)
    return True


def own_isr_left(said: dict) -> bool:
    """A leader proposes an ISR without itself."""
    part, broker = parts(said)[0], said["broker_id"]
    if "new_isr" in part:
        part["new_isr"] = tuple(each for each in part["new_isr"] if each != broker)
    else:
        part["new_isr_with_epochs"] = tuple(e for e in part["new_isr_with_epochs"] if e["broker_id"] != broker)
    return True


def remains_nothing(said: dict) -> bool:
    """Of the partitions that remain none is told."""
    had = bool(said["remaining_partitions"])
    said["remaining_partitions"] = ()
    return had


def error(name: str) -> Callable:
    return swapped("error_code", getattr(ErrorCode, name))


NO_TOPIC = {"topic_name": "none", "partition_index": 7}
ASKED = {
    (LEADER, "leader"): of_part(leader_moved),
    (LEADER, "leader epoch"): of_part(raised("leader_epoch")),
    (LEADER, "ISR"): of_part(without_one("isr")),
    (LEADER, "version of the state"): of_part(raised("partition_epoch")),
    (LEADER, "controller epoch of the state"): of_part(raised("controller_epoch", 50)),
    (LEADER, "replicas"): of_part(with_one("replicas", 77)),
    (LEADER, "order of replicas"): of_part(turned("replicas")),
    (LEADER, "adding replicas"): of_part(with_one("adding_replicas", 77)),
    (LEADER, "removing replicas"): of_part(with_one("removing_replicas", 77)),
    (LEADER, "topic id"): id_changed,
    (LEADER, "controller"): raised("controller_id"),
    (LEADER, "controller epoch, of a later term"): raised("controller_epoch"),
    (LEADER, "controller epoch, of no term"): raised("controller_epoch", 50),
    (LEADER, "broker epoch"): raised("broker_epoch"),
    (UPDATE, "leader"): of_part(leader_moved),
    (UPDATE, "leader epoch"): of_part(raised("leader_epoch")),
    (UPDATE, "ISR"): of_part(without_one("isr")),
    (UPDATE, "version of the state"): of_part(raised("zk_version")),
    (UPDATE, "replicas"): of_part(without_one("replicas")),
    (UPDATE, "live broker left out"): one_less_alive,
    (UPDATE, "live broker that never was"): one_more_alive,
    (UPDATE, "controller"): raised("controller_id"),
    (UPDATE, "broker epoch"): raised("broker_epoch"),
    (STOP, "delete"): flag_turned,
    (STOP, "leader epoch"): of_part(raised("leader_epoch", 5)),
    (STOP, "partition"): of_part(raised("partition_index", 9)),
    (STOP, "broker epoch"): raised("broker_epoch"),
    (ALTER, "leader epoch"): of_part(raised("leader_epoch", 50)),
    (ALTER, "version of the state"): of_part(raised("partition_epoch", 50)),
    (ALTER, "ISR without the leader"): own_isr_left,
    (ALTER, "sender"): raised("broker_id"),
    (ALTER, "broker epoch"): raised("broker_epoch"),
    (LEAVE, "sender"): raised("broker_id"),
    (LEAVE, "broker epoch"): raised("broker_epoch"),
}
TOLD = {
    (LEADER, "answer STALE_CONTROLLER_EPOCH"): error("stale_controller_epoch"),
    (LEADER, "answer STALE_BROKER_EPOCH"): error("stale_broker_epoch"),
    (LEADER, "error of a partition"): of_part(error("fenced_leader_epoch")),
    (UPDATE, "answer STALE_CONTROLLER_EPOCH"): error("stale_controller_epoch"),
    (UPDATE, "answer STALE_BROKER_EPOCH"): error("stale_broker_epoch"),
    (STOP, "answer STALE_CONTROLLER_EPOCH"): error("stale_controller_epoch"),
    (STOP, "error of a partition"): of_part(error("fenced_leader_epoch")),
    (ALTER, "ISR in the answer"): of_part(without_one("isr")),
    (ALTER, "leader in the answer"): of_part(raised("leader_id")),
    (ALTER, "version in the answer"): of_part(raised("partition_epoch", 5)),
    (ALTER, "error of a partition"): of_part(error("fenced_leader_epoch")),
    (LEAVE, "a partition that remains, added"): with_one("remaining_partitions", NO_TOPIC),
    (LEAVE, "partitions that remain, left out"): remains_nothing,
}
ASKED |= tampered_data.ASKED
TOLD |= tampered_data.TOLD
MOVED = ("sent to another", "sent again 2 s later", "lost")


class Tampering(NamedTuple):
    """A message that is changed: of which API, in what, and which; `at` is what stands in its place, None if it is lost;
    `beside`: it stands beside it.
    """

    api: str
    what: str
    of: Exchange
    at: Exchange | None
    beside: bool = False

    def within(self, exchanges: list[Exchange]) -> list[Exchange]:
        """Traffic with it."""
        others = [each for each in exchanges if each is not self.of or self.beside]
        return others if self.at is None else [*others, self.at]


def kinds() -> list[tuple[str, str]]:
    """All kinds of changes: of which API, and what."""
    moved = [(api, what) for api in (LEADER, UPDATE, STOP) for what in MOVED]
    return [*ASKED, *TOLD, *moved, (PRODUCE, AT_ONCE), (FETCH, UNANSWERED)]


def sampled(of: Recorded, kind: tuple[str, str], places: int) -> list[Tampering]:
    """Changes of a kind at up to so many messages of a recording, chosen at random (seed 1)."""
    own = [each for each in of.exchanges if each.api == kind[0]]
    random.Random(1).shuffle(own)
    return list(islice((found for each in own if (found := tampering(each, kind))), places))


def tampering(each: Exchange, kind: tuple[str, str]) -> Tampering | None:
    """A change of a message, if it can be changed so."""
    what = kind[1]
    if kind in ASKED and (is_of_brokers(each) or each.api != FETCH):
        found = changed(each, asked=ASKED[kind])
    elif kind in TOLD:
        found = changed(each, told=TOLD[kind])
    elif what == AT_ONCE and each.told and tampered_data.offset_of(each.told) >= 0:
        found = changed(each, answered=each.time)
    elif what == UNANSWERED and is_of_brokers(each) and each.told and given_parts(each.told):
        found = changed(each, answer=None, answered=None)
        found.__dict__["told"] = None
    elif what == MOVED[0]:
        found = changed(each, broker=next(b for b in (0, 1, 2) if b != each.broker))
    elif what == MOVED[1]:
        answered = each.answered and each.answered + 2000
        again = changed(each, time=each.time + 2000, answered=answered)
        again.place = each.place._replace(number=-1)
        return Tampering(*kind, each, again, beside=True)
    else:
        return Tampering(*kind, each, None) if what == MOVED[2] else None
    return found and Tampering(*kind, each, found)


def is_of_brokers(each: Exchange) -> bool:
    """Whether a message is none of a client."""
    return each.sender is not None


def found_in(of: Recorded, change: Tampering) -> tuple[bool, bool]:
    """Whether a divergence is found, and whether at the message that was changed, or, of a lost one, that it is missing."""
    judge = of.judged_of_data if change.api in DATA else of.judged
    found = judge(change.within(of.exchanges)).divergences
    if change.at is None:
        missing = any(each.place is None and each.api in (change.api, REQUESTS) for each in found)
        return missing, missing
    return bool(found), any(each.place == change.at.place for each in found)
