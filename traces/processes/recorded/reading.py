"""Reads the recording of a cluster: a file of lines for each process, and ZooKeeper's own log.

A process that was killed may leave a torn last line, which is left out, and a request that it asked for and did not
live to record the answer of.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from kafkaproof.spec.election.active_controller import clean, load
from kafkaproof.spec.election.session import register_broker
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.kafka.zookeeper import Answer
from kafkaproof.spec.language.steps import Step, parse_step
from kafkaproof.spec.running.broker_ids import PLAIN, BrokerIds
from kafkaproof.spec.running.processes import ELECTION, PARTITION, REFUSED, VARIANTS
from kafkaproof.spec.running.replica_messages import FETCHED
from kafkaproof.traces.processes.recorded.group_lines import GroupLine, GroupLines, Offered
from kafkaproof.traces.reading.recording import Recording, read_recording

MANIFEST, FAULTS = Path("recording") / "cluster.json", Path("recording") / "faults.jsonl"
BEGINS, RESTS, ENDS = ("start", "resume", "release"), ("kill", "stop", "pause", "hold"), "stop_all"
"""What was done to a broker that runs then, to one that does not, and to all in the end."""
SIZES = ("brokers", "replicas", "partitions", "min_isr")
MOST = (9, 9, 1000, 9)
"""How large a cluster may be at first."""
OTHERS = {"offsets": -1, "room": 0}
"""What older descriptions do not have, and what it is then."""
_FILE = re.compile(r"broker-([0-9]+)\.([0-9]+)\.jsonl")
FORMAT, READING_TOPICS, GOING_ON, WITH_UPDATES, WITH_ENDS = 10, 9, 8, 7, 6
WITH_REASSIGNMENTS, WITH_DELETIONS, WITH_GROUPS = 5, 4, 3
FORMATS = (
    2,
    WITH_GROUPS,
    WITH_DELETIONS,
    WITH_REASSIGNMENTS,
    WITH_ENDS,
    WITH_UPDATES,
    GOING_ON,
    READING_TOPICS,
    FORMAT,
)
"""In format 2 the steps of groups say too little to be replayed: there must be none. Up to 3 no topic is deleted, and
up to 4 no partition reassigned, and with a write that was refused goes a `clean` of *election*, and not a `load`. Up to
5 a leader that leads again forgets the ends of its followers, and up to 6 brokers are sent no UpdateMetadata,
and no StopReplica without delete. Up to 7 an event whose session has expired ends at once, with its term, brokers of
2.0 take the brokers that they list as live one by one, and a leader that is told that nobody leads leads no more. Up to
8 a controller adds partitions to a topic by what it remembers, in one step, and tells no broker of an ISR that it does not
write. Up to 9 the description says for how many partitions there is room, and the id of a topic which of them it has.
"""
_REFUSED = {Answer.names[code] for code in REFUSED}
RETRIED = (register_broker.__name__,)
"""Steps that ask again where no answer came, whatever comes between."""


@dataclass(frozen=True)
class Line:
    """A step as a process recorded it; or (`sends`) a request that it sent; or (`asks`) a step of which it recorded
    only that it was about to write, and then died (the last line) or took it once more.

    `broker`: its number, one of those that `brokers` tell the ids of.
    `partners`: the steps of the other part that went with it, each with that part.
    `zxid` and `clock`: what the process knew; `zxids`: the transactions that it made; `at`: the zxid at which the step
    took place, and whether it wrote there; `changed`: the fields of its record that the step changed. `record`: the id
    of the batch that a producer offered; `acked`: those whose producers are answered; `place`: where a consumer
    reads; `partitions`: for how many the process has records, 0 where it does not say; `heard`: what the watch on
    /controller said that it handled; `arms`: it sets that watch. `found`, with the
    first step of a process: what was on its disk of each replica. `attempts`: how often its write was asked for, since
    no answer came, and `asked` the zxid that the process knew of at the first.
    `groups`: what the process recorded of groups after this line, and before the next; `earlier`: before this one,
    which is the first. `came`: the kind and the content of the message that it took, if that is from a real broker.
    """

    process: str
    broker: int
    zxid: int
    clock: int
    session: int = 0
    n: int = 0
    part: str = ""
    step: Step | None = None
    partners: list[tuple[str, Step]] = field(default_factory=list)
    zxids: tuple[int, ...] = ()
    at: tuple[int, bool] | None = None
    took: str | None = None
    came: dict = field(default_factory=dict)
    sent: tuple[str, ...] = ()
    state: str = ""
    changed: dict = field(default_factory=dict)
    record: int | None = None
    acked: tuple[int, ...] = ()
    place: int | None = None
    heard: int | None = None
    arms: bool = False
    found: list[dict] | None = None
    partitions: int = 0
    sends: str | None = None
    kind: str = ""
    content: dict = field(default_factory=dict)
    asks: bool = False
    asked: int = 0
    attempts: int = 1
    groups: list[GroupLine | Offered] = field(default_factory=list)
    earlier: list[GroupLine | Offered] = field(default_factory=list)
    brokers: BrokerIds = field(default=PLAIN, compare=False)

    @property
    def taken(self) -> Step:
        """The step; raises ValueError of a line that is a message."""
        if self.step is None:
            raise ValueError(f"{self.sends} is a message, and no step")
        return self.step

    @property
    def name(self) -> str:
        """The transition's name without its module."""
        return self.taken.name


