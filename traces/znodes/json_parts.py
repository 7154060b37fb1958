"""The JSON that Kafka keeps in znodes, taken apart without trusting it."""

import json
from functools import lru_cache

LONGEST = 10


@lru_cache(maxsize=100_000)
def json_in(data: bytes | None) -> dict:
    """The JSON object that a znode holds; an empty one for anything else."""
    try:
        found = json.loads(data or b"")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_number(text: str) -> bool:
    """Whether a text is a decimal number as Kafka has them: of 32 bits, so that it has ten digits at most."""
    return text.isdecimal() and len(text) <= LONGEST


def part_of(found: dict, name: str) -> dict:
    """The object of that name inside a JSON object; an empty one where there is none."""
    part = found.get(name)
    return part if isinstance(part, dict) else {}


@lru_cache(maxsize=1_000)
def entries_in(data: bytes | None) -> dict[tuple[str, int], tuple[int, ...]]:
    """The partitions that an admin znode lists, each with the replicas that it wants, if it wants any."""
    listed = json_in(data).get("partitions")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return {(str(entry.get("topic")), entry["partition"]): ids_in(entry.get("replicas"))
            for entry in entries if isinstance(entry.get("partition"), int)}


def ids_in(value: object) -> tuple[int, ...]:
    """The broker ids of a JSON list; none where it is no list of numbers."""
    return tuple(value) if isinstance(value, list) and all(isinstance(each, int) for each in value) else ()
