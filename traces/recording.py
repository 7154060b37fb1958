"""Reads a directory of ZooKeeper logs and snapshots, of one server or of several of an ensemble, as one recording."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from traces.redaction import Redactor
from traces.transactions import LogError, Transaction
from traces.zookeeper_log import LogFile, read_log
from traces.zookeeper_snapshot import Snapshot, read_snapshot

_LOG_NAME = re.compile(r"log\.[0-9a-f]+")
_SNAPSHOT_NAME = re.compile(r"snapshot\.[0-9a-f]+(\.gz|\.snappy)?")
_FIRST_ZXIDS = (1, (1 << 32) + 1)


@dataclass(frozen=True, slots=True)
class Recording:
    """Transactions in zxid order, the snapshot to replay them from (None: an empty tree), imperfections as lines.

    `gaps`: how often records are missing in the middle of a file, which ZooKeeper never leaves; `earlier`: what there
    is before missing files, None where none is missing. `problems` are of all of it.
    """

    directory: Path
    start: Snapshot | None
    transactions: list[Transaction]
    problems: list[str]
    gaps: int = 0
    earlier: Recording | None = None

    @property
    def parts(self) -> list[Recording]:
        """What there is before each missing file, oldest first, and this."""
        return [*(self.earlier.parts if self.earlier else ()), self]

    @property
    def begins_unknown(self) -> bool:
        """Whether the first record is not the first ever, and nothing tells what was before."""
        return bool(self.transactions) and self.start is None and self.transactions[0].zxid not in _FIRST_ZXIDS


def read_readable(directory: Path, redactor: Redactor | None = None) -> tuple[Recording, LogError | None]:
    """As `read_recording`, but where a log cannot be read on: what was read before, and the error."""
    try:
        return read_recording(directory, redactor), None
    except LogError as error:
        return _recording(directory, list(error.transactions), [], redactor), error


def read_recording(directory: Path, redactor: Redactor | None = None) -> Recording:
    """Read all logs in a directory, its version-2/ and the version-2/ of its subdirectories, merged by zxid.

    `start` is the newest snapshot before the first record; where there is none that no missing record comes after,
    the oldest later one, and the records that it contains are left out. Where files are missing another recording
    begins. Torn tails, gaps, duplicates and unreadable snapshots are told in `problems`. With a `redactor` nothing but
    its pseudonyms leaves this function.
    Raises LogError, with the transactions read before, when there is no log,
    when a log cannot be read or is damaged, and when two different records have one zxid.
    """
    if not directory.is_dir():
        raise LogError(f"{directory}: not a directory; give the one that ZooKeeper's dataLogDir (or dataDir) names")
    logs = log_files(directory)
    if not logs:
        raise LogError(f"{directory}: no log.* file here, in version-2/ or in */version-2/; give the directory "
                       "that ZooKeeper's dataLogDir (or dataDir) names")
    problems: list[str] = []
    return _recording(directory, _merge(directory, logs, problems, redactor), problems, redactor)


def read_file(log: Path, redactor: Redactor | None) -> LogFile:
    """Read one log file, with the names as the redactor has them; raises LogError."""
    rewritten = redactor.transactions if redactor else tuple
    try:
        file = read_log(log)
    except LogError as error:
        raise LogError(str(error), rewritten(error.transactions)) from None
    return replace(file, transactions=rewritten(file.transactions))


def learn(logs: list[Path], redactor: Redactor) -> None:
    """Let a redactor know every name in logs, also behind damage of another one."""
    for log in logs:
        try:
            read_file(log, redactor)
        except LogError:
            continue


def _recording(directory: Path, transactions: list[Transaction], problems: list[str],
               redactor: Redactor | None) -> Recording:
    """Return the recording of these transactions, each part of it with the right snapshot."""
    recording = None if transactions else Recording(directory, None, [], problems)
    for part in _parts(directory, transactions):
        recording = _part(directory, part, recording, [*(recording.problems if recording else problems)], redactor)
    return recording


def _part(directory: Path, transactions: list[Transaction], earlier: Recording | None, problems: list[str],
          redactor: Redactor | None) -> Recording:
    """Return the recording of transactions that come after what is earlier, with the right snapshot."""
    first = transactions[0].zxid
    if earlier:
        problems.append(_missing(directory, earlier.transactions[-1].zxid, first))
    start = _start(directory, transactions, problems, redactor)
    if start is not None and first <= start.zxid:
        place = bisect_left(transactions, start.zxid + 1, key=lambda transaction: transaction.zxid)
        problems.append(f"{directory}: {place} records left out, which are not after the oldest snapshot, "
                        f"{start.zxid:#x}")
        transactions = transactions[place:]
    gaps = [_missing(directory, one.zxid, other.zxid) for one, other in pairwise(transactions)
            if not _follows(one.zxid, other.zxid)]
    return Recording(directory, start, transactions, problems + gaps, len(gaps), earlier)


def log_files(directory: Path) -> list[Path]:
    """The transaction logs that `read_recording` reads, in the order of the zxids in their names."""
    return _files(directory, _LOG_NAME)


def _files(directory: Path, name: re.Pattern) -> list[Path]:
    """List the files of that name in all places of a directory, in the order of the zxids in their names."""
    folders = [directory, directory / "version-2", *directory.glob("*/version-2")]
    try:
        files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    except OSError as error:
        raise LogError(f"{error.filename}: cannot be read: {error.strerror}") from None
    return sorted((file for file in files if name.fullmatch(file.name)), key=lambda file: (_zxid(file), file))


def _zxid(file: Path) -> int:
    """Return the zxid in the name of a log (its first record) or of a snapshot."""
    return int(file.name.split(".")[1], 16)


def _merge(directory: Path, logs: list[Path], problems: list[str], redactor: Redactor | None) -> list[Transaction]:
    """Read the logs and return their transactions in zxid order, each once."""
    merged: dict[int, Transaction] = {}
    duplicates = 0
    for log in logs:
        try:
            file = read_file(log, redactor)
        except LogError as error:
            before = merged | {transaction.zxid: transaction for transaction in error.transactions}
            raise LogError(str(error), _in_order(before)) from None
        problems += file.problems
        for transaction in file.transactions:
            known = merged.setdefault(transaction.zxid, transaction)
            if known is not transaction:
                duplicates += 1
                _expect_same(log, known, transaction, merged)
    if duplicates:
        problems.append(f"{directory}: {duplicates} records that occur more than once, the same each time, dropped")
    return list(_in_order(merged))


def _expect_same(log: Path, known: Transaction, again: Transaction, merged: dict[int, Transaction]) -> None:
    """Raise LogError unless two records are the same but for the digest, which a server may leave out."""
    if replace(known, trailer=b"") != replace(again, trailer=b""):
        raise LogError(f"{log}: zxid {again.zxid:#x} is {again.form()}, but another record of this zxid is "
                       f"{known.form()}; are these logs of one ensemble?", _in_order(merged))


def _in_order(merged: dict[int, Transaction]) -> tuple[Transaction, ...]:
    return tuple(merged[zxid] for zxid in sorted(merged))


def _start(directory: Path, transactions: list[Transaction], problems: list[str],
           redactor: Redactor | None) -> Snapshot | None:
    """Return the newest readable snapshot that the records follow, else the oldest readable one among them, else None.

    No snapshot is needed for the first record ever.
    """
    first, last = transactions[0].zxid, transactions[-1].zxid
    snapshots = _files(directory, _SNAPSHOT_NAME)
    before = [file for file in snapshots if _zxid(file) < first]
    followed = [file for file in before if _follows(_zxid(file), first)]
    among = [file for file in snapshots if first <= _zxid(file) < last]
    for file in followed[::-1] + ([] if first in _FIRST_ZXIDS else among):
        try:
            snapshot = read_snapshot(file)
            return redactor.snapshot(snapshot) if redactor else snapshot
        except LogError as error:
            problems.append(str(error))
    if first not in _FIRST_ZXIDS:
        problems.append(f"{directory}: the log begins at {first:#x} and no snapshot can be read: what the tree was "
                        "before is unknown; add the snapshot.* files of dataDir")
        problems += [_missing(directory, _zxid(file), first) for file in before[:len(before) - len(followed)][-1:]]
    return None


def _parts(directory: Path, transactions: list[Transaction]) -> list[list[Transaction]]:
    """Cut where records are missing between two files, or before a snapshot that makes up for them."""
    begins = {_zxid(file) for file in _files(directory, _LOG_NAME)}
    begins |= {_zxid(file) + 1 for file in _files(directory, _SNAPSHOT_NAME)}
    places = [place for place, (one, other) in enumerate(pairwise(transactions), 1)
              if not _follows(one.zxid, other.zxid) and other.zxid in begins]
    return [transactions[start:end] for start, end in pairwise([0, *places, len(transactions)]) if start < end]


def _follows(zxid: int, following: int) -> bool:
    """Whether no record is between two: inside an epoch zxids count up from 1, one by one."""
    return following == _next(zxid, following)


def _next(zxid: int, following: int) -> int:
    epoch = following >> 32
    return zxid + 1 if epoch == zxid >> 32 else (epoch << 32) + 1


def _missing(directory: Path, last: int, first: int) -> str:
    return (f"{directory}: gap: records {_next(last, first):#x} to {first - 1:#x} are missing; "
            "take them from another server of the ensemble")
