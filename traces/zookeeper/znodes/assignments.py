"""The assignment of a partition, as topic znodes of every version have it."""

from functools import lru_cache
from typing import NamedTuple

from kafkaproof.traces.zookeeper.znodes.json_parts import ids_in, json_in, part_of

PARTS = ("partitions", "adding_replicas", "removing_replicas")


class Assignment(NamedTuple):
    """A partition in the topic znode: its replicas, and (2.4+) those being added and removed."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@lru_cache(maxsize=100_000)
def assignment_in(data: bytes | None, number: int) -> Assignment | None:
    """A partition's assignment in a topic znode of any version; None if it has none."""
    parts = (part_of(json_in(data), name) for name in PARTS)
    replicas, adding, removing = (ids_in(part.get(str(number))) for part in parts)
    return Assignment(replicas, adding, removing) if replicas else None


def target_of(assignment: Assignment) -> tuple[int, ...]:
    """The replicas that remain when what is being removed is gone."""
    if not assignment.removing:
        return assignment.replicas
    return tuple(replica for replica in assignment.replicas if replica not in assignment.removing)


def origin_of(assignment: Assignment) -> tuple[int, ...]:
    """The replicas that there were before what is being added."""
    return tuple(replica for replica in assignment.replicas if replica not in assignment.adding)
