"""Whether groups are in the partitions that their names hash to, where a log of ZooKeeper tells how many there are."""

from spec.group.placement import partition_for
from spec.offset_values import read_key
from traces.groups.replicas import Divergence, Entry, Log
from traces.groups.zookeeper import Known


def misplaced(log: Log, known: Known | None) -> dict[str, Divergence]:
    """The groups of a partition that belong into another, each with its first record."""
    found: dict[str, Divergence] = {}
    seen: set[str] = set()
    for entry in log.entries if known and known.sizes else ():
        group = _group_of(entry)
        if group is None or group in seen:
            continue
        seen.add(group)
        places = {size: partition_for(group, size) for size in sorted(known.sizes)}
        if log.partition not in places.values():
            told = " or ".join(f"{place} of {size}" for size, place in places.items())
            found[group] = Divergence(entry.batch.segment, log.partition, entry.record.offset,
                                      f"a group of this name belongs to partition {told}, and here is {log.partition}",
                                      group)
    return found


def _group_of(entry: Entry) -> str | None:
    """The group of a record, None where it has none or cannot be read."""
    if entry.batch.commits is not None:
        return None
    try:
        key = read_key(entry.record.key or b"")
    except ValueError:
        return None
    return key and key.group
