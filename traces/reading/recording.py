"""Reads a directory of ZooKeeper logs and snapshots, of one server or of several of an ensemble, as one recording."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kafkaproof.traces.basics.tasks import Here, shown
from kafkaproof.traces.reading.records import Logged
from kafkaproof.traces.reading.storing import joined, misplaced_among, store_log, zxid_of
from kafkaproof.traces.reading.survey import Survey, survey_of
from kafkaproof.traces.redaction import Redactor
from kafkaproof.traces.zookeeper.snapshot import Snapshot, read_snapshot
from kafkaproof.traces.zookeeper.transactions import LogError, Transaction

_LOG_NAME = re.compile(r"log\.[0-9a-f]+")
_SNAPSHOT_NAME = re.compile(r"snapshot\.[0-9a-f]+(\.gz|\.snappy)?")
_FIRST_ZXIDS = (1, (1 << 32) + 1)
_FIRST_ZXID, _LAST_ZXID = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Recording:
    """Transactions in zxid order, the snapshot to replay them from (None: an empty tree), imperfections as lines.

    `gaps`: how often records are missing in the middle of a file, which ZooKeeper never leaves; `earlier`: what there
    is before missing files, None where none is missing. `problems` are of all of it. `contradictions`: what ZooKeeper
    cannot have written as it is in the files, each the zxid of a record and why.
    """

    directory: Path
    start: Snapshot | None
    transactions: Sequence[Transaction]
    problems: list[str]
    gaps: int = 0
    earlier: Recording | None = None
    contradictions: tuple[tuple[int, str], ...] = ()

    @property
    def parts(self) -> list[Recording]:
        """What there is before each missing file, oldest first, and this."""
        return [*(self.earlier.parts if self.earlier else ()), self]

    @cached_property
    def survey(self) -> Survey:
        """What must be known of all records, and of what was there before, before one is judged."""
        survey = Survey()
        if self.start:
            for path, node in self.start.nodes.items():
                survey.hold(self.start.zxid, path, node.data)
        if not isinstance(self.transactions, Logged):
            survey.merge(survey_of(self.transactions))
        else:
            for part in self.transactions.parts:
                survey.merge(part.survey or survey_of(part.transactions()))
        return survey

    def before(self, zxid: int) -> Recording:
        """The same without the records from that zxid on."""
        if isinstance(self.transactions, Logged):
            return replace(self, transactions=self.transactions.between(_FIRST_ZXID, zxid - 1))
        return replace(self, transactions=[each for each in self.transactions if each.zxid < zxid])

    @property
    def zxids(self) -> np.ndarray:
        """The zxids of all records, in order."""
        if isinstance(self.transactions, Logged):
            return np.concatenate([np.zeros(0, np.int64), *self.transactions.blocks()])
        return np.array([transaction.zxid for transaction in self.transactions], np.int64)

    @property
    def begins_unknown(self) -> bool:
        """Whether the first record is not the first ever, and nothing tells what was before."""
        return self.start is None and any(zxid not in _FIRST_ZXIDS for zxid in self.zxids[:1].tolist())


def read_readable(
    directory: Path, redactor: Redactor | None = None, events: Path | None = None, work: Here = Here()
) -> tuple[Recording, LogError | None]:
    """As `read_recording`, but where a log cannot be read on: what was read before, and the error."""
    try:
        return read_recording(directory, redactor, events, work), None
    except LogError as error:
        return _recording(directory, error.transactions, [], redactor), error


def read_recording(
    directory: Path, redactor: Redactor | None = None, events: Path | None = None, work: Here = Here()
) -> Recording:
    """Read all logs in a directory, its version-2/ and the version-2/ of its subdirectories, merged by zxid.

    Each is written as a file of events, into the directory `events` (one that is not there yet) or one that is gone
    when the recording is; `work` reads them, such as in tasks.
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
        raise LogError(
            f"{directory}: no log.* file here, in version-2/ or in */version-2/; give the directory "
            "that ZooKeeper's dataLogDir (or dataDir) names"
        )
    kept = None
    if events is None:
        kept = TemporaryDirectory(prefix="kafkaproof-log-")
        events = Path(kept.name)
    newest = max(map(zxid_of, _files(directory, _SNAPSHOT_NAME)), default=0)
    store = partial(store_log, redactor=redactor, directory=events)
    problems: list[str] = []
    stored = work.each(list(enumerate(logs)), store, shown("files"))
    wrong = [*(found for each in stored for found in each.contradictions), *misplaced_among(stored)]
    return _recording(directory, joined(directory, stored, kept, problems), problems, redactor, wrong, newest)


def _recording(
    directory: Path,
    transactions: Sequence[Transaction],
    problems: list[str],
    redactor: Redactor | None,
    wrong: Sequence[tuple[int, str]] = (),
    newest: int = 0,
) -> Recording:
    """Return the recording of these transactions, each part of it with the right snapshot.

    `wrong`: what ZooKeeper has not written so; `newest`: the zxid of the newest snapshot.
    """
    if not isinstance(transactions, Logged) or not transactions:
        return Recording(directory, None, [], problems)
    parts: list[Recording] = []
    for part in _parts(directory, transactions):
        earlier = parts[-1] if parts else None
        recording = _part(directory, part, earlier, [*(earlier.problems if earlier else problems)], redactor)
        first, last = _ends(recording)
        here = tuple(each for each in wrong if first <= each[0] <= last)
        parts.append(replace(recording, contradictions=here))
    whole = parts[-1]
    if ahead := _ahead(directory, transactions.ends[1], newest):
        return replace(whole, problems=[*whole.problems, ahead], gaps=whole.gaps + 1)
    return whole


