"""What was found of a migration to KRaft, as incidents, as JSON and in words."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from kafkaproof.checker.basics.words import counted
from kafkaproof.traces.basics.times import time_of_day
from kafkaproof.traces.basics.verdicts import CONFORMS, DIVERGES
from kafkaproof.traces.metrics.series import Moment
from kafkaproof.traces.migration.drivers import SYSTEM
from kafkaproof.traces.migration.judged import Judged, Reign
from kafkaproof.traces.migration.stores import Difference, name_of
from kafkaproof.traces.report.incidents import LOST_METADATA, MIGRATION, Incident

SHOWN = 10
"""So many differences are shown."""


def incidents_of_migration(judged: Judged) -> Iterator[Incident]:
    """What went wrong with a migration, with the ways out."""
    for each in judged.troubles:
        kind = LOST_METADATA if each.critical else MIGRATION
        yield Incident(kind, Moment(each.zxid, each.time), each.text, each.what, way_out=each.way_out)
    lasting = [each for each in judged.differences if each.ended is None]
    if lasting:
        first = lasting[0]
        names = tuple(name_of(each.subject) for each in lasting)
        text = "ZooKeeper and the quorum's log differ, because a write was refused"
        way_out = "let another controller of the quorum lead: it begins by making ZooKeeper like its log"
        yield Incident(MIGRATION, Moment(first.zxid, first.time), text, names, way_out=way_out)


def migration_as_json(judged: Judged) -> dict:
    """The object `migration` of `replay --json`."""
    return {
        "verdict": DIVERGES if judged.divergence else CONFORMS,
        "rulers": [_ruler_as_json(each) for each in judged.reigns],
        "events": [{"zxid": hex(each.zxid), "time": each.time, "text": each.text} for each in judged.events],
        "records": judged.records,
        "by": [
            {"system": account.system, "what": account.name, "count": count}
            for account, count in judged.accounts.most_common()
        ],
        "metadata_logs": [_log_as_json(each) for each in judged.timelines],
        "differences": [_difference_as_json(each) for each in judged.differences],
    }


def _ruler_as_json(each: Reign) -> dict:
    return {
        "since": hex(each.zxid),
        "time": each.time,
        "broker": each.broker,
        "controller": each.owner and each.owner.id,
        "kraft_epoch": each.owner and each.owner.epoch,
        "zookeeper_epoch": each.zk_epoch,
        "until": None if each.ended is None else hex(each.ended),
        "how": each.how,
    }


def _log_as_json(timeline) -> dict:
    log = timeline.log
    return {
        "directory": str(log.directory),
        "offsets": [log.begin, log.end - 1],
        "leaders": [
            {"epoch": each.epoch, "controller": each.id, "offset": each.offset} for each in log.leaders.values()
        ],
        "states": [{"offset": offset, "state": state} for offset, state in timeline.states],
        "copies": [each._asdict() for each in timeline.copies],
        "brokers": [each._asdict() for each in timeline.modes],
        "snapshots": [image.end for image in log.images],
    }


def _difference_as_json(each: Difference) -> dict:
    return {
        "what": name_of(each.subject),
        "zxid": hex(each.zxid),
        "time": each.time,
        "offset": each.offset,
        "text": each.text,
        "until": None if each.ended is None else hex(each.ended),
    }


def print_migration(out: Console, judged: Judged) -> None:
    """Print who ruled since when, what happened, what the stores differ in, and the verdict."""
    out.print(_rulers(judged))
    for each in judged.events:
        _line(out, f"{time_of_day(each.time)} {each.zxid:#x}: {each.text}")
    for timeline in judged.timelines:
        _print_log(out, timeline)
    for difference in judged.differences[:SHOWN]:
        until = "and does so at the end" if difference.ended is None else f"until {difference.ended:#x}"
        _line(out, f"the stores differ from {difference.zxid:#x} on, {until}: {difference.text}")
    if len(judged.differences) > SHOWN:
        _line(out, f"and {len(judged.differences) - SHOWN:,} more differences: see --json")
    steps = [f"{each.name} {count:,}" for each, count in judged.accounts.most_common() if each.system]
    others = [f"{each.name} {count:,}" for each, count in judged.accounts.most_common() if not each.system]
    _line(out, f"steps of {SYSTEM}: {', '.join(steps) or 'none'}")
    _line(out, f"of listed kinds: {', '.join(others) or 'none'}")
    if judged.divergence:
        zxid, reason = judged.divergence
        out.print(f"[bold red]diverges[/] while a quorum rules, at {zxid:#x}:")
        _line(out, reason)
        return
    beside = " and agrees with the quorum's log" if judged.timelines else ""
    out.print(f"[green]conforms[/] while a quorum rules: {counted(range(judged.records), 'record')}{beside}")


def _print_log(out: Console, timeline) -> None:
    log = timeline.log
    _line(out, f"{log.directory}: offsets {log.begin:,} to {log.end - 1:,}, {counted(log.images, 'snapshot')}")
    for offset, state in timeline.states:
        _line(out, f"    offset {offset:,}: the migration is {state}")
    for copy in timeline.copies:
        how = "was aborted" if copy.aborted else "was completed"
        _line(out, f"    offset {copy.begin:,}: a copy from ZooKeeper began, which {how} at {copy.end:,}")
    for mode in timeline.modes:
        how = "migration mode" if mode.migrating else "KRaft mode"
        _line(out, f"    offset {mode.offset:,}: broker {mode.broker} is registered in {how}")


def _rulers(judged: Judged) -> Table:
    table = Table(header_style="bold")
    for name in ("who rules", "since", "time", "/controller_epoch", "until", "how it ended"):
        table.add_column(name, justify="left")
    for each in judged.reigns:
        time = time_of_day(each.time) if each.time else ""
        until = "" if each.ended is None else hex(each.ended)
        table.add_row(each.name, hex(each.zxid), time, str(each.zk_epoch), until, each.how or "it rules")
    return table


def _line(out: Console, text: str) -> None:
    out.print(text, soft_wrap=True, markup=False, highlight=False)
