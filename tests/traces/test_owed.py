"""A log from which something is missing that a controller had to write does not conform, however well the rest fits."""

from dataclasses import replace
from functools import cache

import pytest

from spec.language.domains import NOBODY
from tests.traces.log_writer import write_log
from tests.traces.replaying import FENCED, FIVE_FENCED, FIVE_LEGACY, LEGACY, REASSIGN, all_of, read, run_json, told
from tests.traces.tampering import consistent, dropped
from traces.features import Features
from traces.owed.handlers import Partition, Seen, handlers_of
from traces.partitions.elections import Elected
from traces.recording import Recording
from traces.report import CONFORMS, UNDECIDED, verdict_of
from traces.zookeeper.transactions import Check

NEW, OLD, OLDEST = Features("fenced", True), Features("fenced", False), Features("legacy", False)
ISR = frozenset({1, 2, 3})


def seen(*live: int, offline=()) -> Seen:
    return Seen(frozenset(live), frozenset(offline), False)


def elected(leader: int, *isr: int) -> Elected:
    return Elected(leader, frozenset(isr))


# What the handlers of the specification write


def test_who_sees_that_the_leader_is_gone_elects():
    for features in (NEW, OLD, OLDEST):
        assert handlers_of(features).misses(Partition((1, 2, 3), 1, ISR), seen(2, 3), 1) == elected(2, 2, 3)


def test_who_sees_that_a_follower_is_gone_takes_it_out():
    for features in (NEW, OLD, OLDEST):
        assert handlers_of(features).misses(Partition((1, 2, 3), 2, ISR), seen(2, 3), 1) == elected(2, 2, 3)


def test_nothing_is_owed_to_a_partition_of_which_the_dead_are_no_members():
    for features in (NEW, OLD, OLDEST):
        assert handlers_of(features).misses(Partition((1, 2), 2, frozenset({2})), seen(2), 1) is None


def test_a_new_controller_takes_the_dead_out_first_from_2_3_on_and_elects_at_once_before():
    partition = Partition((1, 2, 3), 1, ISR)
    assert handlers_of(NEW).begins(partition, seen(2, 3), 1) == elected(NOBODY, 2, 3)
    for features in (OLD, OLDEST):
        assert handlers_of(features).begins(partition, seen(2, 3), 1) == elected(2, 2, 3)
        assert handlers_of(features).begins(partition._replace(leader=2), seen(2, 3), 1) is None


def test_without_a_live_member_only_who_takes_out_writes():
    partition = Partition((1, 2, 3), 1, frozenset({1}))
    assert handlers_of(NEW).begins(partition, seen(2, 3), 1) == elected(NOBODY, 1)
    assert handlers_of(OLDEST).begins(partition, seen(2, 3), 1) is None


def test_a_first_state_needs_a_replica_that_is_online():
    handlers = handlers_of(NEW)
    assert handlers.makes(Partition((1, 2)), seen(2, 3)) == handlers.begins(Partition((1, 2)), seen(2)) == elected(2, 2)
    assert handlers.makes(Partition((1, 2)), seen(3)) is None
    assert handlers.makes(Partition((1, 2)), seen(2, 3, offline=(2,))) is None


# What is missing from a log

MISSING = {
    "one of eight ISRs that a new controller has to take the old one out of": (FENCED, 0x5F, "the state of f2-1, leader 2"),
    "another one": (FENCED, 0x61, "the state of f1-1, leader 2"),
    "one that stays as it is for good, while broker after broker goes": (REASSIGN, 0x114, "the state of r2-0, leader 2"),
    "a state without a leader, which comes before the election": (FENCED, 0x5C, "another state of f1-3"),
    "a state without a leader, where two brokers are gone": (FENCED, 0xAF, "another state of f2-0"),
    "a state without a leader in another reign": (FENCED, 0x185, "another state of f3-10"),
}


def without(directory, *zxids: int) -> Recording:
    log = list(read(directory).transactions)
    return consistent(dropped(log, *zxids), log)


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_state_diverges_where_its_handler_was_left(name):
    directory, zxid, text = MISSING[name]
    found = told(without(directory, zxid))
    assert found.result.divergence and text in found.result.divergence[1], found.result.divergence
    assert found.result.divergence[0] >= zxid and "missing" in found.result.divergence[1]
