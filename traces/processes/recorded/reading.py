"""Reads the recording of a cluster: a file of lines for each process, and ZooKeeper's own log.

A process that was killed may leave a torn last line, which is left out, and a request that it asked for and did not
live to record the answer of.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from kafkaproof.spec.errors import UserError
from kafkaproof.spec.running.broker_ids import PLAIN, BrokerIds
from kafkaproof.spec.running.processes import VARIANTS
from kafkaproof.spec.running.replica_messages import FETCHED
from kafkaproof.traces.processes.recorded.formats import (
    FORMAT,
    FORMATS,
    GOING_ON,
    READING_TOPICS,
    WITH_DELETIONS,
    WITH_ENDS,
    WITH_REASSIGNMENTS,
    WITH_UPDATES,
)
from kafkaproof.traces.processes.recorded.lines import Line, read_process
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
