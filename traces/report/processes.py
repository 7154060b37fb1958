"""What the replay of a recording found, as JSON and in words."""

from __future__ import annotations

from dataclasses import asdict

from rich.markup import escape
from rich.table import Table

from kafkaproof.checker.basics.words import counted, times
from kafkaproof.checker.commands.tables import console
from kafkaproof.traces.processes.recorded.reading import Cluster
from kafkaproof.traces.processes.state.result import Result
from kafkaproof.traces.report.log import CONFORMS, DIVERGES, UNDECIDED, print_where


def verdict_of(result: Result) -> str:
    """The verdict in a word."""
    return DIVERGES if result.divergence else UNDECIDED if result.unfollowed else CONFORMS


def as_json(cluster: Cluster, result: Result) -> dict:
    """The result as `replay --json` prints it."""
    where, reason = result.divergence or (None, None)
    return {
        "format": 1,
        "recording": str(cluster.directory),
        "variant": result.variant,
        "verdict": verdict_of(result),
        "problems": list(cluster.problems),
        "unfollowed": result.unfollowed,
        "first_divergence": {"step": where, "reason": reason} if result.divergence else None,
        "violations": [asdict(violation) for violation in result.violations.values()],
        "mixed": cluster.is_mixed,
        "processes": len(cluster.processes),
        "steps": result.steps,
        "hidden": result.hidden,
        "groups": dict(sorted(result.groups.items())),
        "transitions": dict(sorted(result.counts.items())),
    }


def print_result(cluster: Cluster, result: Result) -> None:
    """Print how often each transition was taken, the verdict, and what was violated."""
    out = console()
    table = Table(header_style="bold")
    table.add_column("transition")
    table.add_column("steps", justify="right")
    for name, count in sorted(result.counts.items()):
        table.add_row(name, f"{count:,}")
    out.print(table)
    told = f"{cluster.directory}: {counted(cluster.processes, 'process')}, {counted(result.steps, 'step')}"
    if result.hidden:
        told += (
            f", and {result.hidden:,} that nobody recorded: faults from outside, or steps of a process that died first"
        )
    out.print(told, style=None, markup=False, soft_wrap=True)
    for name, count in sorted(result.groups.items()):
        whose = f"of group {name!r}" if name else "of groups that no coordinator knows"
        out.print(f"{whose}: {counted(count, 'step')}", style=None, markup=False, soft_wrap=True)
    for problem in cluster.problems:
        out.print(f"[yellow]problem[/]: {escape(problem)}", soft_wrap=True)
    if result.divergence:
        where, reason = result.divergence
        out.print(f"[bold red]diverges[/] from {result.variant} at", where, style=None, soft_wrap=True)
        out.print(reason, soft_wrap=True, markup=False)
        print_where(out, cluster.directory, "--variant", result.variant)
    elif result.unfollowed:
        out.print(
            f"[yellow]undecided[/]: the run goes on, or was cut off. The last {result.unfollowed:,} lines are not followed, "
            "because something before them is not recorded; what is before them conforms",
            soft_wrap=True,
        )
    else:
        out.print(
            f"[green]conforms[/] to {result.variant}: each step is enabled, got the answer that the "
            "specification gives, and left the record that it leaves",
            soft_wrap=True,
        )
    if cluster.is_mixed:
        out.print(
            "brokers of both kinds: the real ones record nothing. So no property is judged, and no step of a group",
            soft_wrap=True,
        )
    for each in result.violations.values():
        out.print(
            f"[bold red]violates {each.id}[/] first at {each.first}, {times(each.count)} in all. It demands: {each.text}",
            soft_wrap=True,
        )
