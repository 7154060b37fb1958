"""A log from which something is missing that a controller had to write does not conform, however well the rest fits."""

from dataclasses import replace

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.features import RANGES
from kafkaproof.traces.explain.partitions.events import Partition, Seen, events_of, first
from kafkaproof.traces.explain.partitions.scene import TOPICS
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.reading.missing import Missing
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.report.log import CONFORMS, UNDECIDED, verdict_of
from kafkaproof.traces.zookeeper.transactions import Check
from tests.traces.log_writer import write_log
from tests.traces.replaying import FENCED, FIVE_FENCED, FIVE_LEGACY, LEGACY, REASSIGN, all_of, read, run_json, told
from tests.traces.tampering import consistent, dropped

ZKCLIENT, OLDEST, OLD, NEW = RANGES
ISR = frozenset({1, 2, 3})


def seen(*live: int, offline=()) -> Seen:
    return Seen(frozenset(live), frozenset(offline), False)


def handlers_of(features):
    return events_of(features.handling)


def elected(leader: int, *isr: int) -> Elected:
    return Elected(leader, frozenset(isr))


# What the handlers of the specification write


def test_who_sees_that_the_leader_is_gone_elects():
    for features in (NEW, OLD, OLDEST):
        assert first(handlers_of(features).misses(Partition((1, 2, 3), 1, ISR), seen(2, 3), 1)) == elected(2, 2, 3)


def test_who_sees_that_a_follower_is_gone_takes_it_out():
    for features in (NEW, OLD, OLDEST):
        assert first(handlers_of(features).misses(Partition((1, 2, 3), 2, ISR), seen(2, 3), 1)) == elected(2, 2, 3)


def test_nothing_is_owed_to_a_partition_of_which_the_dead_are_no_members():
    for features in (NEW, OLD, OLDEST):
        assert first(handlers_of(features).misses(Partition((1, 2), 2, frozenset({2})), seen(2), 1)) is None


def test_a_new_controller_takes_the_dead_out_first_from_2_3_on_and_elects_at_once_before():
    partition = Partition((1, 2, 3), 1, ISR)
    assert first(handlers_of(NEW).begins(partition, seen(2, 3), 1)) == elected(NOBODY, 2, 3)
    for features in (OLD, OLDEST):
        assert first(handlers_of(features).begins(partition, seen(2, 3), 1)) == elected(2, 2, 3)
        assert first(handlers_of(features).begins(partition._replace(leader=2), seen(2, 3), 1)) is None


def test_a_controlled_shutdown_elects_for_a_queued_topic_only_where_writes_are_not_checked():
    partition, queued = Partition((1, 2, 3), 1, ISR), seen(1, 2, 3)._replace(queued=True)
    for features, is_elected in ((NEW, False), (OLD, False), (OLDEST, True)):
        written = first(handlers_of(features).releases(partition, queued, 1))
        assert written == (elected(2, 2, 3) if is_elected else None)


def test_without_a_live_member_only_who_takes_out_writes():
    partition = Partition((1, 2, 3), 1, frozenset({1}))
    assert first(handlers_of(NEW).begins(partition, seen(2, 3), 1)) == elected(NOBODY, 1)
    assert first(handlers_of(OLDEST).begins(partition, seen(2, 3), 1)) is None


def test_a_first_state_needs_a_replica_that_is_online():
    creating = events_of(NEW.making[0], TOPICS)
    made = first(creating.makes(Partition((1, 2)), seen(2, 3)))
    assert made == first(handlers_of(NEW).begins(Partition((1, 2)), seen(2))) == elected(2, 2)
    assert first(creating.makes(Partition((1, 2)), seen(3))) is None
    assert first(creating.makes(Partition((1, 2)), seen(2, 3, offline=(2,)))) is None


# What is missing from a log

AT_FIRST, LEADER, GONE = "another state of {}", "the state of {} with a leader", "the state of {}, leader"
MISSING = {
    (FENCED, 0x5C): AT_FIRST.format("f1-3"),
    (FENCED, 0xBA): AT_FIRST.format("f2-2"),
    (FENCED, 0x189): AT_FIRST.format("f3-5"),
    (REASSIGN, 0x119): LEADER.format("r2-2"),
    (REASSIGN, 0x11B): LEADER.format("r2-1"),
    (FIVE_FENCED, 0xBC): LEADER.format("t11-3"),
    (REASSIGN, 0x114): GONE.format("r2-0"),
    (REASSIGN, 0x116): GONE.format("r1-3"),
    (FIVE_FENCED, 0xFE): GONE.format("t11-3"),
    (FIVE_FENCED, 0x1AA): GONE.format("t9-2"),
    (FIVE_FENCED, 0x28A): GONE.format("t6-2"),
}
"""What is left out: a new controller's first state of a partition, then its election; and what all partitions of a
broker get that is gone: an election, an ISR without it."""
SHOWN = 0x300
"""So many records are enough to show each of them."""


