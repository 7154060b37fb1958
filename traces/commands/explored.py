"""``kafkaproof explore RECORDING``: the state of a model before the record at which replay diverges."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.interactive.opened import Opened
from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.plain import from_json, to_json
from kafkaproof.spec.language.subset import RuleError
from kafkaproof.spec.running.processes import ELECTION, PARTITION, cluster
from kafkaproof.traces.commands.log import report_of
from kafkaproof.traces.evidence.choice import asked_for
from kafkaproof.traces.opened.log import Place, first_place, standing_before
from kafkaproof.traces.opened.standing import Standing
from kafkaproof.traces.processes.recorded.order import Occurrence, in_order
from kafkaproof.traces.processes.recorded.reading import Cluster, is_recording, read_cluster
from kafkaproof.traces.processes.replay import Follower, NoSuchVariant, replay
from kafkaproof.traces.processes.state.result import Result
from kafkaproof.traces.reading.files import log_files
from kafkaproof.traces.reading.recording import read_readable
from kafkaproof.traces.report.log import Report

EARLIER = (
    "The recording is of an earlier format: replay put rules of brokers of that time in place of some that are "
    "explored here."
)


def opened(directory: Path, variant: str | None) -> Opened | None:
    """The state before the divergence of a recording or a ZooKeeper's log, or before its first violation.

    None for what is neither. Raises UserError where it conforms, or no verdict is reached.
    """
    if is_recording(directory):
        return _before(directory, read_cluster(directory), variant)
    return _in_log(directory, variant) if log_files(directory) else None


def _in_log(directory: Path, variant: str | None) -> Opened:
    """The state before the first record of a real log that diverges, or violates something."""
    asked_for(None, variant)
    recording, error = read_readable(directory)
    asked = dict.fromkeys(("logs", "chroot", "release", "metadata_log", "redact"))
    report = report_of(recording, error, Namespace(directory=directory, variant=variant, **asked))
    for part in report.parts:
        place = first_place(part.result, part.recording) if part.result else None
        if place and part.result and part.streams:
            standing = standing_before(place, part.result, part.recording, part.streams)
            return _opened(directory, place, standing, variant)
    raise UserError(
        f"{directory}: {report.verdict}{_because(report)}: there is no divergence or violation to open it at"
    )


def _because(report: Report) -> str:
    return f", {report.reason}" if report.reason else ""


def _opened(directory: Path, place: Place, standing: Standing, variant: str | None) -> Opened:
    """What `explore` shows of the states that may stand before a record."""
    texts = tuple(choice.text for choice in standing.choices)
    alone = (f"{texts[0]}.",) if len(texts) == 1 and texts[0] else ()
    told = (f"{directory} {place.told}.", *standing.told, *alone)
    words = (str(directory), *(("--variant", variant) if variant else ()))
    states, paths = zip(*((choice.state, choice.path) for choice in standing.choices))
    labels = texts if len(texts) > 1 else ()
    return Opened(standing.model, standing.scope, states, told, words, paths, labels)


def _before(directory: Path, recorded: Cluster, variant: str | None) -> Opened:
    try:
        result = replay(recorded, variant)
    except NoSuchVariant as error:
        raise UserError(f"--variant: {error.args[0]}") from None
    if result.at is None:
        raise UserError(
            f"{directory} conforms to {result.variant} and violates nothing: there is nothing to open it at"
        )
    follower, order = Follower(recorded, result.variant), in_order(recorded)
    for occurrence in order[: result.at]:
        follower.follow(occurrence)
    occurrence = order[result.at]
    line = occurrence.line
    part = line.part if line and line.part else PARTITION
    model = cluster(result.variant, recorded.deletes, recorded.reassigns, recorded.updates, recorded.is_newest).model(
        part
    )
    scope = _scope(follower.world.scopes[part])
    took = follower.on_its_way(line.took) if line and line.took else None
    with follower.world.arriving(took, line.broker if line else 0):
        state = from_json(model.state, to_json(model.state, follower.world.states[part], scope), scope)
    try:
        require_accepted(model, scope)
    except RuleError as error:
        raise UserError(f"{directory}: {model.name} is followed by replay, and cannot be explored: {error}") from None
    told = _told(directory, result, occurrence, part, took is not None)
    if not (recorded.goes_on and recorded.is_newest and recorded.keeps_ends):
        told = (*told, EARLIER)
    return Opened(model, scope, (state,), told, (str(directory), "--variant", result.variant))


def _scope(scope: Scope) -> Scope:
    """The scope of a part; a recording without a record has room for one."""
    return {name: max(size, 1) for name, size in scope.items()}


def _told(directory: Path, result: Result, occurrence: Occurrence, part: str, arrives: bool) -> tuple[str, ...]:
    """What the state is, what was recorded next, and what it leaves out."""
    if result.divergence:
        where, reason = result.divergence
        found = f"{directory} diverges from {result.variant} at {where}: {reason}"
    else:
        found = f"{directory} violates {', '.join(result.violations)}, the first one with {occurrence.title}"
    other = ELECTION if part == PARTITION else PARTITION
    message = ", with the message that it took" if arrives else ""
    return (
        f"{found}.",
        f"This is the state of {part} before that{message}. Of other messages on their way it has what the network of "
        f"the model keeps, the newest of a kind. A step that is one of {other}, too, is taken in {part} alone.",
    )
