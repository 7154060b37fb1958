"""Writes log files as events, and makes one log of them."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from kafkaproof.traces.reading.events import write_events
from kafkaproof.traces.reading.files import zxid_of
from kafkaproof.traces.reading.records import Logged, Part, runs_of
from kafkaproof.traces.reading.survey import survey_of
from kafkaproof.traces.redaction import Redactor
from kafkaproof.traces.zookeeper.log import LogFile, read_log
from kafkaproof.traces.zookeeper.records import Records
from kafkaproof.traces.zookeeper.transactions import LogError, Transaction


class Stored(NamedTuple):
    """A log file that has been written as events: the records that could be read, what is imperfect, the damage.

    `part` is None without a record. `contradictions`: a zxid and why ZooKeeper has not written the file so; `torn`: it
    ends inside a record.
    """

    log: Path
    part: Part | None
    problems: tuple[str, ...]
    duplicates: int
    damage: str | None
    contradictions: tuple[tuple[int, str], ...] = ()
    torn: bool = False

    @property
    def last(self) -> int:
        """The zxid of the last record; without one, that in the file's name."""
        return self.part.last if self.part else zxid_of(self.log)


def store_log(numbered: tuple[int, Path], redactor: Redactor | None, directory: Path) -> Stored:
    """Write the records of a log file as events, in the order of their zxids.

    `numbered`: its place among all log files, and where it is: several servers have files of one name.
    """
    number, log = numbered
    try:
        found, damage = read_file(log, redactor), None
        records, problems, torn = found.transactions, found.problems, found.torn
    except LogError as error:
        read = error.transactions
        records, problems, damage = read if isinstance(read, Records) else Records.of(read), (), str(error)
        torn = False
    wrong = tuple(_misplaced(log, records.headers.zxid))
    written, conflict = _in_order(log, records)
    damage = conflict or damage
    duplicates = len(records) - len(written) if damage is None else 0
    if not written:
        return Stored(log, None, problems, duplicates, damage, torn=torn)
    file = directory / f"{number:04d}-{log.name}.parquet"
    write_events(written, file)
    part = Part(file, runs_of(written.headers.zxid), survey_of(written))
    return Stored(log, part, problems, duplicates, damage, wrong, torn)


def _misplaced(log: Path, zxids: np.ndarray) -> Iterator[tuple[int, str]]:
    """What of the name and the order of a file is not ZooKeeper's (`FileTxnLog.append`).

    A file is named after its first record, and records come in the order of their zxids; one that was there before
    may come again.
    """
    if len(zxids) and zxids[0] != zxid_of(log):
        yield (
            int(zxids[0]),
            (
                f"{log}: its first record is {zxids[0]:#x}, and ZooKeeper names a file after its first "
                "record: its name is another's, or records are missing before this one"
            ),
        )
    highest = np.maximum.accumulate(zxids)
    for place in (np.flatnonzero(zxids[1:] < highest[:-1]) + 1).tolist():
        if zxids[place] not in zxids[:place]:
            yield (
                int(zxids[place]),
                (
                    f"{log}: this record is behind {highest[place - 1]:#x}, and ZooKeeper writes "
                    "records in the order of their zxids"
                ),
            )
            return


def misplaced_among(stored: list[Stored]) -> Iterator[tuple[int, str]]:
    """The same of the files of one server, which are in one directory: each goes on where the one before ended."""
    for _, together in groupby(sorted((each for each in stored if each.part), key=_place), key=lambda s: s.log.parent):
        for (before, earlier), (log, part) in pairwise((each.log, each.part) for each in together if each.part):
            if part.first < earlier.last:
                new = np.setdiff1d(part.zxids(), earlier.zxids())
                if len(new) and new[0] < earlier.last:
                    yield (
                        int(new[0]),
                        (
                            f"{log}: this record comes before the last one of {before.name}, "
                            f"{earlier.last:#x}, and ZooKeeper begins a file behind all others"
                        ),
                    )


