"""Groups made up for what recordings do not have: other versions, transactions, compaction, lost generations, size."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaproof.spec.group import deletion
from kafkaproof.spec.group.mutants import mistakes as group_mistakes
from kafkaproof.traces.groups.replay import replay_groups
from tests.traces.groups.segment_writer import Writer, group, member

A, B, C = member("a", assigned=(0,)), member("b", assigned=(1,)), member("c")
HOUR = 3_600_000


def only(groups):
    """The one group that was followed."""
    (followed,) = groups.followed
    return followed


def life(writer: Writer, version: int, commits: int) -> None:
    """A group from its first member to its death, with values of these versions."""
    writer.group(group(1, A, version=version))
    writer.commit(0, 1, version=commits)
    writer.group(group(2, A, B, version=version))
    writer.commit(0, version=commits)
    writer.group(group(3, B, version=version))
    writer.group(group(4, version=version))
    writer.time += HOUR
    writer.bury(0, 1, dies=True)


@pytest.mark.parametrize(
    "magic, version, commits, variant",
    [
        (0, 0, 0, "unlocked"),
        (1, 0, 1, "unlocked"),
        (1, 1, 1, "unlocked"),
        (2, 1, 1, "locked"),
        (2, 2, 2, "current"),
        (2, 3, 3, "current"),
        (2, 4, 4, "current"),
    ],
)
@pytest.mark.parametrize("codec", [0, 1])
def test_every_version(tmp_path, magic, version, commits, variant, codec):
    writer = Writer(magic=magic, codec=codec)
    life(writer, version, commits)
    groups = replay_groups(writer.write(tmp_path))
    assert (groups.verdict, groups.machine.variant) == ("conforms", variant), groups.divergences
    assert only(groups).group.counts["deaths"] == 1 and not only(groups).group.offsets


def test_an_offset_of_version_1_expires_when_it_says(tmp_path):
    writer = Writer()
    writer.group(group(1, A, version=1))
    writer.commit(0, version=1)
    writer.time += 59_000
    writer.bury(0)
    groups = replay_groups(writer.write(tmp_path / "early"))
    assert groups.verdict == "conforms", "the topic may have been deleted"
    assert only(groups).group.counts["topic deleted"] == 1
    writer.appends[-1] = replace(
        writer.appends[-1], records=tuple(r._replace(time=r.time + 2_000) for r in writer.appends[-1].records)
    )
    groups = replay_groups(writer.write(tmp_path / "late"))
    assert only(groups).group.counts["expired while subscribed"] == 1, "up to 2.0 offsets of running groups do"
    assert groups.verdict == "conforms" and not groups.properties.violated()


def test_an_offset_of_a_running_group_expires_by_mistake_only(tmp_path):
    writer = Writer()
    writer.group(group(1, A))
    writer.commit(0, 1)
    writer.time += HOUR
    early = writer.bury(0)
    writer.write(tmp_path)
    assert [d.offset for d in replay_groups(tmp_path).divergences] == [early]
    mistaken = replay_groups(tmp_path, replacements={deletion.is_expired: group_mistakes.expire_in_stable})
    assert mistaken.verdict == "conforms" and mistaken.properties.violated()["G16"].first[1] == early


@pytest.mark.parametrize("commits", [True, False])
def test_an_offset_of_a_transaction_counts_when_it_is_committed(tmp_path, commits):
    writer = Writer()
    writer.commit(0, producer=9)
    writer.mark(9, commits)
    writer.time += HOUR
    writer.bury(0)
    groups = replay_groups(writer.write(tmp_path))
    assert groups.verdict == ("conforms" if commits else "diverges")
    assert groups.kinds["markers"] == 1
    if not commits:
        assert groups.divergences[0].offset == 2 and "none is committed" in groups.divergences[0].reason


def test_a_group_dies_by_request_alone_while_a_transaction_is_open(tmp_path):
    writer = Writer()
    writer.group(group(1, A))
    writer.group(group(2))
    writer.commit(0, producer=9)
    writer.time += HOUR
    writer.bury(dies=True)
    found = replay_groups(writer.write(tmp_path))
    assert found.verdict == "conforms"
    assert only(found).group.counts["group deleted by request"] == 1, "by itself it does not"


def test_generations_that_left_no_record(tmp_path):
    writer = Writer()
    writer.group(group(3, A))
    writer.group(group(7, A, B))
    writer.group(group(10))
    writer.group(group(12))
    writer.group(group(14, C))
    found = only(replay_groups(writer.write(tmp_path)))
    assert found.verdict == "conforms", found.divergence
    assert found.group.counts["unstored"] == 2 + 3 + 2 + 1 + 1


def test_more_generations_than_are_tried(tmp_path):
    writer = Writer()
    writer.group(group(1, A))
    writer.group(group(60, A))
    writer.group(group(61, A, B))
    writer.group(group(61, A, B, C))
    found = replay_groups(writer.write(tmp_path))
    assert only(found).undecided.startswith("offset 1: 58 generations left no record")
    assert found.divergences[0].offset == 3 and found.verdict == "diverges", "what follows is still followed"


def test_static_members(tmp_path):
    one, two = member("one-1", "one", assigned=(0,)), member("two-1", "two")
    again, moved = one._replace(id="one-2"), two._replace(id="two-2")
    writer = Writer()
    writer.group(group(1, one, two))
    writer.group(group(1, again, two))
    writer.group(group(2, two, moved._replace(instance="three"), leader="two-1"))
    writer.group(group(2, two._replace(id="two-3"), moved._replace(instance="three")))
    writer.group(group(3, moved._replace(instance="three"), leader="two-2"))
    found = only(replay_groups(writer.write(tmp_path)))
    assert found.verdict == "conforms", found.divergence
    assert found.group.counts["static member replaced"] == 2


def test_a_static_member_that_does_not_come_back_in_time_does_not_lead(tmp_path):
    writer = Writer()
    writer.group(group(1, member("s-1", "s"), B))
    writer.group(group(2, member("s-1", "s"), B, leader="b"))
    assert only(replay_groups(writer.write(tmp_path / "static"))).verdict == "conforms"
    writer = Writer()
    writer.group(group(1, A, B))
    writer.group(group(2, A, B, leader="b"))
    assert only(replay_groups(writer.write(tmp_path / "dynamic"))).verdict == "diverges"


def test_another_protocol(tmp_path):
    writer = Writer()
    writer.group(group(1, A, B, protocol="range"))
    writer.group(group(2, A, B, protocol="sticky"))
    writer.group(group(3, C, protocol="range"))
    assert only(replay_groups(writer.write(tmp_path))).verdict == "conforms"


@pytest.mark.parametrize("magic, version, verdict", [(1, 1, "conforms"), (2, 1, "diverges"), (2, 3, "diverges")])
def test_a_new_coordinator_may_have_missed_the_last_record_up_to_0_10_2(tmp_path, magic, version, verdict):
    writer = Writer(magic=magic)
    writer.group(group(1, A, version=version))
    writer.group(group(2, A, B, version=version))
    writer.epoch = 1
    writer.group(group(2, A, C, version=version))
    assert only(replay_groups(writer.write(tmp_path))).verdict == verdict


def test_a_compacted_log(tmp_path):
    """What is superseded is gone from a closed segment, and stays gone for a replica that was copied from there."""
    writer = Writer()
    for generation in range(1, 6):
        writer.group(group(generation, *([A, B, C][: generation % 3 + 1])))
        writer.commit(0, 1)
    whole, split = list(writer.appends), writer.offset
    writer.group(group(6, A))
    writer.appends = whole[8:] + writer.appends[len(whole) :]
    copied = Writer()
    copied.appends, copied.offset = writer.appends[1:], writer.offset
    writer.write(tmp_path, "broker-1", split=(split,))
    copied.write(tmp_path, "broker-2")
    found = replay_groups(tmp_path)
    assert found.verdict == "conforms", found.divergences
    del writer.appends[1]
    writer.write(tmp_path, "broker-1", split=(split,))
    assert replay_groups(tmp_path).verdict == "conforms", "the cleaner may have taken more"
    del copied.appends[1]
    copied.appends.insert(0, whole[0])
    copied.write(tmp_path / "alone", "broker-2")
    found = replay_groups(tmp_path / "alone")
    assert "which is not compacted; no replica has it" in found.divergences[0].reason


def test_a_log_that_begins_later(tmp_path):
    writer = Writer()
    writer.offset = 1_000
    writer.group(group(40, A, B))
    writer.commit(3)
    writer.bury(4)
    writer.group(group(41, A, leader="b"))
    found = only(replay_groups(writer.write(tmp_path)))
    assert found.group.counts["history unknown"] == 1
    assert found.divergence.offset == 1_003, "what is known again is asked again"


def test_groups_of_a_hundred_members_and_of_more(tmp_path):
    members = [member(f"m{n}") for n in range(101)]
    writer = Writer()
    writer.group(group(1, *members[:30]))
    writer.group(group(2, *members[2:32], leader="m5"))
    writer.group(group(3, *members))
    found = only(replay_groups(writer.write(tmp_path)))
    assert found.undecided == "offset 2: more than 100 members" and not found.divergence


def test_records_of_other_kinds_and_what_is_no_record(tmp_path):
    writer = Writer()
    life(writer, 3, 3)
    first, kept = writer.appends[1].records
    writer.appends[1] = replace(writer.appends[1], records=(first, kept._replace(key=b"\0\7new")))
    found = replay_groups(writer.write(tmp_path / "other"))
    assert found.kinds["of other kinds"] == 1 and "none is committed" in found.divergences[0].reason
    writer.appends[1] = replace(writer.appends[1], records=(first, kept._replace(value=b"\0\3x")))
    found = replay_groups(writer.write(tmp_path / "broken"))
    assert found.verdict == "bad-input" and "offset 2 cannot be read" in found.damage[0].reason


STEPS = st.lists(st.sampled_from(["join", "leave", "commit", "fail over", "again", "unstored"]), max_size=25)


def replayed(writer):
    """Replay what was written so far."""
    with TemporaryDirectory() as directory:
        return replay_groups(writer.write(Path(directory)))


@settings(max_examples=30, deadline=None)
@given(STEPS, st.randoms(use_true_random=False))
def test_every_life_that_a_coordinator_may_give_conforms_and_a_leader_from_outside_does_not(steps, random):
    writer, members, generation, born = Writer(), [], 0, 0
    for step in steps:
        if step == "commit":
            writer.commit(random.randrange(3))
        elif step == "fail over":
            writer.epoch += 1
        elif step == "unstored":
            generation += 1
        elif step == "join" or step == "leave" and members or step == "again" and members:
            if step == "join":
                members.append(member(f"m{born}"))
                born += 1
            elif step == "leave":
                members.pop(random.randrange(len(members)))
            generation += 1
            writer.group(group(generation, *members))
    if not writer.appends:
        return
    found = only(replayed(writer))
    assert found.verdict == "conforms", found.divergence
    if members:
        wrong = writer.group(group(generation + 1, *members, leader="nobody"))
        found = replayed(writer)
        assert [d.offset for d in found.divergences] == [wrong]
