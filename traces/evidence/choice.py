"""Which releases of Kafka may have written a log, and why not the others: what replay holds the log to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.spec.election.model import MODELS
from kafkaproof.traces.evidence.features import RANGES, Features, of_release
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.recording import Recording

VARIANTS = tuple(model.variant for model in MODELS)
VARIANTS_BY_RELEASE = ", ".join(f"{model.variant} ({model.releases})" for model in MODELS if model.releases)


class Choice(NamedTuple):
    """The features that a log shows, the likely first, and of the other ranges of releases why it is not of theirs."""

    likely: tuple[Features, ...]
    excluded: tuple[tuple[Features, str], ...]


def choice_of(recording: Recording, members: Members, root: str) -> Choice | None:
    """What a log shows of who wrote it; None when it shows no election."""
    if root not in recording.survey.elected:
        return None
    why = {each: _why_not(each, recording, members, root) for each in RANGES}
    likely = [each for each in RANGES if why[each] is None]
    if len(likely) > 1 and not likely[0].guarded and _all_register_first(members):
        likely.reverse()
    return Choice(tuple(likely), tuple((each, reason) for each, reason in why.items() if reason))


def asked_for(release: str | None, variant: str | None, recording: Recording, root: str) -> Features | None:
    """The features that were asked for, None where it is left to the log. Raises UserError where there are none such."""
    if release and variant:
        raise UserError(f"--release {release} --variant {variant}: one of them says what the log is held to")
    if release:
        try:
            return of_release(release)
        except ValueError as error:
            raise UserError(f"--release {release}: {error}, such as 2.8 or 2.8.2") from None
    if variant is None:
        return None
    if variant not in VARIANTS:
        raise UserError(f"--variant {variant}: there are {', '.join(VARIANTS)}")
    own = [each for each in RANGES if variant.startswith(each.variant)]
    fits = [each for each in own if each.kip455 == (root in recording.survey.reassigns)]
    return (fits or own)[0]._replace(variant=variant)


def _why_not(features: Features, recording: Recording, members: Members, root: str) -> str | None:
    """Why a log is not of these releases; None where it may be."""
    return next(filter(None, _reasons(features, recording, members, root)), None)


def _reasons(features: Features, recording: Recording, members: Members, root: str) -> Iterator[str | None]:
    survey = recording.survey
    elected = survey.elected[root]
    if features.guarded != elected.fenced:
        seen = "by one multi with /controller_epoch" if elected.fenced else "by creating /controller alone"
        yield f"a controller is elected {seen} ({elected.zxid:#x})"
    elif features.guarded and features.kip455 != (root in survey.reassigns) and root in survey.topics:
        version = "2 or later" if root in survey.reassigns else "1 only"
        yield f"topic znodes are of version {version}"
    elif not features.guarded and not _all_register_first(members) and features.keeps_to_its_session:
        yield "a broker was a candidate before it registered"
    elif not features.guarded and recording.start is None and _all_register_first(members):
        yield None if features.keeps_to_its_session else "each broker registered before it was a candidate"


def _all_register_first(members: Members) -> bool:
    """Whether each session registered its broker before it tried to become controller."""
    return all(members.registered_first.values())