@dataclass(frozen=True)
class Cluster:
    """What was run, what each process did (the incarnations of a broker in order), and ZooKeeper's log.

    `brokers`: their ids.
    `offsets`: the number of the offsets partition among the partitions, -1 without one; `room`: how many of the last
    partitions no topic had at first; `deletes`: topics may be deleted; `reassigns`: and partitions reassigned;
    `keeps_ends`: a leader that leads again goes on with the ends that it knows; `updates`: brokers are sent
    UpdateMetadata; `goes_on`: an event goes on after its session has expired, and so does a leader that is told that
    nobody leads; `is_newest`: a controller reads a topic before it adds partitions to it,
    and tells brokers of an ISR also where it does not write it; `numbers_in_ids`: the id of a topic says which numbers of the
    specification it has; `is_mixed`: other brokers are real ones, which record nothing. `problems`: what is imperfect in the
    files, a line each.
    """

    directory: Path
    variant: str
    topic: str
    sizes: dict[str, int]
    offsets: int
    processes: list[list[Line]]
    zookeeper: Recording
    room: int = 0
    deletes: bool = True
    reassigns: bool = True
    keeps_ends: bool = True
    updates: bool = True
    goes_on: bool = True
    is_newest: bool = True
    numbers_in_ids: bool = False
    running: frozenset[int] = frozenset()
    problems: tuple[str, ...] = ()
    brokers: BrokerIds = PLAIN
    is_mixed: bool = False

    @property
    def longest_log(self) -> int:
        """How many batches producers have offered to one partition, or real leaders have given, at most."""
        lines = [line for lines in self.processes for line in lines]
        offered = Counter(line.taken.arguments["p"] for line in lines if line.record is not None)
        offered.update(line.came["content"]["p"] for line in lines if line.came.get("kind") == FETCHED)
        return max(offered.values(), default=0)


def is_recording(directory: Path) -> bool:
    """Whether a directory holds the recording of a cluster, and not only a ZooKeeper's log."""
    return (directory / MANIFEST).is_file()


def read_cluster(directory: Path) -> Cluster:
    """Read a recording; raises UserError, with file and line, for what cannot be read."""
    manifest = _manifest(directory / MANIFEST)
    brokers = BrokerIds(manifest["ids"] or range(manifest["brokers"]))
    files = sorted((directory / "recording").glob("broker-*.jsonl"), key=lambda file: _number(file, brokers))
    if not files:
        raise UserError(f"{directory / 'recording'}: no broker-*.jsonl: no process has recorded anything")
    if not (directory / "zookeeper").is_dir():
        raise UserError(f"{directory}: no zookeeper/ in it; copy what ZooKeeper's dataLogDir (or dataDir) names there")
    sizes = {name: manifest[name] for name in SIZES}
    processes = [read_process(file, brokers) for file in files]
    for file, lines in zip(files, processes):
        found = (lines[0].found or []) if lines else []
        if 0 < len(found) < sizes["partitions"] or manifest["format"] < FORMAT and len(found) > sizes["partitions"]:
            raise UserError(
                f"{file}: line 1 cannot be read: {len(found)} replicas are found, of {sizes['partitions']} partitions"
            )
    sizes["partitions"] = max([sizes["partitions"], *(_partitions_of(line) for lines in processes for line in lines)])
    zookeeper = read_recording(directory / "zookeeper")
    if zookeeper.gaps or zookeeper.earlier:
        raise UserError("; ".join(zookeeper.problems))
    torn = [f"{file}: torn last line left out" for file in files if not _is_whole(file)]
    return Cluster(
        directory,
        manifest["variant"],
        manifest["topic"],
        sizes,
        manifest["offsets"],
        processes,
        zookeeper,
        manifest["room"] + sizes["partitions"] - manifest["partitions"],
        manifest["format"] >= WITH_DELETIONS,
        manifest["format"] >= WITH_REASSIGNMENTS,
        manifest["format"] >= WITH_ENDS,
        manifest["format"] >= WITH_UPDATES,
        manifest["format"] >= GOING_ON,
        manifest["format"] >= READING_TOPICS,
        manifest["format"] < FORMAT,
        frozenset(brokers.numbers(_running(directory / FAULTS))),
        (*zookeeper.problems, *torn),
        brokers,
        manifest["ours"] > 0,
    )


