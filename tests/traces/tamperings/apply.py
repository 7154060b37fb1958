"""Tampers with a recording at seeded places, writes it as ZooKeeper would, replays it, and judges the report."""

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.reading.recording import Recording, read_recording
from kafkaproof.traces.report.log import CONFORMS
from kafkaproof.traces.zookeeper.transactions import Transaction
from tests.traces.log_writer import write_log
from tests.traces.replaying import settled
from tests.traces.tampering import Log, repaired
from tests.traces.tamperings.scene import KINDS, SHUTDOWN, Kind, Scene, Tampered

BEHIND = SHUTDOWN + 10_000
"""So many ms behind the last record that must show it are replayed too: explanations look ahead for a minute."""


class Outcome(NamedTuple):
    """What replay said of one tampering: `found` is whether it is right; `at_once`: at the altered record itself."""

    kind: Kind
    recording: str
    zxid: int
    found: bool
    at_once: bool
    text: str


MOST = 2_000
"""So many records of a recording are looked at for places to tamper with."""


def places(scene: Scene, seed: int = 1) -> dict[str, list[Tampered]]:
    """For the name of each kind the places of a recording where it applies, of a long one among MOST of its records."""
    found: dict[str, list[Tampered]] = defaultdict(list)
    looked_at = set(random.Random(seed).sample(range(len(scene.log)), min(MOST, len(scene.log))))
    for record in scene.records():
        for each in KINDS.values() if record.place in looked_at else ():
            tampered = each.function(record)
            if tampered is not None:
                found[each.name].append(tampered)
    return found


def sample(found: dict[str, list[Tampered]], count: int, seed: int) -> Iterator[tuple[Kind, Tampered]]:
    """So many of the places of each kind, all of them where there are no more."""
    for name, all_of_kind in found.items():
        chosen = random.Random(f"{seed} {name}").sample(all_of_kind, min(count, len(all_of_kind)))
        yield from ((KINDS[name], tampered) for tampered in chosen)


def outcome(scene: Scene, name: str, kind: Kind, tampered: Tampered, known: Result) -> Outcome:
    """Tamper with a recording, and judge what replay says; `known` is what it says of the recording as it is."""
    with TemporaryDirectory() as directory:
        first, last = write(scene, tampered, Path(directory))
        result = settled(_read(directory), scene.features)
    zxid, text = _reported(result, known)
    if kind.harmless or kind.unseen:
        return Outcome(kind, name, first + 1, text == CONFORMS, False, text)
    found = zxid is not None and first < zxid <= last + 1
    told = text if zxid is None else f"{zxid:#x}: {text}"
    return Outcome(kind, name, first + 1, found, zxid == first + 1, told)


def write(scene: Scene, tampered: Tampered, directory: Path) -> tuple[int, int]:
    """Write a recording that is tampered with; returns where that is, and where it must show."""
    log = tampered.edit(scene.log)
    first = _place(log, tampered.at)
    last = first if tampered.until is None else _place(log, tampered.until)
    enough = log[last].time + BEHIND
    log = log[: next((place for place in range(last, len(log)) if log[place].time > enough), len(log)) + 1]
    write_log(directory / "log.1", numbered(log) if tampered.raw else repaired(log, scene.log)[0])
    return first, last


def numbered(log: Log) -> list[Transaction]:
    """The log with zxids that count up, and without the digests of trees, which nothing of it has any more."""
    return [replace(transaction, zxid=zxid, trailer=b"") for zxid, transaction in enumerate(log, 1)]


def _place(log: Log, zxid: int) -> int:
    """Where a record is, or where the next one is that is left."""
    places = {transaction.zxid: place for place, transaction in enumerate(log)}
    return places[next(z for z in range(zxid, max(places) + 1) if z in places)]


def _read(directory: str) -> Recording:
    recording = read_recording(Path(directory))
    assert recording.problems == [], recording.problems
    return recording


def _reported(result: Result, known: Result) -> tuple[int | None, str]:
    """The first record that replay finds fault with, and what it says."""
    found = {
        v.zxid: f"violates {name}"
        for name, v in result.violations.found.items()
        if name not in known.violations.found or known.violations.found[name].zxid > v.zxid
    }
    if result.divergence:
        found.setdefault(*result.divergence)
    if found:
        return min(found.items())
    return (None, CONFORMS) if not result.undecided else (None, f"undecided: {result.undecided}")
