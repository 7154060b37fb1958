"""The coordinators of a recording are behaviours of *group*; altered lines of groups are told, each where it is."""

from base64 import b64decode, b64encode

import pytest

from kafkaproof.spec.errors import UserError
from tests.traces.processes.recordings import FAILOVER, GROUP, Copy, replayed
from tests.traces.processes.recordings import steps as every_step

FIRST, SECOND, THIRD = "1.1", "0.1", "2.1"
"""The processes whose coordinators follow each other; the first is killed."""


@pytest.fixture
def copy(tmp_path):
    """A copy of the recording of two coordinators."""
    return Copy(GROUP, tmp_path / "copy")


def lines(copy, process, step="", group="readers"):
    """The lines of a process that are of steps of the group, by the name that they begin with."""
    return [row for row in copy.rows(process) if row.get("group") == group and row.get("step", "").startswith(step)]


def alter(copy, process, wanted, change):
    """Change the first line whose step begins so; its number."""
    rows = copy.rows(process)
    row = next(row for row in rows if row.get("group") == "readers" and row.get("step", "").startswith(wanted))
    change(row)
    copy.write(process, rows)
    return row["g"]


def renumbered(rows):
    """The lines with the numbers of groups as they would be."""
    numbers = (number for number in range(1, len(rows) + 1))
    return [row | {"g": next(numbers)} if "g" in row else row for row in rows]


def diverges(copy, process, n):
    """The reason of the divergence, which is at a line of the group."""
    result = replayed(copy.directory)
    assert result.divergence and result.divergence[0].startswith(f"broker {process}, group 'readers', line {n},"), (
        result.divergence
    )
    return result.divergence[1]


def test_every_step_of_a_group_is_one_of_the_specification(kafkaproof):
    result = replayed(GROUP)
    recorded = [row for _, row in every_step(GROUP) if "group" in row]
    assert result.divergence is None and not result.violations
    assert sum(result.groups.values()) == len(recorded) > 60 and result.groups["readers"] > 40
    names = {"sync.group_stored", "offsets.offset_stored", "loading.load", "loading.unload", "membership.leave"}
    assert names <= result.counts.keys()
    answer = kafkaproof("replay", "--json", GROUP)
    assert answer.json["groups"] == dict(result.groups)
    assert answer.json["steps"] == sum(answer.json["transitions"].values()) == result.steps
    assert "group 'readers': 48" in kafkaproof("replay", GROUP).out
    assert not replayed(FAILOVER).groups


@pytest.mark.parametrize(
    "process, step, answer, other",
    [
        (FIRST, "sync.sync(b=1, m=0", "PARKED", "STORED"),
        (SECOND, "offsets.commit", "STORED", "ILLEGAL_GENERATION"),
        (SECOND, "membership.heartbeat(b=0, m=0) -> REB", "REBALANCE_IN_PROGRESS", "NONE"),
        (FIRST, "join.first_join", "MEMBER_ID_REQUIRED", "PARKED"),
    ],
)
def test_another_answer(copy, process, step, answer, other):
    n = alter(copy, process, step, lambda row: row.update(step=row["step"].replace(answer, other)))
    assert f"the answer was {other}; in the specification it is {answer}" in diverges(copy, process, n)


@pytest.mark.parametrize(
    "process, step, field, value",
    [
        (SECOND, "join.complete_join", "generation", 3),
        (SECOND, "join.complete_join", "protocol", "roundrobin"),
        (FIRST, "join.join_timeout", "members", ["x"]),
        (FIRST, "join.join_timeout", "leader", "x"),
        (SECOND, "sync.group_stored", "assignment", 7),
        (SECOND, "offsets.fetch", "offsets", [["events", 0, 9]]),
    ],
)
def test_another_thing_that_a_member_is_told(copy, process, step, field, value):
    n = alter(copy, process, step, lambda row: row["answers"][0][2].update({field: value}))
    assert f"was told {field}" in diverges(copy, process, n)


@pytest.mark.parametrize(
    "change",
    [
        lambda answers: answers[:1],
        lambda answers: [*answers, [3, "NONE", {}]],
        lambda answers: [[m, "REBALANCE_IN_PROGRESS", content] for m, _, content in answers],
    ],
)
def test_answers_that_are_not_given_or_given_to_others(copy, change):
    n = alter(copy, FIRST, "sync.group_stored", lambda row: row.update(answers=change(row["answers"])))
    assert "it answered" in diverges(copy, FIRST, n)


def test_another_hash(copy):
    n = alter(copy, SECOND, "offsets.offset_stored", lambda row: row.update(state="0" * 16))
    assert "another hash" in diverges(copy, SECOND, n)


def test_a_sync_of_a_former_generation_that_is_accepted(copy):
    n = alter(copy, SECOND, "sync.sync", lambda row: row["asked"].update(generation=1))
    assert "in the specification it is ILLEGAL_GENERATION" in diverges(copy, SECOND, n)


def test_a_sync_of_who_has_left_that_is_accepted(copy):
    left = lines(copy, SECOND, "membership.leave")[0]["asked"]
    n = alter(copy, SECOND, "sync.sync", lambda row: row["asked"].update(name=left["name"]))
    assert "has the number 32, not 1" in diverges(copy, SECOND, n)
    n = alter(copy, SECOND, "sync.sync", lambda row: row["asked"].update(id=32))
    assert "in the specification it is UNKNOWN_MEMBER_ID" in diverges(copy, SECOND, n)


def test_a_commit_of_another_offset_than_was_asked_for(copy):
    n = alter(copy, SECOND, "offsets.commit", lambda row: row["asked"].update(offsets=[["events", 0, 99]]))
    assert "other offsets than were asked for" in diverges(copy, SECOND, n)