def _partitions_of(line: Line) -> int:
    """For how many partitions there must be records where a process has recorded a line."""
    arguments = line.step.arguments if line.step and line.asks else {}
    return max(line.partitions, len(line.found or ()), arguments.get("p", -1) + 1, arguments.get("new", 0).bit_length())


def _is_whole(file: Path) -> bool:
    """Whether a file ends with the end of a line."""
    return file.read_bytes()[-1:] in (b"", b"\n")


def _running(file: Path) -> frozenset[int]:
    """The ids of the brokers that run when a recording was read: none where the run has ended, or does not say what was done."""
    try:
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        last = {row.get("broker"): row["fault"] for row in rows if row["fault"] in (*BEGINS, *RESTS, ENDS)}
    except FileNotFoundError:
        return frozenset()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"{file}: not what was done to a cluster, a fault in JSON a line") from None
    return frozenset() if ENDS in last.values() else frozenset(b for b, fault in last.items() if fault in BEGINS)


def _number(file: Path, brokers: BrokerIds) -> tuple[int, int]:
    """The broker and which of its processes a file is of; raises UserError."""
    named = _FILE.fullmatch(file.name)
    if named is None or int(named[1]) not in brokers.all:
        known = f"from 0 to {len(brokers.all) - 1}" if brokers.is_plain else f"of {', '.join(map(str, brokers.all))}"
        raise UserError(f"{file}: not of a process of this recording; it would be called broker-B.N.jsonl, B {known}")
    return int(named[1]), int(named[2])


def _manifest(file: Path) -> dict:
    try:
        manifest = json.loads(file.read_text())
        sizes = [manifest[name] for name in SIZES]
        others = {name: manifest.get(name, default) for name, default in OTHERS.items()}
        ids, ours = manifest.get("ids", ()), manifest.get("ours", 0)
        numbers = (
            all(type(each) is int for each in (*sizes, *others.values()))
            and all(0 < size <= most for size, most in zip(sizes, MOST))
            and max(others.values()) < manifest["partitions"]
            and 0 <= ours <= manifest["brokers"]
        )
        named = (
            not ids or len(set(ids)) == sizes[0] == len(ids) and all(type(each) is int and each >= 0 for each in ids)
        )
        if named and numbers and manifest["format"] in FORMATS and manifest["variant"] in VARIANTS:
            return manifest | others | {"topic": str(manifest["topic"]), "ids": ids, "ours": ours}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise UserError(f"{file}: not the description of a recording of format {FORMAT}")


def read_process(file: Path, brokers: BrokerIds = PLAIN) -> list[Line]:
    """The lines of one process, in order; what it asked for and then recorded as a step is not told twice.

    Nor is what it asked for again, since no answer came: the first time may be the one that landed.
    """
    process, found, steps, on_disk = file.stem.removeprefix("broker-"), [], 0, None
    groups, format = GroupLines(process, brokers), FORMAT
    rows = file.read_text(errors="replace").split("\n")
    for number, text in enumerate(rows[:-1], 1):
        try:
            row = json.loads(text)
            if "group" in row:
                if format < WITH_GROUPS:
                    raise ValueError(f"it is of a group, and the recording of format {format}: record it again")
                (found[-1].groups if found else groups.earlier).append(groups.read(row))
            elif "step" in row:
                step = _step(process, brokers, row, on_disk if steps == 0 else None)
                steps += 1
                if step.n != steps:
                    raise ValueError(f"step {steps} is missing")
                if asked := _take_request(found, step, groups.earlier):
                    step = replace(step, asked=asked.zxid, attempts=asked.attempts)
                if format < WITH_REASSIGNMENTS and step.step.answer in _REFUSED:
                    step = replace(step, partners=[_as_read(*each) for each in step.partners])
                found.append(step)
            elif "sends" in row:
                found.append(
                    _line(
                        process,
                        brokers,
                        row,
                        sends=_message(row["sends"]),
                        kind=row["kind"],
                        content=dict(row["content"]),
                        took=_message(row["answers"]),
                    )
                )
            elif "asks" in row:
                part, text = row["asks"].split(" ", 1)
                asked = _line(
                    process,
                    brokers,
                    row,
                    asks=True,
                    n=int(row["n"]),
                    session=int(row["session"], 16),
                    part=_part(part),
                    step=brokers.with_numbers(parse_step(text)),
                    took=_message(row["took"]),
                    record=row.get("record"),
                )
                before = _take_request(found, asked, groups.earlier)
                found.append(replace(before, attempts=before.attempts + 1) if before else asked)
            elif "format" in row:
                on_disk, format = [_found(each) for each in row["found"]], row["format"]
            elif not {"failed", "refused"} & row.keys():
                raise ValueError("a line of no known kind")
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise UserError(f"{file}: line {number} cannot be read: {error}") from None
    if found:
        found[0].earlier.extend(groups.earlier)
    return found


