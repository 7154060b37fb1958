"""Looks at the numbers of requests on each connection: none lacks between others, and none comes twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from kafkaproof.checker.basics.words import counted
from kafkaproof.spec.protocol.correlation import missing_in
from kafkaproof.spec.protocol.frames import number_of
from kafkaproof.spec.protocol.passed import REQUEST
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.verdicts import Judged

REQUESTS = "requests"
_OF_MANY = "WriteTxnMarkers"
"""Its sender numbers the requests to all brokers in one row."""


def judge_connections(exchanges: list[Exchange], judged: Judged) -> None:
    """Note what is missing, and what is there twice, on the connections between brokers."""
    for own in _connections(exchanges):
        seen: dict[int, Exchange] = {}
        for each in own:
            number = number_of(each.request, REQUEST)
            if number in seen:
                text = f"request {number} of the connection, which {seen[number].place} has already"
                judged.deny(each, text)
            seen.setdefault(number, each)
        if lacks := missing_in(seen):
            before = max((each for number, each in seen.items() if number < lacks[0]), key=lambda each: each.time)
            judged.miss(
                before.time,
                REQUESTS,
                f"{counted(lacks, 'request')} of broker {before.sender} to broker {before.broker}: numbers "
                f"{', '.join(map(str, lacks[:5]))} lack on the connection of {before.place}",
            )


def _connections(exchanges: list[Exchange]) -> Iterator[list[Exchange]]:
    """The requests of each connection between brokers, by client ids that brokers use."""
    found: dict[tuple[Path, int, str], list[Exchange]] = defaultdict(list)
    for each in exchanges:
        if each.sender is not None and each.broker is not None:
            found[each.place.file, each.connection, each.client].append(each)
    return (own for own in found.values() if not any(each.api == _OF_MANY for each in own))
