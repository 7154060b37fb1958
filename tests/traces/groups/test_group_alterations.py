"""A real recording of groups, altered so that brokers could have written it: only a coordinator could not.

Each alteration is reported at its offset, or at the first that does not fit to it.
"""

from dataclasses import replace

import pytest

from kafkaproof.spec.group import deletion, join, membership, static, verdicts
from kafkaproof.spec.group.mutants import mistakes as wrong
from kafkaproof.spec.kafka.offset_values import GroupValue
from kafkaproof.traces.groups.replay import replay_groups
from tests.traces.groups.segment_writer import NAME, Append, altered, appends_in, at, flip, renumbered, rewritten
from tests.traces.replaying import BUNDLED

SEGMENTS = BUNDLED / "3.9.1-groups" / "consumer-offsets"
GROUP_2, GROUP_3, GROUP_4, GROUP_5, GROUP_7, EMPTY_8 = 8, 26, 151, 170, 553, 554
STATIC, STATIC_AGAIN = 183, 225


def value(offset: int) -> GroupValue:
    """The group in a record of partition 2."""
    found = []
    rewritten(appends_in(SEGMENTS / "broker-1" / "__consumer_offsets-2" / NAME), offset, lambda v: found.append(v) or v)
    return found[0]


def put(offset: int, **changes):
    """Another value in a record of a group."""
    return lambda appends: rewritten(appends, offset, lambda group: replace(group, **changes))


def dropped(*offsets: int, keep: bool = True):
    """Batches are missing; the others `keep` their offsets, or take the next ones."""

    def change(appends):
        gone = {at(appends, offset) for offset in offsets}
        left = [a for n, a in enumerate(appends) if n not in gone]
        return left if keep else renumbered(left)

    return change


def swapped(one: int, other: int, keep: bool = True):
    """Two batches in each other's place."""

    def change(appends):
        found, (a, b) = list(appends), (at(appends, one), at(appends, other))
        found[a], found[b] = appends[b], appends[a]
        return found if keep else renumbered(found)

    return change


def of_epoch(offset: int, epoch: int):
    """Another leader epoch in one batch."""

    def change(appends):
        place = at(appends, offset)
        return [*appends[:place], replace(appends[place], epoch=epoch), *appends[place + 1 :]]

    return change


def buried(before: int, key_of: int):
    """A tombstone with the key of another record, right before an offset."""

    def change(appends):
        place = at(appends, before)
        key = next(r for r in appends[at(appends, key_of)].records if r.offset == key_of).key
        record = appends[place].records[0]._replace(key=key, value=None)
        return renumbered([*appends[:place], Append(0, (record,), appends[place].epoch), *appends[place:]])

    return change


def shortened(offset: int):
    """One record less in a batch, and the offsets behind it one lower."""

    def change(appends):
        place = at(appends, offset)
        records = tuple(r for r in appends[place].records if r.offset != offset)
        return renumbered([*appends[:place], replace(appends[place], records=records), *appends[place + 1 :]])

    return change


def silent(group):
    """Its members have said nothing under the protocol."""
    return tuple(m._replace(subscription=b"") for m in group.members)


ONE = ("broker-3",)
ALL = ("broker-1", "broker-2", "broker-3")
CASES = {
    "a generation is skipped": (put(GROUP_3, generation=4), ALL, GROUP_4, "generation 4 is stored already"),
    "a former generation is stored": (put(GROUP_4, generation=2), ALL, GROUP_4, "falls from 3 to 2"),
    "the leader is no member": (put(GROUP_3, leader="nobody"), ALL, GROUP_3, "nobody, is no member"),
    "the leader changes": (put(GROUP_3, leader=value(GROUP_2).members[1].id), ALL, GROUP_3, "is still a member"),
    "nobody has said anything under the protocol": (
        put(GROUP_3, protocol="nobody's", members=silent(value(GROUP_3))),
        ALL,
        GROUP_3,
        "nobody's is not supported",
    ),
    "members without a protocol": (put(GROUP_3, protocol=None), ALL, GROUP_3, "no protocol"),
    "a former member is assigned something": (
        put(GROUP_5, members=(*value(GROUP_5).members, value(GROUP_3).members[1])),
        ALL,
        GROUP_5,
        "is a member again",
    ),
    "a member twice": (put(GROUP_5, members=value(GROUP_5).members * 2), ALL, GROUP_5, "stands in it twice"),
    "an Empty group has a leader": (put(EMPTY_8, leader="nobody"), ALL, EMPTY_8, "no members, and a leader"),
    "two static members in place of one": (
        put(STATIC_AGAIN, members=(*value(STATIC).members, *value(STATIC_AGAIN).members[1:])),
        ALL,
        STATIC_AGAIN,
        "generation 1 is stored already",
    ),
    "a static member takes its assignment from another": (
        put(STATIC_AGAIN, members=tuple(m._replace(assignment=b"") for m in value(STATIC_AGAIN).members)),
        ALL,
        STATIC_AGAIN,
        "generation 1 is stored already",
    ),
    "a commit is missing on one replica": (dropped(98), ONE, 98, "broker-1 has it"),
    "a commit is missing everywhere": (dropped(98), ALL, 98, "no replica has it"),
    "a commit was lost, and others have its offset": (dropped(98, keep=False), ONE, 98, "broker-3 has another batch"),
    "the record of a group without members is lost": (
        dropped(EMPTY_8, keep=False),
        ALL,
        560,
        "members of generation 7 subscribe",
    ),
    "batches in another order": (swapped(98, 103), ALL, 98, "out of order"),
    "records in another order": (swapped(GROUP_7, EMPTY_8, keep=False), ALL, EMPTY_8, "is a member again"),
    "the leader epoch falls": (of_epoch(198, -7), ALL, 198, "leader epoch falls"),
    "another leader epoch on one replica": (of_epoch(GROUP_4, 1), ("broker-2",), GROUP_4, "has another batch"),
    "a running group dies": (buried(98, GROUP_2), ALL, 98, "3 members in generation 3"),
    "an offset of a running group is deleted": (buried(98, 2), ALL, 98, "only its deletion takes it"),
    "an offset is deleted that is not committed": (buried(9, 36), ALL, 9, "none is committed"),
}


