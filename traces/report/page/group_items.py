"""The items of consumer groups: what was stored of each, from the segments of the offsets partitions."""

from collections.abc import Iterator

from kafkaproof.checker.basics.words import times as often
from kafkaproof.spec.kafka.offset_values import GroupValue, OffsetValue, read_value
from kafkaproof.traces.groups.replay import CONFORMS, DIVERGES, UNDECIDED, Groups, kind_of
from kafkaproof.traces.groups.replicas import Entry
from kafkaproof.traces.reading.times import Times
from kafkaproof.traces.report.page.items import Item, Lane
from kafkaproof.traces.report.page.summary import Line

GROUPS = "Groups"


def group_items(groups: Groups, times: Times) -> Iterator[Item]:
    """Each record of a group that is no offset, in the group's lane; and where something diverges.

    Its time is a broker's, and held to that of the log of ZooKeeper, which is another's clock.
    """
    for log in groups.logs:
        found: dict[int, int] = {}
        for entry in log.entries:
            time = found[entry.record.offset] = min(max(entry.record.time, times.began), times.ended)
            if (stored := _stored(entry)) is not None:
                group, value = stored
                yield Item(
                    Lane(GROUPS, group),
                    "group",
                    time,
                    f"{_words(value)}; offset {entry.record.offset} of {entry.batch.segment}",
                )
        for each in (each for each in groups.divergences if each.partition == log.partition):
            where = f"offset {each.offset} of {each.segment}"
            yield Item(
                Lane(GROUPS, each.group or f"__consumer_offsets-{each.partition}"),
                "divergence",
                found.get(each.offset, times.ended),
                f"diverges at {where}: {each.reason}",
            )


def _stored(entry: Entry) -> tuple[str, GroupValue | None] | None:
    """The group of a record and its value, None where the record is an offset, or none that can be read."""
    key = entry.key
    if key is None or key.place is not None:
        return None
    try:
        value = read_value(key, entry.record.value)
    except ValueError:
        return None
    return None if isinstance(value, OffsetValue) else (key.group, value)


def _words(value: GroupValue | None) -> str:
    if value is None:
        return "the group is dead"
    members = ", ".join(member.id for member in value.members[:5])
    more = f" and {len(value.members) - 5:,} more" if len(value.members) > 5 else ""
    told = f"generation {value.generation}, {kind_of(value)}: {len(value.members):,} members"
    return f"{told}: {members}{more}" if members else told


def group_lines(groups: Groups) -> Iterator[Line]:
    """What was found of groups, for the list below the verdict."""
    for each in groups.divergences:
        yield Line(f"groups diverge at offset {each.offset} of {each.segment}: {each.reason}", 3)
    for name, found in groups.properties.violated().items():
        segment, offset, group = found.first or ("", 0, "")
        yield Line(f"group {group} violates {name} {often(found.violated)}, first at offset {offset} of {segment}", 3)
    weight = 0 if groups.verdict == CONFORMS else 2
    yield Line(f"groups followed: {len(groups.followed):,}; they {_told(groups)}", weight)


def group_sentence(groups: Groups) -> tuple[str, int]:
    """What the verdict says of groups, and how grave it is."""
    violated = groups.properties.violated()
    also = f", and violate {', '.join(violated)}" if violated else ""
    grave = 3 if violated or groups.verdict == DIVERGES else 0 if groups.verdict == CONFORMS else 2
    return f" Its groups {_told(groups)}{also}.", grave


def _told(groups: Groups) -> str:
    return {CONFORMS: "conform", DIVERGES: "diverge", UNDECIDED: "are undecided"}.get(
        groups.verdict, "cannot be read to the end"
    )
