"""Real logs altered so that ZooKeeper could have written them are caught where Kafka would not have."""

from dataclasses import replace
from pathlib import Path

import pytest

from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.transactions import Check, Create, Delete, Failure
from tests.traces.log_writer import write_log
from tests.traces.replaying import FIVE_FENCED, FIVE_LEGACY, LEGACY, REASSIGN, altered, read, run_json, settled
from tests.traces.tampering import consistent, dropped, moved, rewritten, swapped


def with_part(part: str, number: str, value: list | None):
    """A change of one partition in a topic znode."""

    def change(content: dict) -> None:
        content[part].pop(number, None)
        if value is not None:
            content[part][number] = value

    return change


def with_assignment(number: str, replicas: list | None):
    return with_part("partitions", number, replicas)


def with_list(*entries: tuple):
    """A change of what /admin/reassign_partitions lists."""

    def change(content: dict) -> None:
        content["partitions"] = [{"topic": t, "partition": p, "replicas": r} for t, p, r in entries]

    return change


def naming(topic: str, number: int):
    """A notification that names one partition more."""
    return lambda content: content["partitions"].append({"topic": topic, "partition": number})


UNION, BUMP, JOINED, MOVED, SHRUNK, TARGET = 0x60, 0x61, 0x66, 0x67, 0x68, 0x69
"""The reassignment of r2-1 in 3.9.1-reassign, record by record."""
ALTERATIONS = {
    "lost: the leader epoch is not raised after the assignment": (
        REASSIGN,
        lambda log: dropped(log, BUMP),
        BUMP,
        "tell_replicas: state of r2-1 leader 2, ISR [2, 3]",
    ),
    "lost: the leader does not move": (REASSIGN, lambda log: dropped(log, MOVED), MOVED, "no event writes this"),
    "lost: what is removed stays in the ISR": (
        REASSIGN,
        lambda log: dropped(log, SHRUNK),
        SHRUNK,
        "allowed there: write_removal",
    ),
    "lost: what is removed stays in the ISR, where a controller that ruled before has removed others": (
        REASSIGN,
        lambda log: dropped(log, 0xFC),
        0xFC,
        "allowed there: write_removal",
    ),
    "lost: the target is not written": (
        REASSIGN,
        lambda log: dropped(log, TARGET),
        TARGET,
        "allowed there: write_target: assignment of r2-1 [3, 1]",
    ),
    "lost: a target is not written, and only requests of others fail before the controller goes on": (
        REASSIGN,
        lambda log: dropped(log, 0xE5),
        0xF2,
        "allowed there: write_target: assignment of r1-2 [2, 1]",
    ),
    "no state is written in the middle of a reassignment": (
        REASSIGN,
        lambda log: rewritten(log, BUMP, dict.clear),
        BUMP,
        "no Kafka writes this: it has no version",
    ),
    "the epoch is raised before the assignment": (
        REASSIGN,
        lambda log: swapped(log, UNION, BUMP),
        BUMP,
        "is in the middle of the reassignment of r2-1",
    ),
    "the target is written before the ISR shrinks": (
        REASSIGN,
        lambda log: swapped(log, SHRUNK, TARGET),
        SHRUNK,
        "allowed there: write_removal",
    ),
    "finished with a replica that is not in the ISR": (
        REASSIGN,
        lambda log: dropped(log, JOINED),
        JOINED,
        "no event writes this",
    ),
    "an assignment that no request gives": (
        REASSIGN,
        lambda log: rewritten(log, UNION, with_assignment("1", [3, 2, 1])),
        UNION,
        "no step of",
    ),
    "two partitions at once": (
        REASSIGN,
        lambda log: rewritten(log, UNION, with_assignment("2", [1, 3])),
        UNION,
        "it changes one at a time",
    ),
    "a partition left out": (
        REASSIGN,
        lambda log: rewritten(log, UNION, with_assignment("0", None)),
        UNION,
        "it changes one at a time",
    ),
    "a duplicate broker": (
        REASSIGN,
        lambda log: rewritten(log, UNION, with_assignment("1", [3, 1, 1])),
        UNION,
        "T6: partition 1",
    ),
    "adding what is not assigned": (
        REASSIGN,
        lambda log: rewritten(log, UNION, with_part("adding_replicas", "1", [5])),
        UNION,
        "T6: partition 1",
    ),
    "adding what was there": (
        REASSIGN,
        lambda log: rewritten(log, UNION, with_part("adding_replicas", "1", [3])),
        UNION,
        "no step of",
    ),
    "an ISR outside the assignment": (
        REASSIGN,
        lambda log: rewritten(log, JOINED, lambda c: c.update(isr=[2, 3, 4])),
        JOINED,
        "of [1, 2, 3]",
    ),
    "a cancellation to other replicas": (
        REASSIGN,
        lambda log: rewritten(log, 0xE0, with_assignment("3", [1, 3])),
        0xE0,
        "no step of a reassignment",
    ),
    "another topic id": (
        REASSIGN,
        lambda log: rewritten(log, UNION, lambda c: c.update(topic_id="AAAAAAAAAAAAAAAAAAAAAA")),
        UNION,
        "a controller leaves the topic id as it is",
    ),
    "lost: the request stays in the list": (
        REASSIGN,
        lambda log: dropped(log, 0xF9),
        0xF9,
        "in the middle of taking r3-0 out of",
    ),
    "the request leaves the list before the target is written": (
        REASSIGN,
        lambda log: moved(log, 0xFE, 0xFC),
        0xFD,
        "allowed there: write_target",
    ),
    "the marker goes before the topic": (
        FIVE_FENCED,
        lambda log: moved(log, 0x489, 0x485),
        0x486,
        "delete /brokers/topics/t2/partitions",
    ),
    "the configuration goes before the topic": (
        FIVE_FENCED,
        lambda log: swapped(log, 0x487, 0x488),
        0x487,
        "allowed there: delete /brokers/topics/t2;",
    ),
    "the marker goes before the configuration": (
        FIVE_FENCED,
        lambda log: swapped(log, 0x488, 0x489),
        0x488,
        "allowed there: delete /config/topics/t2",
    ),
    "another topic's state before the deletion is finished": (
        FIVE_FENCED,
        lambda log: swapped(log, 0x351, 0x352),
        0x351,
        "in the middle of the deletion of t0",
    ),
    "a partition is deleted before the one that was begun": (
        FIVE_FENCED,
        lambda log: swapped(log, 0x47F, 0x480),
        0x47F,
        "delete /brokers/topics/t2/partitions/0",
    ),
    "deleted with its replicas online": (
        FIVE_FENCED,
        lambda log: dropped(log, *range(0x479, 0x47E)),
        0x479,
        "T1: the replicas of partition 0",
    ),
    "the marker of a topic that is known and still there": (
        FIVE_FENCED,
        lambda log: moved(log, 0x489, 0x478),
        0x479,
        "T2: the topic is still there",
    ),
    "partitions added that change an old one": (
        FIVE_FENCED,
        lambda log: rewritten(log, 0x3CA, with_assignment("0", [4, 5])),
        0x3CA,
        "nobody adds partitions",
    ),
    "partitions added with a gap": (
        FIVE_FENCED,
        lambda log: rewritten(log, 0x3CA, with_assignment("1", None)),
        0x3CA,
        "nobody adds partitions",
    ),
    "partitions added on a broker that is not there": (
        FIVE_FENCED,
        lambda log: rewritten(log, 0x3CA, with_assignment("1", [1, 9])),
        0x3CA,
        "nobody adds partitions",
    ),
    "a topic with a duplicate broker": (
        FIVE_FENCED,
        lambda log: rewritten(log, 0x6E, with_assignment("1", [1, 1])),
        0x6E,
        "T6: partition 1",
    ),
    "a topic with partitions of different sizes": (
        FIVE_FENCED,
        lambda log: rewritten(log, 0x66, with_assignment("1", [1, 2])),
        0x66,
        "different numbers",
    ),
    "a topic that no configuration was written for": (
        REASSIGN,
        lambda log: dropped(log, 0x41, 0x7E, 0x8E, 0xCD, 0xD0, 0xEF, 0xFF, 0x137),
        0x41,
        "has not written",
    ),
    "plain: the union is lost": (FIVE_LEGACY, lambda log: dropped(log, 0x92), 0x92, "reassignment"),
    "plain: the union is lost where a preferred election was asked for, and dealt with": (
        FIVE_LEGACY,
        lambda log: dropped(log, 0x2E3),
        0x2E3,
        "no reassignment of this partition is at such a step",
    ),
    "plain: the leader epoch is not raised": (
        FIVE_LEGACY,
        lambda log: dropped(log, 0x91),
        0x91,
        "in the middle of the reassignment of t0-0",
    ),
    "plain: a union with a replica that nobody asked for": (
        FIVE_LEGACY,
        lambda log: rewritten(log, 0x90, with_assignment("0", [4, 3])),
        0x90,
        "[[5]] as asked for",
    ),
    "plain: the target before the ISR shrinks": (
        FIVE_LEGACY,
        lambda log: swapped(log, 0x96, 0x97),
        0x96,
        "allowed there: write_removal",
    ),
    "plain: a request taken out before it is finished": (
        FIVE_LEGACY,
        lambda log: rewritten(log, 0x98, with_list(("t0", 1, [4]))),
        0x98,
        "delete_listed: t0-1 out of",
    ),
    "plain: the wrong request taken out": (
        FIVE_LEGACY,
        lambda log: rewritten(log, 0x98, with_list(("t0", 0, [4]))),
        0x98,
        "delete_listed: t0-1 out of",
    ),
    "plain: deleted with its replicas online": (
        FIVE_LEGACY,
        lambda log: dropped(log, *range(0xBD, 0xD8)),
        0xC0,
        "T1: the replicas of partition 0",
    ),
    "plain: the marker goes before the topic": (
        FIVE_LEGACY,
        lambda log: moved(log, 0xF3, 0xEF),
        0xF0,
        "allowed there: delete /brokers/topics/t8/partitions",
    ),
    "plain: another topic's state before the deletion is finished": (
        FIVE_LEGACY,
        lambda log: swapped(log, 0xF3, 0xF4),
        0xF3,
        "in the middle of the deletion of t8",
    ),
    "plain: a partition is deleted before the one that was begun": (
        FIVE_LEGACY,
        lambda log: swapped(log, 0xDC, 0xDE),
        0xDC,
        "delete /brokers/topics/t8/partitions/0",
    ),
    "plain: told of an ISR that was written as controller": (
        FIVE_LEGACY,
        lambda log: rewritten(log, 0xBA, naming("t11", 1)),
        0xBA,
        "no ISR of t11-1 as leader",
    ),
    "plain: told of an ISR that was written before the broker was stopped": (
        FIVE_LEGACY,
        lambda log: rewritten(log, 0x477, naming("t2", 0)),
        0x477,
        "no ISR of t2-0 as leader",
    ),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_is_caught(name):
    directory, change, zxid, text = ALTERATIONS[name]
    log = read(directory).transactions[: zxid + 0x30]
    result = settled(consistent(change(log), log), "legacy" if directory == FIVE_LEGACY else "fenced")
    assert result.divergence is not None
    assert (hex(result.divergence[0]), text in result.divergence[1]) == (hex(zxid), True), result.divergence


def asked_again(log, zxid, behind):
    """The write of a record comes once more behind another one."""
    return [*log[:behind], replace(log[zxid - 1], zxid=log[behind - 1].zxid), *log[behind:]]


@pytest.mark.parametrize(
    "directory, variant, union, bump, caught",
    [(REASSIGN, "fenced", UNION, BUMP, BUMP + 1), (FIVE_LEGACY, "legacy", 0x90, 0x91, 0x93)],
)
def test_a_topic_is_written_again_where_the_answer_was_lost(directory, variant, union, bump, caught):
    log = read(directory).transactions[: bump + 0x30]
    again = settled(consistent(asked_again(log, union, union), log), variant)
    assert again.divergence is None, again.divergence
    late = settled(consistent(asked_again(log, union, bump), log), variant)
    assert late.divergence[0] == caught, late.divergence


@pytest.mark.parametrize("behind, caught", [(0x362, False), (0x334, True)])
def test_an_isr_may_be_told_of_next_time_if_it_was_written_just_before(behind, caught):
    """Notifications are at 0x335, 0x363 and 0x3b0; the last tells of 0x3a1, which is remembered when it is answered."""
    log = read(FIVE_LEGACY).transactions[:0x3C0]
    divergence = settled(consistent(moved(log, 0x3A1, behind), log), "legacy").divergence
    assert (divergence is not None and divergence[0] == 0x3B0 and "wrote no ISR of t1-2" in divergence[1]) == caught
    assert caught or divergence is None, divergence


def test_what_stops_a_deletion_is_no_creation_and_no_znode_that_is_gone():
    log = read(FIVE_FENCED).transactions[:0x48D]
    check = log[0x488].operations[0]
    found = {}
    for name, code in (("nodeexists", -110), ("nonode", -101), ("notempty", -111)):
        instead = replace(log[0x488], operations=(check, Failure(code)))
        found[name] = settled(consistent([*log[:0x488], instead, *log[0x489:]], log), "fenced").divergence
    assert found["notempty"] is None
    for name in "nodeexists", "nonode":
        assert found[name][0] == 0x48D
        assert "in the middle of the deletion of t2; allowed there: delete /admin/" in found[name][1]


def test_a_refusal_that_is_not_the_controllers_hides_no_deletion_left():
    log = read(FIVE_LEGACY).transactions[:0x158]
    assert type(log[0x101].operations[0]) is Delete and log[0x101].operations[0].path == "/admin/delete_topics/t0"
    result = settled(consistent(dropped(log, 0x102), log), "legacy")
    assert result.divergence[0] == 0x103, result.divergence
    assert "in the middle of the deletion of t0; allowed there: delete /admin/delete_topics/t0" in result.divergence[1]


def test_what_zookeeper_cannot_have_written_tells_nothing_of_what_was_before():
    log = read(LEGACY).transactions[:0x1930]
    leader = next(t for t in log[0x18CD:] if t.first.form().startswith("setData /brokers/topics/z"))
    gone = replace(leader, operations=(replace(leader.first, path="/brokers/topics/za2/partitions/21/state"),))
    result = settled(
        Recording(
            Path("altered"),
            None,
            [*log[:0x18CD], replace(gone, zxid=0x18CE), *(replace(t, zxid=t.zxid + 1) for t in log[0x18CD:])],
            [],
        ),
        "legacy",
    )
    assert result.divergence[0] == 0x18CE and "does not exist" in result.divergence[1], result.divergence


def test_a_state_of_a_topic_that_is_gone_cannot_have_been_written():
    log = read(FIVE_FENCED).transactions[:0x489]
    state = next(t for t in log if t.zxid == 0x47D)
    late = replace(state, zxid=0x48A)
    result = settled(altered([*log, late], 0, lambda t: t), "fenced")
    assert (hex(result.divergence[0]), "does not exist" in result.divergence[1]) == ("0x48a", True)


def test_a_replica_whose_broker_was_never_there_cannot_have_been_deleted():
    log = read(REASSIGN).transactions[:0xA0]
    controller = next(t for t in log if t.zxid == 0x61)

    def guarded(zxid, operation):
        operations = (Check("/controller_epoch", 2), operation)
        return replace(controller, zxid=zxid, operations=operations, time=log[-1].time)

    more = [replace(log[-1], zxid=0xA1, session=1, operations=(Create("/admin/delete_topics/r3", None, False, 1),))]
    more.append(guarded(0xA2, Delete("/brokers/topics/r3/partitions/0/state")))
    result = settled(altered([*log, *more], 0, lambda t: t), "fenced")
    assert hex(result.divergence[0]) == "0xa2"
    assert "T1: the replica of partition 0 on broker 3 cannot have been deleted" in result.divergence[1]


def test_the_command_tells_of_it_and_fails(capsys, tmp_path):
    log = read(REASSIGN).transactions[:0x90]
    write_log(tmp_path / "log.1", consistent(swapped(log, SHRUNK, TARGET), log).transactions)
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["first_divergence"]["zxid"]) == (1, "diverges", hex(SHRUNK))
    assert "before it r2 with" in found["first_divergence"]["reason"]
    assert found["reassignments"]["unexplained"][0]["zxid"] == hex(SHRUNK)
    assert found["reassignments"]["writes"] == found["reassignments"]["explained"] + len(
        found["reassignments"]["unexplained"]
    )


@pytest.mark.parametrize("zxid", [0x61, 0x68, 0x10E, 0x121, 0x124, 0x134])
def test_what_is_no_state_is_caught_in_the_middle_of_a_reassignment_too(zxid):
    log = list(read(REASSIGN).transactions[: zxid + 0x30])
    record = log[zxid - 1]
    *checks, write = record.operations
    log[zxid - 1] = replace(record, operations=(*checks, replace(write, data=b"no state")))
    assert settled(replace(read(REASSIGN), transactions=log)).divergence[0] == zxid