def without(directory, *zxids: int) -> Recording:
    log = list(read(directory).transactions)[: max(zxids) + SHOWN]
    return consistent(dropped(log, *zxids), log)


def verdict(recording: Recording) -> str:
    found = told(recording)
    return verdict_of(recording, found.result, found.audit)[0]


@pytest.mark.parametrize("directory, zxid", MISSING)
def test_a_missing_state_diverges_where_its_handler_was_left(directory, zxid):
    divergence = told(without(directory, zxid)).result.divergence
    assert divergence and MISSING[directory, zxid] in divergence[1] and "missing" in divergence[1], divergence
    assert divergence[0] >= zxid


def of_topic(directory, topic: str) -> list[int]:
    """The records that write below a topic's znode."""
    below = f"/brokers/topics/{topic}/"
    return [
        t.zxid
        for t in read(directory).transactions
        if any(getattr(operation, "path", "").startswith(below) for operation in t.operations)
    ]


@pytest.mark.parametrize("directory, topic", [(FENCED, "f1"), (FENCED, "f2"), (FENCED, "f3")])
def test_a_topic_that_never_gets_its_states_is_told(directory, topic):
    found = told(without(directory, *of_topic(directory, topic)))
    texts = [each.text for each in found.streams.owed.missing + found.streams.owed.waiting]
    assert any(f"the first state of {topic}-" in text for text in texts), texts


def silent(directory, first: int, last: int) -> list[int]:
    """The records by which the controllers of some epochs write states of partitions."""
    terms = [term for term in all_of(directory).gathered.common.terms.by_start if first <= term.epoch <= last]
    return [
        t.zxid
        for t in read(directory).transactions
        if not t.failed
        and isinstance(t.operations[0], Check)
        and "/brokers/topics" in t.operations[-1].path
        and any(t.session == term.session and term.start < t.zxid < term.end for term in terms)
    ]


def test_controllers_that_write_nothing_are_told_with_since_when():
    found = told(without(FENCED, *silent(FENCED, 3, 8)))
    assert found.result.divergence is None and found.streams.owed.missing == []
    first = found.streams.owed.waiting[0]
    assert (first.since, first.epochs, first.states) == (0x80, (3,), 8)
    assert "leader 3, ISR [3, 2, 1], without broker 3, gone since 0x7f" in first.text
    assert {epoch for each in found.streams.owed.waiting for epoch in each.epochs} >= {3, 4, 5, 8}


def test_they_are_in_the_report(tmp_path, capsys):
    write_log(tmp_path / "log.1", without(FENCED, *silent(FENCED, 3, 8)).transactions)
    code, report = run_json(capsys, tmp_path)
    assert (code, report["verdict"], report["owed"][0]["epochs"]) == (0, CONFORMS, [3])
    assert main(["replay", str(tmp_path)]) == 0
    assert "owed since 0x80: the state of f1-5, leader 3" in capsys.readouterr().out


@pytest.mark.parametrize("directory", [FENCED, REASSIGN, FIVE_FENCED, FIVE_LEGACY, LEGACY])
def test_nothing_is_missing_from_what_real_clusters_wrote(directory):
    owed = all_of(directory).streams.owed
    assert (owed.missing, owed.waiting) == ([], [])


def test_where_records_are_missing_a_hole_is_no_divergence():
    whole = without(REASSIGN, 0x114)
    assert verdict(whole) != CONFORMS
    assert told(replace(whole, gaps=(Missing(1, 1, 2),))).streams.owed.missing == []
    log = [t for t in read(REASSIGN).transactions if t.zxid != 0x11F]
    assert verdict(replace(read(REASSIGN), transactions=log, gaps=(Missing(1, 1, 2),))) == UNDECIDED


def test_of_a_version_with_several_threads_nothing_is_said_to_be_missing():
    common = all_of(REASSIGN).gathered.common
    assert common.is_certain and not replace(common, features=ZKCLIENT).is_certain
