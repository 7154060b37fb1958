"""``kafkaproof replay`` of groups: the segments alone, or beside a log of ZooKeeper."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import OK, UNFINISHED, VIOLATED, WRONG_USE
from kafkaproof.checker.commands.tables import console
from kafkaproof.traces.basics.verdicts import WORST_FIRST
from kafkaproof.traces.commands.options import chroot_of, given
from kafkaproof.traces.commands.recording_rows import Row
from kafkaproof.traces.groups.directories import beside, has_partitions
from kafkaproof.traces.groups.offsets_topic import known_from
from kafkaproof.traces.groups.properties import SAYS
from kafkaproof.traces.groups.replay import BAD_INPUT, CONFORMS, DIVERGES, UNDECIDED, Groups, replay_groups
from kafkaproof.traces.reading.cluster import find_root
from kafkaproof.traces.reading.files import log_files
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.redaction import Redactor
from kafkaproof.traces.report.groups import groups_as_json, print_groups

EXPECTED = frozenset(SAYS)
CODES = {BAD_INPUT: WRONG_USE, DIVERGES: VIOLATED, UNDECIDED: UNFINISHED, CONFORMS: OK}
"""The exit code of each verdict."""


def is_segments(directory: Path) -> bool:
    """Whether a directory has offsets partitions and no log of ZooKeeper."""
    return directory.is_dir() and not log_files(directory) and has_partitions(directory)


def replay_segments(options) -> int:
    """Follow the groups in segments alone, print what was found; returns the exit code."""
    if names := given(
        options,
        "release",
        "variant",
        "chroot",
        "history",
        "html",
        "events",
        "master",
        "offsets",
        "logs",
        "wire",
        "metadata_log",
        "follow",
        "fail_on",
    ):
        raise UserError(f"{names}: {options.directory} has no log of ZooKeeper, only segments")
    for name in set(options.expect) - EXPECTED:
        raise UserError(f"--expect {name}: of segments replay evaluates {', '.join(SAYS)}")
    groups = replay_groups(options.directory, redactor=Redactor() if options.redact else None)
    if options.json:
        whole = groups_as_json(groups)
        print(
            json.dumps(
                {
                    "format": 1,
                    "verdict": whole["verdict"],
                    "first_divergence": whole["first_divergence"],
                    "problems": whole["problems"],
                    "groups": whole,
                },
                indent=2,
            )
        )
    else:
        print_groups(console(), groups)
    return exit_code_of(groups, options.expect)


def groups_beside(options, recording: Recording, redactor: Redactor | None = None) -> Groups | None:
    """The groups in the segments that are named, or lie beside the log of ZooKeeper; None where there are none.

    A `redactor` is the one that the recording was read with.
    """
    directory = options.offsets or beside(options.directory)
    if directory is None:
        return None
    root = find_root(recording, chroot_of(options, redactor))
    return replay_groups(directory, known_from(recording, root), redactor)


def with_groups(report: dict, groups: Groups) -> dict:
    """The JSON of a replay with its groups: the worse verdict of both."""
    found = groups_as_json(groups)
    verdict = worst_of(report["verdict"], found["verdict"])
    first = report["first_divergence"] or found["first_divergence"]
    return report | {"verdict": verdict, "first_divergence": first, "groups": found}


def row_with(row: Row, groups: Groups | None, expected: list[str]) -> Row:
    """The row of one recording among many, with its groups."""
    if groups is None:
        return row
    first = groups.divergences[0] if groups.divergences else None
    told = first and f"offset {first.offset} of {first.segment}: {first.reason}"
    return replace(
        row,
        verdict=worst_of(row.verdict, groups.verdict),
        variant=row.variant or groups.machine.variant,
        steps=row.steps + sum(groups.kinds.values()),
        first_divergence=row.first_divergence or told,
        violations=(*row.violations, *groups.properties.violated()),
        error=row.error or (groups.damage[0].reason if groups.damage else None),
        code=worse(row.code, exit_code_of(groups, expected)),
    )


def exit_code_of(groups: Groups, expected: list[str]) -> int:
    """0 when all conform and violate at most what is expected; 1, 2, 3 as of any replay."""
    code = CODES[groups.verdict]
    return VIOLATED if code in (OK, UNFINISHED) and set(groups.properties.violated()) - set(expected) else code


def worst_of(*verdicts: str) -> str:
    """The verdict on what has several: bad input before diverges before undecided."""
    return min(verdicts, key=WORST_FIRST.index)


def worse(*codes: int) -> int:
    """The exit code of two replays: bad input before violated before undecided."""
    return min(codes, key=(WRONG_USE, VIOLATED, UNFINISHED, OK).index)
