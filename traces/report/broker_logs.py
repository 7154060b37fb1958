"""What brokers' logs confirm and contradict, as JSON and as a table."""

from rich.console import Console
from rich.table import Table

from kafkaproof.traces.broker_logs.checking import CONFIRMED, CONTRADICTED, Checked

_SHOWN = 10


def logs_as_json(checked: Checked) -> dict:
    """The object `logs` of `replay --json`."""
    return {
        "files": [str(file) for file in checked.read.files],
        "lines": checked.read.lines,
        "unreadable": checked.read.unreadable,
        "offset_minutes": checked.offset // 60_000,
        "claims": [{"what": what, **counts, "count": counts.total()} for what, counts in checked.counts.items()],
        "contradictions": [
            {"file": str(claim.file), "line": claim.line, "what": claim.what, "text": why}
            for claim, why in checked.contradictions
        ],
    }


def print_logs(out: Console, checked: Checked) -> None:
    """Print how much is confirmed, and the first contradictions."""
    table = Table(header_style="bold")
    for name in ("what brokers' logs tell", "lines", CONFIRMED, CONTRADICTED, "other"):
        table.add_column(name, justify="left" if name.startswith("what") else "right")
    for what, counts in checked.counts.items():
        rest = ", ".join(f"{count:,} {name}" for name, count in counts.items() if name not in (CONFIRMED, CONTRADICTED))
        table.add_row(what, f"{counts.total():,}", f"{counts[CONFIRMED]:,}", f"{counts[CONTRADICTED]:,}", rest)
    out.print(table)
    read = checked.read
    hours = f", whose clocks are {checked.offset / 3_600_000:+g} h from UTC" if checked.offset else ""
    out.print(
        f"{read.lines:,} lines of {len(read.files)} files of brokers' logs{hours}; {read.unreadable:,} of a known "
        "kind in no known form",
        soft_wrap=True,
        highlight=False,
    )
    for claim, why in checked.contradictions[:_SHOWN]:
        out.print("[bold red]contradicts ZooKeeper[/]: ", end="")
        out.print(f"{claim.file}:{claim.line}: {why}", soft_wrap=True, markup=False)
    if len(checked.contradictions) > _SHOWN:
        out.print(f"and {len(checked.contradictions) - _SHOWN:,} more: see --json")
