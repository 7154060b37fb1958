"""The profile of a run as tables: ``kafkaproof check ... --profile``."""

from __future__ import annotations

from rich.table import Table

from kafkaproof.checker.basics.spent import PHASES
from kafkaproof.checker.commands.tables import console

MOST, BAR = 15, 30


def print_profile(result: dict) -> None:
    """Print which transitions find new states, which fields there are so many states for, and where time and memory went."""
    profile, out = result["profile"], console()
    out.print(_transitions(profile, result["distinct"]))
    out.print(_fields(profile))
    out.print(_phases(profile))
    out.print(
        f"A state has {profile['bits']} bits in {profile['words']} words; the run keeps {profile['bytes_per_state']:.0f} bytes "
        f"of it on disk, and {profile['memory'] / 2**20:,.0f} MiB were in use at the end.",
        soft_wrap=True,
    )


def _transitions(profile, distinct):
    table = Table("transition", header_style="bold")
    for name in ("taken", "new states", "share of all", "new of taken"):
        table.add_column(name, justify="right")
    for row in sorted(profile["transitions"], key=lambda row: -row["new"]):
        share, yields = row["new"] / max(1, distinct), row["new"] / max(1, row["taken"])
        table.add_row(row["transition"], f"{row['taken']:,}", f"{row['new']:,}", f"{share:.0%}", f"{yields:.0%}")
    return table


def _fields(profile):
    table = Table("field", header_style="bold", caption=f"the {MOST} without which there would be fewest states")
    table.add_column("values", justify="right")
    table.add_column("times fewer states without it", justify="right")
    for row in sorted(profile["fields"], key=lambda row: -row["without"])[:MOST]:
        table.add_row(row["name"], f"{row['values']:,}", f"{row['without']:,.2f}")
    return table


def _phases(profile):
    table = Table("phase", header_style="bold", caption="seconds of all partitions together")
    table.add_column("seconds", justify="right")
    table.add_column("")
    table.add_column("what it does")
    most = max((row["seconds"] for row in profile["phases"]), default=0) or 1
    for row in sorted(profile["phases"], key=lambda row: -row["seconds"]):
        bar = "█" * round(BAR * row["seconds"] / most)
        table.add_row(row["phase"], f"{row['seconds']:.2f}", bar, PHASES[row["phase"]])
    return table
