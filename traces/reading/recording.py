"""Reads a directory of ZooKeeper logs and snapshots, of one server or of several of an ensemble, as one recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kafkaproof.traces.basics.tasks import Here, shown
from kafkaproof.traces.reading.files import log_files, snapshot_files, zxid_of
from kafkaproof.traces.reading.missing import Missing, follows, missing_behind, missing_between
from kafkaproof.traces.reading.records import Logged
from kafkaproof.traces.reading.storing import is_torn, joined, misplaced_among, store_log
from kafkaproof.traces.reading.survey import Survey, survey_of
from kafkaproof.traces.redaction import Redactor
from kafkaproof.traces.zookeeper.snapshot import Snapshot, read_snapshot
from kafkaproof.traces.zookeeper.transactions import LogError, Transaction

_FIRST_ZXIDS = (1, (1 << 32) + 1)
_FIRST_ZXID, _LAST_ZXID = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Recording:
    """Transactions in zxid order, the snapshot to replay them from (None: an empty tree), imperfections as lines.

    `gaps`: the records that are missing in the middle of a file, which ZooKeeper never leaves, or behind the last one;
    `earlier`: what there is before missing files, None where none is missing. `problems` are of all of it.
    `contradictions`: what ZooKeeper cannot have written as it is in the files, each the zxid of a record and why;
    `torn`: the last file ends inside a record, which is left out.
    """

    directory: Path
    start: Snapshot | None
    transactions: Sequence[Transaction]
    problems: list[str]
    gaps: tuple[Missing, ...] = ()
    earlier: Recording | None = None
    contradictions: tuple[tuple[int, str], ...] = ()
    torn: bool = False

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

    def between(self, start: Snapshot | None, first: int, last: int) -> Recording:
        """Records from one zxid to another, as a recording of their own that begins with a snapshot; problems stay here."""
        if isinstance(self.transactions, Logged):
            kept: Sequence[Transaction] = self.transactions.between(first, last)
        else:
            kept = [each for each in self.transactions if first <= each.zxid <= last]
        gaps = tuple(each for each in self.gaps if first <= each.first <= last)
        wrong = tuple(each for each in self.contradictions if first <= each[0] <= last)
        return Recording(self.directory, start, kept, [], gaps, None, wrong)

    def missing_before(self, zxid: float) -> Missing | None:
        """The first records that are missing before one."""
        return next((gap for gap in self.gaps if gap.following is not None and gap.following <= zxid), None)

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
            f"that ZooKeeper's dataLogDir (or dataDir) names{_deeper(directory)}"
        )
    kept = None
    if events is None:
        kept = TemporaryDirectory(prefix="kafkaproof-log-")
        events = Path(kept.name)
    store = partial(store_log, redactor=redactor, directory=events)
    problems: list[str] = []
    snapshots = snapshot_files(directory)  # before the logs, which may grow
    stored = work.each(list(enumerate(logs)), store, shown("files"))
    wrong = [*(found for each in stored for found in each.contradictions), *misplaced_among(stored)]
    whole = _recording(directory, joined(directory, stored, kept, problems), problems, redactor, wrong, snapshots)
    return replace(whole, torn=is_torn(stored))


def _recording(
    directory: Path,
    transactions: Sequence[Transaction],
    problems: list[str],
    redactor: Redactor | None,
    wrong: Sequence[tuple[int, str]] = (),
    snapshots: Sequence[Path] = (),
) -> Recording:
    """Return the recording of these transactions, each part of it with the right snapshot.

    `wrong`: what ZooKeeper has not written so; `snapshots`: those that may be ahead of what could be read.
    """
    if not isinstance(transactions, Logged) or not transactions:
        return Recording(directory, None, [], problems)
    parts: list[Recording] = []
    for part, missing in _parts(directory, transactions):
        earlier = parts[-1] if parts else None
        known = [*(earlier.problems if earlier else problems), *(each.told(directory) for each in missing)]
        recording = replace(_part(directory, part, known, redactor), earlier=earlier)
        first, last = _ends(recording)
        here = tuple(each for each in wrong if first <= each[0] <= last)
        parts.append(replace(recording, contradictions=here))
    whole = parts[-1]
    if ahead := missing_behind(snapshots, transactions.ends[1]):
        return replace(whole, problems=[*whole.problems, ahead.told(directory)], gaps=(*whole.gaps, ahead))
    return whole


def _ends(recording: Recording) -> tuple[int, int]:
    """The zxids of the first and the last record, 0 where there is none."""
    transactions = recording.transactions
    return transactions.ends if isinstance(transactions, Logged) and transactions else (0, 0)


def _part(directory: Path, transactions: Logged, problems: list[str], redactor: Redactor | None) -> Recording:
    """Return the recording of transactions, with the right snapshot."""
    first, whole = transactions.ends[0], len(transactions)
    start = _start(directory, transactions, problems, redactor)
    if start is not None and first <= start.zxid:
        transactions = transactions.between(start.zxid + 1, _LAST_ZXID)
        problems.append(
            f"{directory}: {whole - len(transactions)} records left out, which are not after the oldest "
            f"snapshot, {start.zxid:#x}"
        )
    gaps = tuple(_gaps(directory, transactions))
    return Recording(directory, start, transactions, [*problems, *(each.told(directory) for each in gaps)], gaps)


def snapshots_among(recording: Recording) -> list[tuple[int, Path]]:
    """The snapshots, and their zxids, that were taken behind the first record that counts, the oldest first."""
    if not isinstance(recording.transactions, Logged) or not recording.transactions:
        return []
    complete = recording.start.last_processed_zxid if recording.start else 0
    first, last = recording.transactions.ends
    files = [file for file in snapshot_files(recording.directory) if file.name.count(".") == 1]
    return [(zxid_of(file), file) for file in files if max(first, complete) < zxid_of(file) <= last]


def _deeper(directory: Path) -> str:
    """The directories of logs that are one level too deep for `directory`, in words."""
    found = [each.name for each in sorted(directory.iterdir()) if each.is_dir() and log_files(each)]
    more = ", ..." if len(found) > 3 else ""
    return f"; logs are in its {', '.join(found[:3])}{more}: give one of them, or several" if found else ""


def _start(directory: Path, transactions: Logged, problems: list[str], redactor: Redactor | None) -> Snapshot | None:
    """Return the newest readable snapshot that the records follow, else the oldest readable one among them, else None.

    No snapshot is needed for the first record ever.
    """
    first, last = transactions.ends
    snapshots = snapshot_files(directory)
    before = [file for file in snapshots if zxid_of(file) < first]
    followed = [file for file in before if follows(zxid_of(file), first)]
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
        found = [
            missing_between(directory, zxid_of(file), first) for file in before[: len(before) - len(followed)][-1:]
        ]
        problems += [each.told(directory) for each in found if each]
    return None


def _parts(directory: Path, transactions: Logged) -> list[tuple[Logged, list[Missing]]]:
    """Cut where records are missing between two files, or before a snapshot that makes up for them.

    With each part is what is missing before it.
    """
    begins = {zxid_of(file) for file in log_files(directory)}
    snapshots = [zxid_of(file) for file in snapshot_files(directory)]
    cuts = {
        gap.following: gap
        for gap in _gaps(directory, transactions)
        if gap.following is not None
        and (gap.following in begins or any(gap.first <= zxid and follows(zxid, gap.following) for zxid in snapshots))
    }
    if not cuts:
        return [(transactions, [])]
    return [
        (transactions.between(first, end - 1), [cuts[first]] if first in cuts else [])
        for first, end in pairwise([_FIRST_ZXID, *cuts, _LAST_ZXID + 1])
    ]


def _gaps(directory: Path, transactions: Logged) -> Iterator[Missing]:
    """Each place where records are missing."""
    last = None
    for zxids in filter(len, transactions.blocks()):
        places = np.flatnonzero(np.diff(zxids) != 1)
        pairs = [(last, int(zxids[0]))] if last is not None else []
        pairs += zip(zxids[places].tolist(), zxids[places + 1].tolist())
        yield from filter(None, (missing_between(directory, *pair) for pair in pairs))
        last = int(zxids[-1])