def _take_request(found: list[Line], line: Line, earlier: list) -> Line | None:
    """Take the request out that `line` repeats or answers: of its session, with its number, nothing but messages since.

    One that is asked again whatever happens meanwhile may have steps behind it, and another number. What is recorded of
    groups behind it stays where it is, in `earlier` if nothing is before.
    """
    wanted = line.session, line.taken.transition, line.taken.arguments
    for place in range(len(found) - 1, -1, -1):
        each = found[place]
        if each.asks and (each.session, each.taken.transition, each.taken.arguments) == wanted:
            if each.n != line.n and line.name not in RETRIED:
                return None
            del found[place]
            (found[place - 1].groups if place else earlier).extend(each.groups)
            return replace(each, groups=[])
        if not each.sends and line.name not in RETRIED:
            return None
    return None


def _line(process, brokers, row, **more):
    broker = brokers.number(int(process.split(".")[0]))
    came = dict(row.get("came", ()))
    return Line(process, broker, int(row["zxid"]), int(row["clock"]), brokers=brokers, came=came, **more)


def _found(replica: dict) -> dict:
    """What a process has found of a replica; raises ValueError, KeyError or TypeError."""
    return {"log": str(replica["log"]), "length": int(replica["length"]), "hw": int(replica["hw"])}


def _message(id: object) -> str | None:
    """The id of a message, or None; raises ValueError."""
    if id is not None and not isinstance(id, str):
        raise ValueError(f"{id!r} is no message")
    return id


def _part(name: str) -> str:
    """A part of the specification; raises ValueError."""
    if name not in (ELECTION, PARTITION):
        raise ValueError(f"{name!r} is no part of the specification")
    return name


def _partner(text: str, brokers: BrokerIds) -> tuple[str, Step]:
    """The part and the step that went with another; raises ValueError."""
    part, step = text.split(" ", 1)
    return _part(part), brokers.with_numbers(parse_step(step))


def _as_read(part: str, step: Step) -> tuple[str, Step]:
    """A partner, with the read in place of the write that formats before the present one have."""
    written = part == ELECTION and step.name == clean.__name__
    return part, replace(step, transition=step.transition.removesuffix(step.name) + load.__name__) if written else step


def _step(process, brokers, row, found):
    at = row["at"] and (int(row["at"][0]), bool(row["at"][1]))
    if at and at[1] and at[0] not in row["zxids"]:
        raise ValueError(f"it wrote at {at[0]}, which is none of its transactions")
    return _line(
        process,
        brokers,
        row,
        session=int(row["session"], 16),
        n=int(row["n"]),
        part=_part(row["part"]),
        step=brokers.with_numbers(parse_step(row["step"])),
        partners=[_partner(each, brokers) for each in row["with"]],
        zxids=tuple(map(int, row["zxids"])),
        at=at,
        took=_message(row["took"]),
        sent=tuple(map(_message, row["sent"])),
        state=row["state"],
        changed=dict(row["changed"]),
        record=row.get("record"),
        acked=tuple(row.get("acked", ())),
        place=row.get("place"),
        partitions=int(row.get("partitions", 0)),
        found=found,
        heard=next((answer for name, _, answer in row["seams"] if name == "waiting"), None),
        arms=any(name == "read_controller" for name, *_ in row["seams"]),
    )
