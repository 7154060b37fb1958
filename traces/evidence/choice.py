"""Which releases of Kafka may have written a log, and why not the others: what replay holds the log to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkaproof.checker.basics.errors import UserError, meant
from kafkaproof.spec.election.model import MODELS
from kafkaproof.spec.language.releases import Releases
from kafkaproof.traces.evidence.features import RANGES, Features, of_release
from kafkaproof.traces.reading.cluster import Members, ephemerals_of
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.znodes.formats import content_of, format_of

VARIANTS = tuple(model.variant for model in MODELS)
VARIANTS_BY_RELEASE = ", ".join(f"{model.variant} ({model.releases})" for model in MODELS if model.releases)


class Choice(NamedTuple):
    """The features that a log shows, the likely first, and of the other ranges of releases why it is not of theirs."""

    likely: tuple[Features, ...]
    excluded: tuple[tuple[Features, str], ...]


def choice_of(recording: Recording, members: Members, root: str) -> Choice | None:
    """What a log shows of who wrote it; None when it shows no election.

    Versions of znodes exclude no releases where they would exclude all: another implementation may have written them.
    """
    if root not in recording.survey.elected:
        return None
    written = list(_written(recording, root))
    why = {_narrowed(each, written): _why_not(each, recording, members, root) for each in RANGES}
    doubts = {each: reason or _why_not_written(each, written) for each, reason in why.items()}
    if None in doubts.values():
        why = doubts
    likely = [each for each, reason in why.items() if reason is None]
    if len(likely) > 1 and not likely[0].guarded and _all_register_first(members):
        likely.reverse()
    return Choice(tuple(likely), tuple((each, reason) for each, reason in why.items() if reason))


def asked_for(release: str | None, variant: str | None) -> tuple[Features, ...]:
    """The features that were asked for, none where that is left to the log. Raises UserError where there are none such."""
    if release and variant:
        raise UserError(f"--release {release} --variant {variant}: give one of them")
    if release:
        try:
            return (of_release(release),)
        except ValueError as error:
            raise UserError(f"--release {release}: {error}, such as 2.8 or 2.8.2") from None
    if variant is None:
        return ()
    if variant not in VARIANTS:
        raise UserError(f"--variant {variant}: there are {', '.join(VARIANTS)}{meant(variant, VARIANTS)}")
    return tuple(each._replace(variant=variant) for each in RANGES if variant.startswith(each.variant))


def fitting(asked: tuple[Features, ...], recording: Recording, root: str) -> Features:
    """Of the features that were asked for those with the log's topic znodes, or the first."""
    return next((each for each in asked if each.kip455 == (root in recording.survey.reassigns)), asked[0])


class Written(NamedTuple):
    """The version of an ephemeral, which only a broker writes, and the releases that write it."""

    zxid: int
    name: str
    version: int | str
    releases: Releases


def _written(recording: Recording, root: str) -> Iterator[Written]:
    """The versions of the ephemerals in a log, each once."""
    seen = set()
    for zxid, _, path, data in ephemerals_of(recording):
        home, known = format_of(path) or ("", None)
        if known and home == root and known.versions and (found := content_of(known, data).version):
            if (known, found.version) not in seen:
                seen.add((known, found.version))
                yield Written(zxid, known.name, found.version, found.releases)


def _narrowed(features: Features, written: list[Written]) -> Features:
    """The releases of a range that write what is in a log; all of them where no release writes all of that."""
    releases = features.releases
    for each in written:
        if not releases.overlaps(each.releases):
            return features
        releases = releases.within(each.releases)
    return features._replace(releases=releases)


def _why_not_written(features: Features, written: list[Written]) -> str | None:
    """What none of these releases writes, in words."""
    foreign = (each for each in written if not features.releases.overlaps(each.releases))
    told = (f"{each.name} is of version {each.version}, of {each.releases} ({each.zxid:#x})" for each in foreign)
    return next(told, None)


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
