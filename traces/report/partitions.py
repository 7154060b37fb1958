"""What explains the changes of partition states, as JSON and as a table."""

from collections import Counter

from rich.console import Console
from rich.table import Table

from kafkaproof.traces.explain.partitions.explained import Explained
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState

_SHOWN = 5


def changes_as_json(streams) -> dict:
    """The object `partitions` of `replay --json`."""
    counts = _counts(streams.ways).items()
    return {
        "changes": streams.changes,
        "explained": streams.changes - len(streams.strange),
        "ambiguous": streams.ambiguous,
        "by": [{"strategy": strategy, "trigger": trigger, "count": count} for (strategy, trigger), count in counts],
        "unexplained": [_unexplained(each) for each in streams.strange],
    }


def print_changes(out: Console, streams) -> None:
    """Print a row for each strategy, how many changes are ambiguous, and the first that nothing explains."""
    out.print(_table(_counts(streams.ways)))
    told = f", {streams.ambiguous:,} of them in more than one way" if streams.ambiguous else ""
    explained = streams.changes - len(streams.strange)
    out.print(f"{explained:,} of {streams.changes:,} changes of a leader or an ISR are explained{told}")
    for each in streams.strange[:_SHOWN]:
        change = each.change
        out.print(f"[yellow]unexplained[/] at {change.zxid:#x}: {change.text}", end=": ", soft_wrap=True)
        out.print(each.text, soft_wrap=True, markup=False)
    if len(streams.strange) > _SHOWN:
        out.print(f"and {len(streams.strange) - _SHOWN:,} more that nothing explains: see --json")


def _counts(ways: Counter) -> Counter:
    """How often each strategy and trigger is the preferred explanation, in a fixed order."""
    counts: Counter = Counter()
    for explanations, count in ways.items():
        if explanations:
            counts[explanations[0][:2]] += count
    return Counter(dict(sorted(counts.items())))


def _table(counts: Counter) -> Table:
    table = Table(header_style="bold")
    table.add_column("strategy")
    table.add_column("changes", justify="right")
    table.add_column("triggers")
    for name in dict.fromkeys(strategy for strategy, _ in counts):
        triggers = {trigger: count for (strategy, trigger), count in counts.items() if strategy == name}
        words = ", ".join(f"{trigger} {count:,}" for trigger, count in triggers.items())
        table.add_row(name, f"{sum(triggers.values()):,}", words)
    return table


def _unexplained(each: Explained) -> dict:
    change = each.change
    return {
        "zxid": hex(change.zxid),
        "partition": f"{change.topic}-{change.number}",
        "before": _as_json(change.before),
        "after": _as_json(change.after),
        "text": each.text,
    }


def _as_json(state: PartitionState | None) -> dict | None:
    return None if state is None else state._asdict() | {"isr": list(state.isr)}
