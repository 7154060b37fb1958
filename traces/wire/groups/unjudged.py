"""Requests of groups that are not judged, and why."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from kafkaproof.spec.group.network import (
    GROUP_AUTHORIZATION_FAILED,
    GROUP_MAX_SIZE_REACHED,
    INVALID_GROUP_ID,
    INVALID_SESSION_TIMEOUT,
    UNSTABLE_OFFSET_COMMIT,
)
from kafkaproof.spec.group.network import Verdict as Codes
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.groups.calls import COMMIT, FETCH, JOIN, Call
from kafkaproof.traces.wire.groups.coordinators import Coordinators
from kafkaproof.traces.wire.verdicts import LISTED, OPEN, Verdict

_BY_SETTING = tuple(
    Codes.names[code]
    for code in (
        GROUP_AUTHORIZATION_FAILED,
        GROUP_MAX_SIZE_REACHED,
        INVALID_GROUP_ID,
        INVALID_SESSION_TIMEOUT,
        UNSTABLE_OFFSET_COMMIT,
    )
)
MOST_PROTOCOLS = 2
OTHERS = ("DeleteGroups", "OffsetDelete", "TxnOffsetCommit")
"""Requests that change groups, and are not followed."""


class Unjudged:
    """What of the requests of groups is not judged.

    `begin`: when the capture begins (ms); groups that one of `OTHERS` names are not followed from then on.
    """

    def __init__(self, coordinators: Coordinators, others: Iterable[Exchange], begin: int):
        self._coordinators, self._begin = coordinators, begin
        self._touched: dict[str, int] = {}
        for each in others:
            for name in (each.asked.get("group_id"), *each.asked.get("groups_names", ())):
                if name:
                    self._touched.setdefault(name, each.time)

    def why(self, call: Call) -> Verdict | None:
        """Why a request is not judged, None where it is."""
        if call.api in (COMMIT, FETCH) and call.exchange.version == 0:
            return Verdict(LISTED, "version 0: offsets are in ZooKeeper")
        if call.answer and call.answer.verdict in _BY_SETTING:
            return Verdict(
                LISTED, "an answer that depends on settings, or on transactions, which a capture does not show"
            )
        if call.api == COMMIT and not call.offsets:
            return Verdict(LISTED, "no partition of it is committed")
        return self._why_open(call)

    def _why_open(self, call: Call) -> Verdict | None:
        begins = self._coordinators.begins(call.group)
        if begins is None or begins < self._begin:
            return Verdict(OPEN, "nobody knows what its group was before the capture")
        if self._touched.get(call.group, inf) <= (call.answered or call.time):
            return Verdict(OPEN, f"after a request that is not followed ({', '.join(OTHERS)})")
        if call.api == JOIN and len(call.protocols) > MOST_PROTOCOLS:
            return Verdict(OPEN, "it offers more than two protocols, and members of the specification have two")
        if call.api == FETCH and any(self._coordinators.may_be_gone(topic, call.answered) for topic, _ in call.fetched):
            return Verdict(OPEN, "offsets of a topic that was deleted")
        return None
