"""What was found of groups, as JSON and in words."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kafkaproof.checker.basics.words import times
from kafkaproof.traces.groups.plans import REBALANCE, REPLACED
from kafkaproof.traces.groups.properties import SAYS
from kafkaproof.traces.groups.replay import BAD_INPUT, CONFORMS, DIVERGES, Followed, Groups, kind_of

_COLUMNS = (
    "group",
    "partition",
    "records",
    "generation",
    "state",
    "members",
    "rebalances",
    "unstored",
    "failovers",
    "commits",
    "tombstones",
    "verdict",
)


def groups_as_json(groups: Groups) -> dict:
    """The groups as `replay --json` prints them."""
    first = groups.divergences[0].as_json() if groups.divergences else None
    return {
        "directory": str(groups.directory),
        "variant": groups.machine.variant,
        "verdict": groups.verdict,
        "first_divergence": first,
        "divergences": [each.as_json() for each in groups.divergences],
        "damage": [each.as_json() for each in groups.damage],
        "problems": groups.problems,
        "records": sum(groups.kinds.values()),
        "kinds": dict(groups.kinds),
        "partitions": [_partition_as_json(log) for log in groups.logs],
        "groups": [_group_as_json(each) for each in groups.followed],
        "properties": [each.as_json(name) for name, each in groups.properties.found.items()],
    }


def _partition_as_json(log):
    return {
        "partition": log.partition,
        "records": len(log.entries),
        "leader_epochs": log.epochs,
        "replicas": {replica.broker: replica.end for replica in log.replicas},
    }


def _group_as_json(followed: Followed) -> dict:
    group, counts = followed.group, followed.group.counts
    return {
        "group": group.name,
        "partition": followed.partition,
        "verdict": followed.verdict,
        "undecided": followed.undecided,
        "divergence": followed.divergence and followed.divergence.as_json(),
        "generation": group.value.generation if group.value else None,
        "state": kind_of(group.value),
        "members": sorted(group.members),
        "offsets": len(group.offsets),
        "records": counts["records"],
        "rebalances": counts[REBALANCE],
        "static_members_replaced": counts[REPLACED],
        "unstored_generations": counts["unstored"],
        "failovers": counts["failovers"],
        "commits": counts["commits"],
        "commits_without_members": counts["commits without members"],
        "tombstones": counts["tombstones"],
        "deaths": counts["deaths"],
        "expired_while_subscribed": counts["expired while subscribed"],
    }


def print_groups(out: Console, groups: Groups) -> None:
    """Print partitions, groups, properties that were violated, problems and the verdict."""
    brokers = sorted({replica.broker for log in groups.logs for replica in log.replicas})
    records = sum(groups.kinds.values())
    out.print(
        f"{groups.directory}: {records:,} records of groups in {len(groups.logs)} partitions of {', '.join(brokers)}",
        soft_wrap=True,
        markup=False,
    )
    if groups.followed:
        out.print(_table(groups))
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in groups.kinds.most_common())
    out.print(f"records: {kinds or 'none'}", soft_wrap=True)
    for problem in groups.problems:
        out.print("[yellow]problem[/]: ", end="")
        out.print(problem, soft_wrap=True, markup=False)
    for name, each in groups.properties.violated().items():
        segment, offset, group = each.first or ("", 0, "")
        out.print(
            f"[bold red]violates {name}[/] {times(each.violated)}, first at offset {offset} of "
            f"{escape(f'{segment}, group {group}')}: not so that {SAYS[name]}",
            soft_wrap=True,
        )
    _print_verdict(out, groups)


def _table(groups):
    table = Table(header_style="bold")
    for name in _COLUMNS:
        table.add_column(name, justify="left" if name in ("group", "state", "verdict") else "right")
    for followed in groups.followed:
        group, counts = followed.group, followed.group.counts
        generation = str(group.value.generation) if group.value else ""
        numbers = (
            counts["records"],
            generation,
            kind_of(group.value),
            len(group.members),
            counts[REBALANCE],
            counts["unstored"],
            counts["failovers"],
            counts["commits"],
            counts["tombstones"],
        )
        table.add_row(escape(group.name), str(followed.partition), *map(str, numbers), followed.verdict)
    return table


def _print_verdict(out, groups):
    for damage in groups.damage:
        out.print("[bold yellow]bad input[/]: ", end="")
        out.print(damage.reason, soft_wrap=True, markup=False)
    for each in groups.divergences:
        where = f"{each.segment}: group {each.group}" if each.group else f"{each.segment}:"
        out.print(f"[bold red]diverges[/] at offset {each.offset} of {escape(where)}", soft_wrap=True)
        out.print(each.reason, soft_wrap=True, markup=False)
    for followed in groups.followed:
        if followed.undecided:
            out.print(
                f"[bold yellow]undecided[/]: group {escape(followed.group.name)}, {escape(followed.undecided)}",
                soft_wrap=True,
            )
    if groups.verdict == CONFORMS:
        out.print(f"[green]conforms[/] to group/{groups.machine.variant}: each record is a step that it allows")
    elif groups.verdict not in (BAD_INPUT, DIVERGES):
        out.print(f"[bold yellow]{groups.verdict}[/]")