def is_torn(stored: list[Stored]) -> bool:
    """Whether the log ends inside a record."""
    last = max((each.part.last for each in stored if each.part), default=0)
    return any(each.torn for each in stored if each.last >= last)


def _place(stored: Stored) -> tuple[Path, int]:
    return stored.log.parent, zxid_of(stored.log)


def _in_order(log: Path, records: Records) -> tuple[Records, str | None]:
    """The records in the order of their zxids, each once, up to one of which there is another one; what that is."""
    zxids = records.headers.zxid
    if (zxids[:-1] < zxids[1:]).all():
        return records, None
    conflict, merged = None, {}
    for transaction in records:
        known = merged.setdefault(transaction.zxid, transaction)
        if not _same(known, transaction):
            conflict = _conflict(log, known, transaction)
            break
    return Records.of(merged[zxid] for zxid in sorted(merged)), conflict


def read_file(log: Path, redactor: Redactor | None) -> LogFile:
    """Read one log file, with the names as the redactor has them; raises LogError."""
    if redactor is None:
        return read_log(log)
    try:
        file = read_log(log)
    except LogError as error:
        raise LogError(str(error), Records.of(redactor.transactions(error.transactions))) from None
    return replace(file, transactions=Records.of(redactor.transactions(file.transactions)))


def learn(logs: list[Path], redactor: Redactor) -> None:
    """Let a redactor know every name in logs, also behind damage of another one."""
    for log in logs:
        try:
            read_file(log, redactor)
        except LogError:
            continue


def joined(directory: Path, stored: list[Stored], kept: TemporaryDirectory | None, problems: list[str]) -> Logged:
    """The transactions of all files, each once; `problems` grows."""
    damaged, damage = next(((place, each.damage) for place, each in enumerate(stored) if each.damage), (None, ""))
    read = stored if damaged is None else stored[: damaged + 1]
    for each in read if damaged is None else read[:-1]:
        problems += each.problems
    parts = [each.part for each in read if each.part]
    if conflict := _first_conflict(
        Logged([each.part for each in read if each.part and not each.damage], kept),
        [each.log for each in read if each.part],
    ):
        raise conflict
    logged = Logged(parts, kept)
    if damaged is not None:
        raise LogError(damage, logged)
    duplicates = sum(each.duplicates for each in read) + sum(len(part.zxids()) for part in parts) - len(logged)
    if duplicates:
        those = "1 record that occurs" if duplicates == 1 else f"{duplicates} records that occur"
        problems.append(f"{directory}: {those} more than once, the same each time, dropped")
    return logged


def _first_conflict(logged: Logged, logs: list[Path]) -> LogError | None:
    """The error of the first file that has another record of a zxid than a file before it; None without one."""
    numbers = {part.file: number for number, part in enumerate(logged.parts)}
    found: tuple[int, Transaction, Transaction] | None = None
    for group in logged.groups:
        if len(group) > 1:
            for _, same in groupby(logged.all(group), key=lambda each: each[0].zxid):
                (first, _), *others = sorted(same, key=lambda each: numbers[each[1].file])
                for transaction, part in others:
                    if transaction != first and (found is None or numbers[part.file] < found[0]):
                        found = numbers[part.file], first, transaction
    if found is None:
        return None
    number, known, again = found
    cut = Logged(logged.parts[number : number + 1], logged.kept).between(0, again.zxid - 1)
    return LogError(_conflict(logs[number], known, again), Logged([*logged.parts[:number], *cut.parts], logged.kept))


def _same(one: Transaction, other: Transaction) -> bool:
    """Whether two records are the same but for the digest, which a server may leave out."""
    return one is other or replace(one, trailer=b"") == replace(other, trailer=b"")


def _conflict(log: Path, known: Transaction, again: Transaction) -> str:
    return (
        f"{log}: its record {again.zxid:#x} ({again.form()}) differs from another record of this zxid ({known.form()}); "
        "are these logs of one ensemble?"
    )