@pytest.mark.parametrize("name", CASES)
def test_an_alteration_is_reported(tmp_path, name):
    change, brokers, offset, text = CASES[name]
    groups = replay_groups(altered(SEGMENTS, tmp_path / "altered", 2, change, brokers))
    assert groups.verdict == "diverges"
    first = groups.divergences[0]
    assert (first.partition, first.offset) == (2, offset), first
    assert text in first.reason
    assert first.segment.name == NAME and first.segment.parent.name == "__consumer_offsets-2"
    assert first.segment.parents[1].name in brokers


def test_the_whole_recording_conforms():
    groups = replay_groups(SEGMENTS)
    assert (groups.verdict, groups.divergences, groups.problems, groups.damage) == ("conforms", [], [], [])
    assert not groups.properties.violated()
    assert all(each.asked for each in groups.properties.found.values())


def test_an_unaltered_copy_is_written_byte_by_byte(tmp_path):
    copy = altered(SEGMENTS, tmp_path / "copy", 2, lambda appends: appends)
    for file in SEGMENTS.glob("*/__consumer_offsets-2/*.log"):
        assert (copy / file.relative_to(SEGMENTS)).read_bytes() == file.read_bytes()


def test_a_flipped_byte_is_bad_input(tmp_path):
    copy = altered(SEGMENTS, tmp_path / "copy", 2, lambda appends: appends)
    flip(copy / "broker-2" / "__consumer_offsets-2" / NAME, GROUP_4)
    groups = replay_groups(copy)
    assert groups.verdict == "bad-input" and not groups.divergences
    assert "broker-2" in groups.damage[0].reason and f"offset {GROUP_4}," in groups.damage[0].reason
    assert "checksum" in groups.damage[0].reason and groups.damage[0].offset == GROUP_4


def test_a_torn_tail_is_told(tmp_path):
    copy = altered(SEGMENTS, tmp_path / "copy", 2, lambda appends: appends)
    file = copy / "broker-2" / "__consumer_offsets-2" / NAME
    file.write_bytes(file.read_bytes()[:-3])
    groups = replay_groups(copy)
    last = appends_in(SEGMENTS / "broker-2" / "__consumer_offsets-2" / NAME)[-1].base
    assert groups.verdict == "conforms"
    assert f"of offset {last}, is not whole" in groups.problems[0] and str(file) in groups.problems[0]


def test_a_tail_that_is_not_truncated_yet_is_left_out(tmp_path):
    """The last batches of a former leader, which its successor has not got."""

    def stale(appends):
        return [
            *appends[: at(appends, 563)],
            replace(
                appends[at(appends, 100)],
                base=563,
                epoch=1,
                records=tuple(r._replace(offset=563 + n) for n, r in enumerate(appends[at(appends, 100)].records)),
            ),
        ]

    whole = appends_in(SEGMENTS / "broker-3" / "__consumer_offsets-2" / NAME)
    assert whole[at(whole, 563)].epoch > whole[0].epoch
    copy = altered(
        SEGMENTS,
        tmp_path / "copy",
        2,
        lambda a: [replace(each, epoch=each.epoch if each.base >= 563 else 0) for each in a],
    )
    file = copy / "broker-3" / "__consumer_offsets-2" / NAME
    write = b"".join(a.encoded() for a in stale(appends_in(file)))
    file.write_bytes(write)
    groups = replay_groups(copy)
    assert groups.verdict == "conforms", groups.divergences
    assert "not truncated yet" in groups.problems[0] and "offset 563" in groups.problems[0]


MUTANTS = {
    "generation-from-zero": ({join.begin_generation: wrong.generation_from_zero}, GROUP_2),
    "empty-is-no-generation": ({join.begin_generation: wrong.same_generation_when_empty}, None),
    "leader-not-replaced": ({membership.lose_member: wrong.keep_leader}, None),
    "both-ids-kept": ({static.forget_former: wrong.keep_both}, None),
    "expired-at-once": ({deletion.tombstones_of: lambda group, dies: 0}, None),
    "nobody-joins": ({verdicts.first_join_verdict: lambda broker, instance, may_be_told, first, second: 1}, None),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_in_the_specification_is_seen(name):
    replacements, _ = MUTANTS[name]
    groups = replay_groups(SEGMENTS, replacements=replacements)
    assert groups.verdict == "diverges", name
