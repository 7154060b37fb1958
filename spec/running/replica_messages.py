"""What a data plane sends: messages of replicas, and a controller's answers to leaders.

A message is the record that the functions of `kafkaproof.spec.replica.network` have filled. A cluster that runs or is
replayed sends the records that a step has changed, and fills in those that have arrived before a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkaproof.spec.language.plain import Plain, values_of
from kafkaproof.spec.replica.network import DONE, EPOCHS, FETCH, NO_MESSAGE, REFUSED

FETCHED, ASKED, WRITTEN, OUTDATED = "Fetched", "Fetch", "IsrWritten", "IsrOutdated"
"""Kinds of messages: an answer to a follower; its request; what a controller has written for a leader, or has refused
because of its version.
"""
DECIDED = {DONE: WRITTEN, REFUSED: OUTDATED}


class Departure(NamedTuple):
    """A message that is sent: its kind, the broker that receives it, and its fields."""

    kind: str
    receiver: int
    fields: dict[str, int]


def fields_of(record: Plain) -> dict[str, int]:
    """A message as names and numbers."""
    return {name: getattr(record, name) for name in record.__slots__}


def put_fields(record: Plain, fields: dict[str, int]) -> None:
    """Fill a message from `fields`; raises KeyError where one is missing."""
    for name in record.__slots__:
        setattr(record, name, fields[name])


def contents_of(network: Plain) -> tuple[list[list[int]], list[int]]:
    """What is in the network of a data plane: the values of each message, and the state of each proposal."""
    return [values_of(each) for each in network.messages], [each.state for each in network.alters]


def departures(before: tuple[list[list[int]], list[int]], after: Plain, b: int) -> Iterator[Departure]:
    """What a step of broker `b` has put into the network of a data plane, requests first; `before`: what was in it."""
    messages, alters = before
    for f, message in enumerate(after.messages):
        if message.kind == NO_MESSAGE or values_of(message) == messages[f]:
            continue
        is_request = message.kind in (FETCH, EPOCHS)
        if is_request and f == b:
            yield Departure(ASKED, message.peer, fields_of(message))
        elif not is_request and f != b:
            yield Departure(FETCHED, f, fields_of(message))
    for sender, alter in enumerate(after.alters):
        if sender != b and alter.state in DECIDED and alters[sender] != alter.state:
            yield Departure(DECIDED[alter.state], sender, fields_of(alter))
