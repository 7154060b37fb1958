"""The hash and the fields of records, without ghosts: what a running process and a replay compare."""

from __future__ import annotations

import hashlib
from typing import Iterator, Mapping

from spec.language.plain import Plain

GHOSTS = "ghosts"


def digest(*records: Plain) -> str:
    """16 hexadecimal digits of SHA-256 over the values of records, in the order of their declaration."""
    values = [str(value) for record in records for _, value in _leaves(record, "")]
    return hashlib.sha256(",".join(values).encode()).hexdigest()[:16]


def fields_of(records: Mapping[str, Plain]) -> dict[str, int]:
    """Every field of some records by its name: ``partition.controller.doing``, ``election.epoch``."""
    return {name: value for part, record in records.items() for name, value in _leaves(record, part)}


def _leaves(value, name) -> Iterator[tuple[str, int]]:
    if isinstance(value, list):
        for place, element in enumerate(value):
            yield from _leaves(element, f"{name}[{place}]")
    elif isinstance(value, Plain):
        for field in value.__slots__:
            if field != GHOSTS:
                yield from _leaves(getattr(value, field), f"{name}.{field}")
    else:
        yield name, value