def _ends(recording: Recording) -> tuple[int, int]:
    """The zxids of the first and the last record, 0 where there is none."""
    transactions = recording.transactions
    return transactions.ends if isinstance(transactions, Logged) and transactions else (0, 0)


def _part(
    directory: Path, transactions: Logged, earlier: Recording | None, problems: list[str], redactor: Redactor | None
) -> Recording:
    """Return the recording of transactions that come after what is earlier, with the right snapshot."""
    first, whole = transactions.ends[0], len(transactions)
    if earlier:
        problems.append(_missing(directory, _ends(earlier)[1], first))
    start = _start(directory, transactions, problems, redactor)
    if start is not None and first <= start.zxid:
        transactions = transactions.between(start.zxid + 1, _LAST_ZXID)
        problems.append(
            f"{directory}: {whole - len(transactions)} records left out, which are not after the oldest "
            f"snapshot, {start.zxid:#x}"
        )
    gaps = [_missing(directory, *gap) for gap in _gaps(transactions)]
    return Recording(directory, start, transactions, problems + gaps, len(gaps), earlier)


def _ahead(directory: Path, last: int, newest: int) -> str | None:
    """What is missing behind the last record when there is a snapshot of a later one.

    A snapshot is of what is in the log already; but a server that has got one from its leader has not the records before
    it. With a new epoch a snapshot may have the zxid before its first record.
    """
    if newest <= last or not newest & 0xFFFFFFFF:
        return None
    return (
        f"{directory}: snapshot.{newest:x} is ahead of the log, which ends at {last:#x}: records up to {newest:#x} "
        "are missing; take them from another server of the ensemble"
    )


def snapshots_among(recording: Recording) -> list[tuple[int, Path]]:
    """The snapshots, and their zxids, that were taken behind the first record that counts, the oldest first."""
    if not isinstance(recording.transactions, Logged) or not recording.transactions:
        return []
    complete = recording.start.last_processed_zxid if recording.start else 0
    first, last = recording.transactions.ends
    files = [file for file in _files(recording.directory, _SNAPSHOT_NAME) if file.name.count(".") == 1]
    return [(zxid_of(file), file) for file in files if max(first, complete) < zxid_of(file) <= last]


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
    found = [file for file in files if name.fullmatch(file.name)]
    if strange := [file for file in found if not file.is_file()]:
        raise LogError(f"{strange[0]}: no regular file, though it is named like one of ZooKeeper's; take it away")
    return sorted(found, key=lambda file: (zxid_of(file), file))


def _start(directory: Path, transactions: Logged, problems: list[str], redactor: Redactor | None) -> Snapshot | None:
    """Return the newest readable snapshot that the records follow, else the oldest readable one among them, else None.

    No snapshot is needed for the first record ever.
    """
    first, last = transactions.ends
    snapshots = _files(directory, _SNAPSHOT_NAME)
    before = [file for file in snapshots if zxid_of(file) < first]
    followed = [file for file in before if _follows(zxid_of(file), first)]
    among = [file for file in snapshots if first <= zxid_of(file) < last]
    for file in followed[::-1] + ([] if first in _FIRST_ZXIDS else among):
        try:
            snapshot = read_snapshot(file)
            return redactor.snapshot(snapshot) if redactor else snapshot
        except LogError as error:
            problems.append(str(error))
    if first not in _FIRST_ZXIDS:
        problems.append(
            f"{directory}: the log begins at {first:#x} and no snapshot can be read: what the tree was "
            "before is unknown; add the snapshot.* files of dataDir"
        )
        problems += [_missing(directory, zxid_of(file), first) for file in before[: len(before) - len(followed)][-1:]]
    return None


def _parts(directory: Path, transactions: Logged) -> list[Logged]:
    """Cut where records are missing between two files, or before a snapshot that makes up for them."""
    begins = {zxid_of(file) for file in _files(directory, _LOG_NAME)}
    begins |= {zxid_of(file) + 1 for file in _files(directory, _SNAPSHOT_NAME)}
    cuts = [following for _, following in _gaps(transactions) if following in begins]
    if not cuts:
        return [transactions]
    return [transactions.between(first, end - 1) for first, end in pairwise([_FIRST_ZXID, *cuts, _LAST_ZXID + 1])]


def _gaps(transactions: Logged) -> list[tuple[int, int]]:
    """The zxids on both sides of each place where records are missing."""
    found, last = [], None
    for zxids in filter(len, transactions.blocks()):
        places = np.flatnonzero(np.diff(zxids) != 1)
        pairs = [(last, int(zxids[0]))] if last is not None else []
        pairs += zip(zxids[places].tolist(), zxids[places + 1].tolist())
        found += [pair for pair in pairs if not _follows(*pair)]
        last = int(zxids[-1])
    return found


def _follows(zxid: int, following: int) -> bool:
    """Whether no record is between two: inside an epoch zxids count up from 1, one by one."""
    return following == _next(zxid, following)


def _next(zxid: int, following: int) -> int:
    epoch = following >> 32
    return zxid + 1 if epoch == zxid >> 32 else (epoch << 32) + 1


def _missing(directory: Path, last: int, first: int) -> str:
    return (
        f"{directory}: gap: records {_next(last, first):#x} to {first - 1:#x} are missing; "
        "take them from another server of the ensemble"
    )
