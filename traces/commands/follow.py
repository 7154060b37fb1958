"""Follows a ZooKeeper log while it grows, and tells what happens in it: for a watch beside a running ensemble."""

import gc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from kafkaproof.traces.reading.files import log_files
from kafkaproof.traces.reading.missing import missing_between
from kafkaproof.traces.reading.recording import Recording, read_recording
from kafkaproof.traces.report.log import DIVERGES, Report
from kafkaproof.traces.zookeeper.log import read_more
from kafkaproof.traces.zookeeper.snapshot import Snapshot
from kafkaproof.traces.zookeeper.transactions import Transaction
from kafkaproof.traces.zookeeper.tree import Tree

MOST = 5_000
"""So many records are replayed again at the most when new ones have come; more are cut to half of it."""
PATIENCE = 10
"""So many rounds without a new record make a divergence certain: the next record may explain one at the very end."""


class Watch:
    """The replay of a directory so far.

    `report` is that of the last round; `over`: it has diverged for certain, or there is no more to replay.
    """

    def __init__(self, directory: Path, judge: Callable[[Recording, Report | None], Report]):
        """`judge` replays a recording, given the report of the round before, None at first. Raises UserError when there is
        nothing to begin with.
        """
        self._directory, self._judge = directory, judge
        self._recording = read_recording(directory)
        self._offsets: dict[Path, int] = {}
        self._new_records()
        self.report = judge(self._recording, None)
        self.violated: set[str] = set(self._violations())
        self.over = self._ended
        self._told = self._last
        self._suspected: tuple[int | None, int] | None = None

    @property
    def _last(self) -> int:
        return self._recording.transactions[-1].zxid

    @property
    def _ended(self) -> bool:
        """Whether no later record can change what was found."""
        return self.report.verdict == DIVERGES or self.report.end is not None

    def _violations(self) -> dict:
        return self.report.result.violations.found if self.report.result else {}

    def round(self) -> list[str]:
        """Read what is new, replay, and return a line for each new event, in the order of the log."""
        new = self._new_records()
        if not new and self._suspected is None:
            return []
        if new:
            self._grow(new)
            self.report = self._judge(self._recording, self.report)
        if self.report.verdict == DIVERGES and not self._is_certain(bool(new)):
            return []
        self.over = self._ended
        lines = [line for zxid, line in sorted(self._events()) if zxid > self._told]
        self._told = self._last
        self.violated |= set(self._violations())
        gc.collect()
        return lines

    def _is_certain(self, grown: bool) -> bool:
        """Whether what diverges did so before later records came, or nothing has come for long."""
        result = self.report.result
        zxid = result.divergence[0] if result and result.divergence else None
        known, rounds = self._suspected or (None, 0)
        self._suspected = zxid, rounds + 1 if zxid == known else 0
        return zxid == known and (grown or rounds + 1 >= PATIENCE)

    def _new_records(self) -> list[Transaction]:
        """The records behind the last one in all log files; several servers' logs have each only once."""
        found: dict[int, Transaction] = {}
        last = self._last
        for file in log_files(self._directory):
            transactions, self._offsets[file] = read_more(file, self._offsets.get(file, 0))
            found |= {t.zxid: t for t in transactions if t.zxid > last}
        return [found[zxid] for zxid in sorted(found)]

    def _grow(self, new: list[Transaction]) -> None:
        """Append records, and let the recording begin later where it has become long."""
        known, start = self._recording, self._recording.start
        zxids = [self._last, *(each.zxid for each in new)]
        gaps = tuple(filter(None, (missing_between(known.directory, *pair) for pair in pairwise(zxids))))
        transactions = [*known.transactions, *new]
        if len(transactions) > MOST:
            tree = Tree(start)
            for transaction in transactions[: -MOST // 2]:
                tree.apply(transaction)
            start = Snapshot(tree.zxid, tree.zxid, dict(tree.sessions), dict(tree.nodes))
            transactions = transactions[-MOST // 2 :]
        problems = [*known.problems, *(each.told(known.directory) for each in gaps)]
        self._recording = Recording(known.directory, start, transactions, problems, known.gaps + gaps)

    def _events(self) -> Iterator[tuple[int, str]]:
        """What is worth a line, each at its zxid."""
        times = {t.zxid: t.time for t in self._recording.transactions}
        for zxid, text in self._happened():
            if zxid in times:
                clock = datetime.fromtimestamp(times[zxid] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
                yield zxid, f"{clock} {zxid:#x} {text}"

    def _happened(self) -> Iterator[tuple[int, str]]:
        report = self.report
        for gap in report.recording.gaps:
            if gap.following is not None:
                yield gap.following, f"{gap.text} before this one"
        if report.result is None:
            return
        for controller in report.result.controllers.all:
            if controller.epoch_zxid is not None:
                yield controller.epoch_zxid, f"broker {controller.broker} is controller of epoch {controller.epoch}"
            if controller.ended_zxid is not None:
                yield controller.ended_zxid, f"the controller of epoch {controller.epoch} is over: {controller.ended}"
        for change in report.facts.unclean if report.facts else ():
            yield change.zxid, f"unclean election: {change.topic}-{change.number} is led by {change.written.leader}"
        for each in report.facts.leaderless if report.facts else ():
            if not each.removed:
                yield each.zxid, f"offline: {each.partition[0]}-{each.partition[1]} has no leader"
        for name, violation in self._violations().items():
            if name not in self.violated:
                yield violation.zxid, f"violates {name}: {violation.text}"
        if report.end:
            yield report.end.zxid, report.end.text
        if report.result.divergence:
            zxid, reason = report.result.divergence
            yield zxid, f"diverges from {report.result.variant}: {reason}"
