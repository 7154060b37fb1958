"""``kafkaproof replay`` of what `kafkaproof run` has recorded."""

from __future__ import annotations

import json
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import OK, UNFINISHED, VIOLATED
from kafkaproof.spec.language.model import SAFETY
from kafkaproof.spec.running.processes import VARIANTS, parts
from kafkaproof.traces.basics.tasks import Progress, shown
from kafkaproof.traces.commands.options import given, write_history
from kafkaproof.traces.commands.recording_rows import Row
from kafkaproof.traces.explain.election.single_steps import identity
from kafkaproof.traces.processes.groups.view import SHOWN
from kafkaproof.traces.processes.recorded.reading import Cluster, read_cluster
from kafkaproof.traces.processes.replay import NoSuchVariant, replay
from kafkaproof.traces.processes.state.result import Result
from kafkaproof.traces.report.process_history import history_of
from kafkaproof.traces.report.processes import as_json, print_result, verdict_of

RECORDED = {
    identity(p) for variant in VARIANTS for model in parts(variant) for p in model.properties if p.kind in SAFETY
} | {identity(p) for p in SHOWN}


def replay_recording(options) -> int:
    """Replay what `kafkaproof run` has recorded; returns the exit code."""
    for name in set(options.expect) - RECORDED:
        raise UserError(f"--expect {name}: of a recording replay evaluates {', '.join(sorted(RECORDED))}")
    if names := given(
        options,
        "release",
        "chroot",
        "events",
        "html",
        "offsets",
        "logs",
        "wire",
        "metadata_log",
        "redact",
        "follow",
        "fail_on",
    ):
        raise UserError(
            f"{options.directory}: {names}: for the log of a ZooKeeper only; its own is in "
            f"{options.directory / 'zookeeper'}"
        )
    recorded = read_cluster(options.directory)
    result = _followed(recorded, options, shown("steps"))
    if options.json:
        print(json.dumps(as_json(recorded, result), indent=2))
    else:
        print_result(recorded, result)
    if options.history:
        write_history(history_of(recorded, result), options.history)
    return _code(result, options)


def recorded_row(directory: Path, options) -> Row:
    """The row of one recording among many; raises UserError."""
    recorded = read_cluster(directory)
    result = _followed(recorded, options)
    told = result.divergence and ": ".join(result.divergence)
    return Row(
        str(directory),
        result.variant,
        verdict_of(result),
        result.steps,
        told,
        tuple(result.violations),
        code=_code(result, options),
        problems=recorded.problems,
    )


def _followed(recorded: Cluster, options, progress: Progress = lambda done, of: None) -> Result:
    try:
        return replay(recorded, options.variant, progress)
    except NoSuchVariant as error:
        raise UserError(f"--variant: {error.args[0]}") from None


def _code(result: Result, options) -> int:
    if result.divergence or set(result.violations) - set(options.expect):
        return VIOLATED
    return UNFINISHED if result.unfollowed else OK
