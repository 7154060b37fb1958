"""Records that are gone: logs cut below the high watermark, and segments deleted as if they were old."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from kafkaproof.traces.broker_logs.claims import Claim, Expired, Handled, Obeyed, Ready, Started, Truncated
from kafkaproof.traces.broker_logs.history import AHEAD, History
from kafkaproof.traces.broker_logs.selection import of_kind, remark
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.explain.facts.remarks import DELETED, TRUNCATED, Remark


def truncated(claims: list[Claim], history: History) -> Iterator[Remark]:
    """Logs that were cut below the high watermark with which their replicas began to follow (2.6 and later).

    The high watermark since then is not known: where the logs diverge, the leader's next answer may raise it first.
    """
    owner = _owners(claims)
    logs: dict[tuple[int, Partition], list[Started | Truncated]] = defaultdict(list)
    for started in of_kind(claims, Started):
        logs[started.teller, started.partition].append(started)
    for cut in of_kind(claims, Truncated):
        if (broker := owner(cut)) is not None:
            logs[broker, cut.partition].append(cut)
    for broker, partition in sorted(logs):
        high = 0
        for claim in sorted(logs[broker, partition], key=lambda each: (each.time, each.line)):
            if isinstance(claim, Truncated):
                if claim.offset < high:
                    yield remark(TRUNCATED, claim, _truncated_text(claim, broker, high, history))
                high = min(high, claim.offset)
            elif claim.high is not None:
                high = claim.high


def deleted(claims: list[Claim]) -> Iterator[Remark]:
    """Segments whose time index was read as zeros, since nobody had recovered them, and which retention then deleted."""
    owner = _owners(claims)
    for claim in of_kind(claims, Expired):
        whose = "a broker" if (broker := owner(claim)) is None else f"broker {broker}"
        yield remark(
            DELETED,
            claim,
            f"{whose} deleted its records from offset {claim.offset} on: their time index was "
            "never recovered, and has no time but 0; once it leads, all replicas delete them",
        )


def _owners(claims: list[Claim]) -> Callable[[Claim], int | None]:
    """Whose log a claim stands in: the broker that says so in the file, or the only one that does in its directory."""
    files: dict[Path, set[int]] = defaultdict(set)
    directories: dict[Path, set[int]] = defaultdict(set)
    for claim in claims:
        if isinstance(claim, Ready | Started | Handled | Obeyed):
            files[claim.file].add(claim.teller)
            directories[claim.file.parent].add(claim.teller)

    def owner(claim: Claim) -> int | None:
        known = files.get(claim.file) or directories[claim.file.parent]
        return next(iter(known)) if len(known) == 1 else None

    return owner


def _truncated_text(claim: Truncated, broker: int, high: int, history: History) -> str:
    unclean = history.unclean_before(claim.partition, claim.time + AHEAD)
    why = (
        f"after the unclean election of broker {unclean.after.leader} at {unclean.zxid:#x}"
        if unclean and unclean.after
        else "and there was no unclean election"
    )
    gone = f"record {claim.offset}" if high == claim.offset + 1 else f"{claim.offset} to {high - 1}"
    return (
        f"broker {broker} cut its log to offset {claim.offset}, with high watermark {high}: what was "
        f"committed, {gone}, is gone from this replica, {why}"
    )
