"""``kafkaproof replay`` of a log in which a quorum rules for a while, with its own log beside it."""

from __future__ import annotations

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.traces.migration.judge import judge
from kafkaproof.traces.migration.judged import Judged
from kafkaproof.traces.migration.metadata_log import metadata_beside, read_metadata
from kafkaproof.traces.migration.timeline import Timeline
from kafkaproof.traces.reading.recording import Recording


def migration_in(recording: Recording, root: str, options) -> Judged:
    """What was found of the migration in a log; raises UserError where the metadata logs that are named cannot be read."""
    directory = options.metadata_log
    if directory is None and not options.redact:
        directory = metadata_beside(options.directory)
    logs = read_metadata(directory) if directory else []
    for log in logs:
        if log.damage:
            raise UserError(log.damage[0][1])
    judged = judge(recording, root, recording.transactions, [Timeline(log) for log in logs])
    judged.problems += [problem for log in logs for problem in log.problems]
    return judged
