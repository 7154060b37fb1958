"""What was found on the wire, as JSON and as a table."""

from rich.console import Console
from rich.table import Table

from kafkaproof.checker.basics.words import counted
from kafkaproof.traces.basics.times import time_of_day
from kafkaproof.traces.wire.verdicts import LISTED, OPEN, STEP, WRONG, Divergence, Judged

_KINDS = (STEP, LISTED, OPEN, WRONG)
SHOWN = 5
"""So many divergences are shown."""


def wire_as_json(judged: Judged) -> dict:
    """The object `wire` of `replay --json`."""
    return {
        "files": [str(file) for file in judged.wire.files],
        "messages": len(judged.wire.exchanges),
        "verdict": judged.verdict,
        "apis": [
            {
                "api": api,
                "count": counts.total(),
                **{kind: judged.of_kind(api, kind) for kind in _KINDS},
                "kinds": [
                    {"kind": kind, "text": text, "count": count} for (kind, text), count in counts.most_common() if text
                ],
            }
            for api, counts in sorted(judged.counts.items())
        ],
        "first_divergence": judged.first and _as_json(judged.first),
        "divergences": [_as_json(each) for each in judged.in_order],
        "problems": judged.problems,
    }


def _as_json(each: Divergence) -> dict:
    place = each.place and {"file": str(each.place.file), "number": each.place.number}
    return {"time": each.time, "api": each.api, "place": place, "reason": each.text}


def print_wire(out: Console, judged: Judged) -> None:
    """Print how many messages of each API are what, and the first divergences."""
    table = Table(header_style="bold")
    for name in ("on the wire", "messages", "steps", "listed", "undecided", "diverge"):
        table.add_column(name, justify="left" if name.startswith("on") else "right")
    for api, counts in sorted(judged.counts.items()):
        table.add_row(api, f"{counts.total():,}", *(f"{judged.of_kind(api, kind):,}" for kind in _KINDS))
    out.print(table)
    for (kind, text), found_in in _reasons(judged).items():
        told = ", ".join(f"{api} {count:,}" for api, count in found_in.items())
        out.print(f"{kind}: {text}: {told}", soft_wrap=True, markup=False, highlight=False)
    for problem in judged.problems:
        out.print("[yellow]problem[/]: ", end="")
        out.print(problem, soft_wrap=True, markup=False, highlight=False)
    told = f"{counted(judged.wire.exchanges, 'message')} in {counted(judged.wire.files, 'file')}"
    if not judged.divergences:
        out.print(f"[green]{judged.verdict}[/]: {told}", highlight=False)
        return
    for each in judged.in_order[:SHOWN]:
        out.print("[bold red]diverges[/] ", end="")
        out.print(told_of(each), soft_wrap=True, markup=False, highlight=False)
    if len(judged.divergences) > SHOWN:
        out.print(f"and {len(judged.divergences) - SHOWN:,} more: see --json")


def _reasons(judged: Judged) -> dict[tuple[str, str], dict[str, int]]:
    """Why messages are listed or undecided, and how many of each API are."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for api, counts in sorted(judged.counts.items()):
        for reason, count in counts.items():
            if reason[1] and reason[0] != STEP:
                found.setdefault(reason, {})[api] = count
    return found


def told_of(each: Divergence) -> str:
    """A divergence in words."""
    where = f"at {each.place}" if each.place else "missing"
    return f"{time_of_day(each.time)} {each.api} {where}: {each.text}"
