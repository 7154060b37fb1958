"""The verdict in one sentence, and what an operator would ask next, each line with the record to look at first."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from kafkaproof.checker.basics.words import counted
from kafkaproof.traces.explain.log.streams import Streams, flaws
from kafkaproof.traces.migration.judged import Judged
from kafkaproof.traces.report.log import CONFORMS, DIVERGES, Followed, Report
from kafkaproof.traces.report.metrics import METRICS, rows_of

_ASKED = ("offline_partitions", "under_min_isr", "under_replicated", "reassigning", "topics_to_delete")


class Line(NamedTuple):
    """A line below the verdict: how grave it is (as kinds are), and the record to look at, None for none."""

    text: str
    weight: int
    zxid: int | None = None


def sentence(report: Report) -> tuple[str, int]:
    """The verdict in a sentence, and how grave it is."""
    result, divergence, records = report.result, report.divergence, len(report.recording.transactions)
    found = list(result.violations.found.values()) if result else []
    also = f", and violates {', '.join(each.property for each in found)}" if found else ""
    if divergence and report.migration and divergence == report.migration.divergence:
        return f"The log diverges at {divergence[0]:#x}, while a quorum rules: {divergence[1]}{also}.", 3
    if divergence and report.verdict == DIVERGES:
        of = next(part.result.variant for part in report.parts if part.result and part.result.divergence)
        return (
            f"The log diverges from {of} at {divergence[0]:#x}: no behaviour of the "
            f"specification gives this record{also}."
        ), 3
    if result and report.verdict == CONFORMS:
        but = also.replace("and", "but", 1)
        return (
            f"The log conforms to {result.variant}{report.until}{but}: each of its {records:,} records is a step that the "
            f"specification allows, or of a listed kind{f', {report.and_yet}' if report.and_yet else ''}."
        ), 3 if found else 2 if report.and_yet else 0
    return f"The verdict is {report.verdict}{also}: {report.reason}.", 2


def lines(report: Report) -> Iterator[Line]:
    """What else was found, the gravest first."""
    yield from sorted(_lines(report), key=lambda line: -line.weight)


def _lines(report: Report) -> Iterator[Line]:
    found = report.followed
    for part in report.parts[:-1]:
        first, last = part.recording.transactions[0].zxid, part.recording.transactions[-1].zxid
        before = "before a quorum ruled" if report.migration else "before a missing file"
        yield Line(f"{before}, not on this page: records {first:#x} to {last:#x}, {part.verdict}", 2)
    yield from _of_migration(report.migration) if report.migration else ()
    if report.end:
        yield Line(report.end.text, 2)
    yield from (Line(held.told, 0) for held in report.held)
    if found is None:
        return
    if found.result.divergence:
        yield Line(found.result.divergence[1], 3, found.result.divergence[0])
    for each in found.result.violations.found.values():
        changed = f", {each.leader_changes:,} of which changed a leader" if each.leader_changes else ""
        yield Line(f"{each.property}: {counted(each.count, 'record')}{changed}. It demands: {each.text}", 3, each.zxid)
    for remark in report.remarks:
        yield Line(f"{remark.what}: {remark.name}: {remark.text}", 3, remark.zxid)
    for flaw in flaws(found.streams):
        of = f"{flaw.property} does not hold in any version of Kafka, nor here"
        told = f"{of}: {counted(flaw.count, 'record')}. It demands: {flaw.text}"
        yield Line(told, 2, flaw.zxid)
    yield from _of_controllers(found)
    yield from _of_partitions(found)
    yield from _of_topics(found.streams)


def _of_migration(judged: Judged) -> Iterator[Line]:
    """Who ruled of a quorum, and what happened."""
    for reign in judged.reigns:
        if reign.owner:
            until = "" if reign.ended is None else f" to {reign.ended:#x}, {reign.how}"
            yield Line(f"{reign.name} rules from {reign.zxid:#x}{until}", 0)
    yield from (Line(each.text, 0) for each in judged.events)


def _of_controllers(found: Followed) -> Iterator[Line]:
    controllers, facts = found.result.controllers.all, found.facts
    if controllers:
        brokers = len({each.broker for each in controllers})
        yield Line(f"controllers: {len(controllers):,}, of brokers: {brokers:,}", 0, controllers[0].zxid)
    late = sum(each.unowned + each.stale for each in facts.terms)
    refused = sum(each.refused for each in facts.terms)
    if late:
        yield Line(f"partition states written by controllers that were controller no more: {late:,}", 2)
    if refused:
        yield Line(f"writes of deposed controllers refused by the check of /controller_epoch: {refused:,}", 1)
    expired = [each for each in facts.registrations if each.how == "session expired"]
    if expired:
        yield Line(f"sessions of brokers that expired: {len(expired):,}", 2, expired[0].ended)


def _of_partitions(found: Followed) -> Iterator[Line]:
    for row in rows_of(found.metrics):
        if row.metric.name in _ASKED and row.first:
            over = f"over at {row.last.zxid:#x}" if row.last and not row.lasts else "not over at the end of the log"
            yield Line(
                f"{METRICS[row.metric.name].text}: up to {row.most:,}, for {row.seconds:,.1f} s in all, {over}",
                2 if row.metric.name in _ASKED[:2] else 1,
                row.first.zxid or None,
            )


def _of_topics(streams: Streams) -> Iterator[Line]:
    if streams.made or streams.deletions:
        created = sum(each.first == 0 for each in streams.made)
        yield Line(
            f"{created:,} topics created, {len(streams.made) - created:,} expanded, "
            f"{len(streams.deletions):,} deletions asked for",
            0,
        )
    if streams.reassignments:
        counts = Counter(each.outcome for each in streams.reassignments)
        told = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.most_common())
        first = next((each.zxid for each in streams.reassignments if each.zxid is not None), None)
        yield Line(f"reassignments: {told}", 1, first)
