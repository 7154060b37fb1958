"""``kafkaproof replay`` of several recordings: a row of each."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import OK
from kafkaproof.traces.commands.groups import EXPECTED, groups_beside, is_segments, row_with
from kafkaproof.traces.commands.log import PROPERTIES, exit_code, report_of
from kafkaproof.traces.commands.options import given, jobs_on
from kafkaproof.traces.commands.recorded import RECORDED, recorded_row
from kafkaproof.traces.commands.recording_rows import Row, as_json, print_rows, replay_all, worst
from kafkaproof.traces.evidence.choice import asked_for
from kafkaproof.traces.groups.replay import replay_groups
from kafkaproof.traces.processes.recorded.reading import is_recording
from kafkaproof.traces.reading.recording import read_readable
from kafkaproof.traces.report.log import CONFORMS


def replay_several(directories: list[Path], options) -> int:
    """Replay several recordings, print a row of each; returns the worst exit code."""
    known = PROPERTIES.keys() | RECORDED | EXPECTED
    for name in set(options.expect) - known:
        raise UserError(f"--expect {name}: replay evaluates {', '.join(sorted(known))}")
    if names := given(
        options, "history", "events", "html", "offsets", "logs", "wire", "metadata_log", "redact", "follow", "on_event"
    ):
        raise UserError(f"{names}: for one recording only: give one DIR")
    asked = vars(options) | {"master": None}
    asked.pop("run")
    with jobs_on(options.master) as jobs:
        rows = replay_all(directories, partial(row_of, asked), jobs)
    if options.json:
        print(json.dumps(as_json(rows), indent=2))
    else:
        print_rows(rows)
    return worst(rows)


def row_of(asked: dict, directory: Path) -> Row:
    """The row of one recording, `asked` being the options of the command; raises UserError."""
    options = argparse.Namespace(**asked | {"directory": directory})
    if is_recording(directory):
        return recorded_row(directory, options)
    if is_segments(directory):
        return row_with(Row(str(directory), verdict=CONFORMS, code=OK), replay_groups(directory), options.expect)
    asked_for(options.release, options.variant)
    report = report_of(*read_readable(directory), options)
    result, found = report.result, report.divergence
    records = sum(len(part.recording.transactions) for part in report.parts)
    records += report.migration.records if report.migration else 0
    row = Row(
        str(directory),
        result.variant if result else None,
        report.verdict,
        records,
        f"{found[0]:#x}: {found[1]}" if found else None,
        tuple(sorted(report.violated)),
        report.reason,
        exit_code(report, options.expect, options.fail_on),
        report.hurt,
        report.problems,
    )
    return row_with(row, groups_beside(options, report.recording), options.expect)
