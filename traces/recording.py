"""Reads a directory of ZooKeeper logs and snapshots, of one server or of several of an ensemble, as one recording."""

import re
from dataclasses import dataclass, replace
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
    """Transactions in zxid order, the snapshot to replay them from (None: an empty tree), imperfections as lines."""

    directory: Path
    start: Snapshot | None
    transactions: list[Transaction]
    problems: list[str]
    gaps: int = 0

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

    `start` is the newest snapshot before the first record; where there is none, the oldest later one,
    and the records that it contains are left out. Torn tails, gaps, duplicates and unreadable snapshots
    are told in `problems`. With a `redactor` nothing but its pseudonyms leaves this function.
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
    """Return the recording that begins with the right snapshot; `problems` grows."""
    if not transactions:
        return Recording(directory, None, [], problems)
    start = _start(directory, transactions[0].zxid, problems, redactor)
    if start is not None and transactions[0].zxid <= start.zxid:
        whole = len(transactions)
        transactions = [transaction for transaction in transactions if transaction.zxid > start.zxid]
        problems.append(f"{directory}: {whole - len(transactions)} records left out, which are not after the "
                        f"oldest snapshot, {start.zxid:#x}")
    gaps = _gaps(directory, start, transactions)
    return Recording(directory, start, transactions, problems + gaps, len(gaps))


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


def _start(directory: Path, first: int, problems: list[str], redactor: Redactor | None) -> Snapshot | None:
    """Return the newest readable snapshot before zxid `first`, else the oldest readable one after it, else None."""
    snapshots = _files(directory, _SNAPSHOT_NAME)
    before = [file for file in snapshots if _zxid(file) < first]
    after = [file for file in snapshots if _zxid(file) >= first]
    for file in before[::-1] + ([] if first in _FIRST_ZXIDS else after):
        try:
            snapshot = read_snapshot(file)
            return redactor.snapshot(snapshot) if redactor else snapshot
        except LogError as error:
            problems.append(str(error))
    if first not in _FIRST_ZXIDS:
        problems.append(f"{directory}: the log begins at {first:#x} and no snapshot can be read: what the tree was "
                        "before is unknown; add the snapshot.* files of dataDir")
    return None


def _gaps(directory: Path, start: Snapshot | None, transactions: list[Transaction]) -> list[str]:
    """Return a line for each place where zxids are missing: inside an epoch they count up from 1, one by one."""
    gaps = []
    last = transactions[0].zxid - 1 if start is None else start.zxid
    for transaction in transactions:
        epoch = transaction.zxid >> 32
        expected = last + 1 if epoch == last >> 32 else (epoch << 32) + 1
        if transaction.zxid != expected:
            gaps.append(f"{directory}: gap: records {expected:#x} to {transaction.zxid - 1:#x} are missing; "
                        "take them from another server of the ensemble")
        last = transaction.zxid
    return gaps
