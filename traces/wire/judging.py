"""Holds traffic to the specification: each API has a judge, and what has none is listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.wire.connections import judge_connections
from kafkaproof.traces.wire.control.asked import ALTER_PARTITION, CONTROLLED_SHUTDOWN
from kafkaproof.traces.wire.control.judge import judge_control
from kafkaproof.traces.wire.control.requests import REQUESTS
from kafkaproof.traces.wire.groups.calls import GROUP_APIS
from kafkaproof.traces.wire.groups.coordinators import FIND
from kafkaproof.traces.wire.groups.judge import judge_groups
from kafkaproof.traces.wire.groups.unjudged import OTHERS
from kafkaproof.traces.wire.history import History
from kafkaproof.traces.wire.reading import Wire, unreadable_words
from kafkaproof.traces.wire.replica.judge import DATA, judge_replicas
from kafkaproof.traces.wire.traffic import Traffic
from kafkaproof.traces.wire.verdicts import LISTED, Judged, Verdict

UNREADABLE = Verdict(LISTED, "in no version or form that Kafka's schemas up to 3.9 have")
UNJUDGED = Verdict(LISTED, "no system has it, or it is not judged yet")
NOWHERE = Verdict(LISTED, "to a listener that is no registered broker's")


Judge = Callable[[Traffic, Judged], None]
"""Judges the messages of its APIs: notes each of them."""
JUDGES: Mapping[tuple[str, ...], Judge] = {
    (*REQUESTS, ALTER_PARTITION, CONTROLLED_SHUTDOWN): judge_control,
    DATA: judge_replicas,
    (*GROUP_APIS, FIND, *OTHERS): judge_groups,
}
"""Who judges which APIs. To judge another API, write a judge, and add it here."""


def judge_wire(wire: Wire, history: History, features: Features) -> Judged:
    """Judge all that passed."""
    found = Judged(wire)
    judged = {api for apis in JUDGES for api in apis}
    readable = []
    for each in wire.exchanges:
        if each.api not in judged:
            found.note(each, UNJUDGED)
        elif not wire.readable(each):
            found.note(each, UNREADABLE)
        elif each.broker is None:
            found.note(each, NOWHERE)
        else:
            readable.append(each)
    unread = unreadable_words(wire)
    for judge in JUDGES.values():
        judge(Traffic(readable, history, features, not (wire.problems or unread)), found)
    if not wire.problems:
        judge_connections(wire.exchanges, found)
    found.problems += [*wire.problems, *unread]
    return found