@pytest.mark.parametrize(
    "field, value, reason",
    [("place", 1, "is not at place 1"), ("id", 7, "in the log went"), ("place", -1, "its place is -1")],
)
def test_an_append_at_another_place_or_of_another_batch(copy, field, value, reason):
    n = alter(copy, SECOND, "sync.sync", lambda row: row["append"].update({field: value}))
    assert reason in diverges(copy, SECOND, n)


def test_an_append_that_no_step_makes(copy):
    n = alter(copy, SECOND, "membership.leave", lambda row: row.update(append={"place": 5, "id": 1}))
    assert "it appends none" in diverges(copy, SECOND, n)


def test_a_batch_that_says_something_else(copy):
    rows = copy.rows(FIRST)
    number, row = next((i, row) for i, row in enumerate(rows, 1) if "offers" in row)
    batch = b64decode(row["offers"]["batch"])
    row["offers"]["batch"] = b64encode(batch.replace(b"range", b"other")).decode()
    copy.write(FIRST, rows)
    with pytest.raises(UserError, match=f"broker-1.1.jsonl: line {number} cannot be read: its checksum is not"):
        replayed(copy.directory)


def test_a_batch_whose_content_nobody_told(copy):
    rows = copy.rows(FIRST)
    rows.remove(next(row for row in rows if "offers" in row))
    copy.write(FIRST, rows)
    n = lines(copy, FIRST, "sync.sync(b=1, m=1")[0]["g"]
    assert "was never recorded" in diverges(copy, FIRST, n)


@pytest.mark.parametrize("step", ["sync.group_stored", "join.join(", "offsets.fetch"])
def test_a_line_that_is_left_out_is_missed(copy, step):
    n, rows = lines(copy, FIRST, step)[0]["g"], copy.rows(FIRST)
    copy.write(FIRST, [row for row in rows if row.get("g") != n])
    with pytest.raises(UserError, match=f"line {n} of groups is missing"):
        replayed(copy.directory)


@pytest.mark.parametrize(
    "process, step, reason",
    [
        (FIRST, "sync.group_stored", "client 0 waits for another answer"),
        (FIRST, "join.join(b=1, m=1", "it answered"),
        (SECOND, "membership.leave", "the answer was REBALANCE_IN_PROGRESS; in the specification it is NONE"),
    ],
)
def test_a_step_that_is_left_out_shows_at_the_next(copy, process, step, reason):
    n, rows = lines(copy, process, step)[0]["g"], copy.rows(process)
    copy.write(process, renumbered([row for row in rows if row.get("g") != n]))
    assert reason in diverges(copy, process, n)


def test_an_append_whose_step_is_left_out(copy):
    n, rows = lines(copy, FIRST, "offsets.commit")[0]["g"], copy.rows(FIRST)
    copy.write(FIRST, renumbered([row for row in rows if row.get("g") != n]))
    where, reason = replayed(copy.directory).divergence
    assert "data_plane.produce(b=1, p=1, acks=1) -> OK" in where and "no step of a group tells" in reason


def test_two_steps_that_are_swapped(copy):
    rows = copy.rows(SECOND)
    i = next(i for i, row in enumerate(rows) if row.get("step", "").startswith("join.join("))
    rows[i], rows[i + 1] = rows[i + 1], rows[i]
    copy.write(SECOND, renumbered(rows))
    assert "it is not enabled" in diverges(copy, SECOND, rows[i + 1]["g"])


@pytest.mark.parametrize("process, left_out", [(THIRD, 2), (SECOND, 1)])
def test_a_load_that_misses_a_record(copy, process, left_out):
    rows, reads = copy.rows(process), lines(copy, process, "loading.read")
    gone = reads[-left_out]["g"]
    copy.write(process, renumbered([row for row in rows if row.get("g") != gone]))
    reason = diverges(copy, process, gone)
    assert "another hash" in reason or "it is not enabled" in reason


def test_a_commit_that_is_acknowledged_before_it_is_replicated(copy):
    rows = copy.rows(SECOND)
    i = next(i for i, row in enumerate(rows) if row.get("step", "").startswith("offsets.commit"))
    stored = next(row for row in rows[i:] if row.get("step", "").startswith("offsets.offset_stored"))
    rows.remove(stored)
    rows.insert(i + 1, stored)
    copy.write(SECOND, renumbered(rows))
    assert "it is not enabled" in diverges(copy, SECOND, stored["g"])


def test_a_coordinator_that_takes_over_though_another_leads(copy):
    rows = copy.rows(THIRD)
    unloads = next(row for row in rows if row.get("step", "").startswith("loading.unload"))
    unloads["step"] = unloads["step"].replace("unload", "take_over")
    copy.write(THIRD, rows)
    where, reason = replayed(copy.directory).divergence
    assert where.startswith(f"broker {THIRD}, group '', line 1,") and "it is not enabled" in reason


def test_groups_of_a_former_format_are_refused(copy):
    rows = copy.rows(FIRST)
    rows[0]["format"] = 2
    copy.write(FIRST, rows)
    with pytest.raises(UserError, match="it is of a group, and the recording of format 2: record it again"):
        replayed(copy.directory)


@pytest.mark.parametrize(
    "change",
    [{"step": "faults.crash(b=1)"}, {"answers": [[0]]}, {"asked": {"m": 0}}, {"append": {"place": "x", "id": 1}}],
)
def test_a_damaged_line_of_a_group_is_named(copy, change):
    rows = copy.rows(FIRST)
    number = next(i for i, row in enumerate(rows) if row.get("step", "").startswith("sync.sync"))
    rows[number].update(change)
    copy.write(FIRST, rows)
    with pytest.raises(UserError, match=f"broker-1.1.jsonl: line {number + 1} cannot be read"):
        replayed(copy.directory)
