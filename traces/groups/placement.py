"""Whether groups are in the partitions that their names hash to, where a log of ZooKeeper tells how many there are."""

from kafkaproof.spec.group.placement import partition_for
from kafkaproof.traces.groups.offsets_topic import Known
from kafkaproof.traces.groups.replicas import Divergence, Log


def misplaced(log: Log, known: Known | None) -> list[Divergence]:
    """The groups of a partition that belong into another, each with its first record."""
    found: list[Divergence] = []
    seen: set[str] = set()
    if known is None or not known.sizes:
        return found
    for entry in log.entries:
        group = entry.key and entry.key.group
        if group is None or group in seen:
            continue
        seen.add(group)
        places = {size: partition_for(group, size) for size in sorted(known.sizes)}
        if log.partition not in places.values():
            told = " or ".join(f"{place} of {size}" for size, place in places.items())
            found.append(
                Divergence(
                    entry.batch.segment,
                    log.partition,
                    entry.record.offset,
                    f"a group of this name belongs to partition {told}, and here is {log.partition}",
                    group,
                )
            )
    return found
