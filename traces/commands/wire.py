"""``kafkaproof replay --wire``: traffic beside the log of a ZooKeeper."""

from __future__ import annotations

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.traces.commands.groups import CODES, worst_of
from kafkaproof.traces.commands.options import chroot_of, given
from kafkaproof.traces.explain.log.streams import Streams
from kafkaproof.traces.reading.cluster import find_root
from kafkaproof.traces.report.log import Report
from kafkaproof.traces.report.wire import told_of, wire_as_json
from kafkaproof.traces.wire.verdicts import Judged


def expect_no_others(options) -> None:
    """Raise UserError where --wire is given with what does not go with it."""
    if options.wire and (names := given(options, "redact", "follow")):
        raise UserError(f"--wire: not with {names}")


def wire_beside(options, report: Report) -> Judged | None:
    """The traffic in the files that are named, judged; None where none is named, or nothing of the log was followed."""
    if not options.wire:
        return None
    if report.streams is None:
        raise UserError(
            f"--wire: nothing of {options.directory} can be followed, so that nothing is known of its brokers"
        )
    return _judged(options, report, report.streams)


def _judged(options, report: Report, streams: Streams) -> Judged:
    """The traffic, judged; what reads and judges it is loaded here: a replay without traffic starts sooner."""
    from kafkaproof.traces.wire.history import History
    from kafkaproof.traces.wire.judging import judge_wire
    from kafkaproof.traces.wire.listeners import listeners_of
    from kafkaproof.traces.wire.reading import read_wire

    recordings = [part.recording for part in report.parts]
    root = find_root(report.recording, chroot_of(options, None))
    wire = read_wire(options.wire, listeners_of(recordings, root))
    return judge_wire(wire, History(recordings, root, streams), streams.features)


def with_wire(report: dict, judged: Judged) -> dict:
    """The JSON of a replay with its traffic: the worse verdict of both."""
    first = judged.first and {"zxid": None, "reason": told_of(judged.first)}
    return report | {
        "verdict": worst_of(report["verdict"], judged.verdict),
        "first_divergence": report["first_divergence"] or first,
        "wire": wire_as_json(judged),
    }


def exit_code_of_wire(judged: Judged) -> int:
    """0 where all conforms, 1 where a message diverges, 3 where it is undecided."""
    return CODES[judged.verdict]
