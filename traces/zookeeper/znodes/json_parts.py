"""The JSON that Kafka keeps in znodes, taken apart without trusting it."""

import json
from functools import lru_cache
from typing import NamedTuple, NoReturn, TypeGuard

LONGEST = 10
MOST = (1 << 31) - 1
"""The largest number of 32 bits, which all ids and epochs have."""


class Parsed(NamedTuple):
    """What a content is as JSON; `problem`: why it is none that Kafka writes, None where it may be.

    Of a key that an object has twice the last counts, as it does for Kafka (Jackson's `ObjectMapper.readTree`).
    """

    value: object
    problem: str | None


@lru_cache(maxsize=100_000)
def parsed(data: bytes | None) -> Parsed:
    """Read a content as JSON."""
    twice: list[str] = []

    def joined(pairs: list[tuple[str, object]]) -> dict:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice.extend(name for name in found if names.count(name) > 1)
        return found

    if not data:
        return Parsed(None, "is empty")
    try:
        value = json.loads(data.decode(), object_pairs_hook=joined, parse_constant=_refuse)
    except UnicodeDecodeError:
        return Parsed(None, "is no UTF-8")
    except (ValueError, RecursionError):
        return Parsed(None, "is no JSON")
    return Parsed(value, f"has the key {twice[0]!r} twice" if twice else None)


def _refuse(constant: str) -> NoReturn:
    """NaN and Infinity are no JSON."""
    raise ValueError(constant)


def json_in(data: bytes | None) -> dict:
    """The JSON object that a znode holds; an empty one for anything else."""
    value = parsed(data).value
    return value if isinstance(value, dict) else {}


def is_int(value: object) -> TypeGuard[int]:
    """Whether a JSON value is a number as Kafka reads it into an `Int`: whole, of 32 bits, and no `true`."""
    return type(value) is int and -MOST - 1 <= value <= MOST


def is_number(text: str) -> bool:
    """Whether a text is a decimal number as Kafka has them: of 32 bits, so that it has ten digits at most."""
    return text.isdecimal() and len(text) <= LONGEST


def part_of(found: dict, name: str) -> dict:
    """The object of that name inside a JSON object; an empty one where there is none."""
    part = found.get(name)
    return part if isinstance(part, dict) else {}


@lru_cache(maxsize=1_000)
def entries_in(data: bytes | None) -> dict[tuple[str, int], tuple[int, ...]]:
    """The partitions that an admin znode lists, each with the replicas that it wants, if it wants any.

    One entry that Kafka cannot read, and it reads none. A number may be written as a text, which Kafka 2.0 and later
    take for one (`ReassignPartitionsZNode.decode`).
    """
    found = {}
    listed = json_in(data).get("partitions")
    for entry in listed if isinstance(listed, list) else ():
        number = _coerced(entry.get("partition")) if isinstance(entry, dict) else None
        wanted = entry.get("replicas", []) if isinstance(entry, dict) else None
        replicas = [_coerced(each) for each in wanted] if isinstance(wanted, list) else [None]
        ids = tuple(each for each in replicas if each is not None)
        if number is None or len(ids) < len(replicas) or not isinstance(entry.get("topic"), str):
            return {}
        found[entry["topic"], number] = ids
    return found


def _coerced(value: object) -> int | None:
    """A number that is one, or a text of one."""
    if isinstance(value, str) and is_number(value):
        value = int(value)
    return value if is_int(value) else None


def ids_in(value: object) -> tuple[int, ...]:
    """The broker ids of a JSON list; none where it is no list of ids."""
    return tuple(value) if isinstance(value, list) and all(is_int(each) and each >= 0 for each in value) else ()
