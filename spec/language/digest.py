"""The hash and the fields of records, without ghosts, by which replay compares its state with that of a process.

A log is compared by its chain: a hash of each record with the chain before it. What producers wait for is not
compared: a running broker keeps their connections instead. Nor is what recordings of earlier versions do not have and
steps decide (`LATER`): of whom a leader has heard in its epoch, whether a broker notices failed log directories, how
far a failover is, what a state machine has not sent, or is to elect again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from kafkaproof.spec.language.plain import Plain

GHOSTS = "ghosts"
LATER = (
    "heard",
    "failing_over",
    "overlooked",
    "partition_batch",
    "replica_batch",
    "another_round",
    "next_round",
    "deaf",
)
LEFT_OUT = (GHOSTS, "log", "waiting", "required", *LATER)
EMPTY = "0" * 16
Chains = Sequence[Callable[[object], str]]


@lru_cache(maxsize=100_000)
def link(chain: str, epoch: int, id: int) -> str:
    """The chain of a log with one more record; `EMPTY` is the chain of an empty log."""
    return hashlib.sha256(f"{chain},{epoch},{id}".encode()).hexdigest()[:16]


def digest(records: Mapping[str, Plain], chains: Chains = ()) -> str:
    """16 hexadecimal digits of SHA-256 over the values of records, in the order of their declaration.

    `chains` compute the chains of the logs, one for each record that has a log; without them, a log has its own
    `chain`.
    """
    return hash_of([text_of(fields_of(records, chains).values())])


def text_of(values: Iterable[int | str]) -> str:
    """The values of records as the text that is hashed."""
    return ",".join(map(str, values))


def hash_of(texts: Iterable[str]) -> str:
    """The hash of several records, from the text of each."""
    return hashlib.sha256(",".join(texts).encode()).hexdigest()[:16]


def fields_of(records: Mapping[str, Plain], chains: Chains = ()) -> dict[str, int | str]:
    """Every field of some records by its name: ``partition.controller.doing``; `chains` as in `digest`."""
    makers, found = iter(chains), {}
    for name, record in records.items():
        if hasattr(record, "log"):
            found[f"{name}.log"] = next(makers)(record.log) if chains else record.log.chain
        found.update(_leaves(record, name))
    return found


def values_in(records: Mapping[str, Plain]) -> list[int | str]:
    """The values of `fields_of`, in the same order, without their names; much faster."""
    found = []
    for record in records.values():
        if hasattr(record, "log"):
            found.append(record.log.chain)
        _collect(record, found)
    return found


def _collect(value, found) -> None:
    if type(value) is int:
        found.append(value)
    elif isinstance(value, list):
        for element in value:
            _collect(element, found)
    elif isinstance(value, Plain):
        for field in _compared(value.__slots__):
            _collect(getattr(value, field), found)
    else:
        found.append(value)


@cache
def _compared(slots: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(field for field in slots if field not in LEFT_OUT)


def _leaves(value, name) -> Iterator[tuple[str, int]]:
    if isinstance(value, list):
        for place, element in enumerate(value):
            yield from _leaves(element, f"{name}[{place}]")
    elif isinstance(value, Plain):
        for field in value.__slots__:
            if field not in LEFT_OUT:
                yield from _leaves(getattr(value, field), f"{name}.{field}")
    else:
        yield name, value
