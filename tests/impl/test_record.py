"""A record is written by transitions only, has no ghosts, and has the hash of the values that it holds."""

import pytest

from kafkaproof.impl.broker.changes import Changes
from kafkaproof.impl.broker.record import ReadOnly, lengthen, new_record, transition
from kafkaproof.spec.election.broker_state import BROKER as CANDIDATE
from kafkaproof.spec.election.broker_state import begin_term
from kafkaproof.spec.language.digest import digest
from kafkaproof.spec.language.plain import new_state, values_of
from kafkaproof.spec.partition.context import BROKER, end_process

SCOPE = {"brokers": 3, "replicas": 3, "partitions": 2, "epochs": 9, "leader_epochs": 9}


def test_a_record_is_read_only_outside_of_a_transition():
    record = new_record(BROKER, SCOPE)
    with pytest.raises(ReadOnly):
        record.up = 1
    with pytest.raises(ReadOnly):
        record.controller.result.leader = 1
    with pytest.raises(ReadOnly):
        record.errors[0] = 1
    assert not any(values_of(record))


def test_a_transition_writes_a_record_as_it_writes_any_other():
    record, plain = new_record(BROKER, SCOPE), new_state(BROKER, SCOPE)
    with transition():
        end_process(record)
    end_process(plain)
    assert values_of(record) == values_of(plain)
    with pytest.raises(ReadOnly):
        record.replicas[0].leader = 0


def test_the_hash_is_that_of_the_values_without_ghosts():
    record, plain = new_record(CANDIDATE, SCOPE), new_state(CANDIDATE, SCOPE)
    empty = digest({"r": record})
    assert empty == digest({"r": plain})
    plain.ghosts.applied = 7
    assert digest({"r": plain}) == empty
    with transition():
        record.ghosts.applied = 7
        begin_term(record, 1, 1)
    begin_term(plain, 1, 1)
    assert digest({"r": record}) == digest({"r": plain}) != empty


def test_records_of_two_processes_share_nothing():
    one, other = new_record(BROKER, SCOPE), new_record(BROKER, SCOPE)
    with transition():
        one.controller.partitions[1].replicas[2] = 3
    assert other.controller.partitions[1].replicas[2] == 0


def test_changes_are_found_wherever_they_are_and_the_hash_is_that_of_all_records():
    records = {"one": new_record(BROKER, SCOPE), "other": new_record(CANDIDATE, SCOPE)}
    changes = Changes(records)
    assert (changes.take(), changes.state()) == ({}, digest(records))
    with transition():
        records["one"].errors[0] = 1
        records["one"].controller.result.leader = 2
    assert changes.take() == {"one.errors[0]": 1, "one.controller.result.leader": 2}
    assert (changes.take(), changes.state()) == ({}, digest(records))
    with transition():
        begin_term(records["other"], 1, 1)
    assert changes.take() and changes.state() == digest(records)


def test_a_record_that_is_lengthened_is_like_a_larger_one_and_what_had_changed_is_still_told():
    record, more = new_record(BROKER, SCOPE), new_record(CANDIDATE, SCOPE)
    changes = Changes({"one": record})
    with transition():
        record.controller.partitions[1].leader_epoch = 4
        record.up = 1
    lengthen(record, new_record(BROKER, SCOPE | {"partitions": 5}))
    changes.lengthen({"more": more})
    with transition():
        record.controller.partitions[4].leader_epoch = 7
        more.epoch = 3
    assert changes.take() == {
        "one.up": 1,
        "one.controller.partitions[1].leader_epoch": 4,
        "one.controller.partitions[4].leader_epoch": 7,
        "more.epoch": 3,
    }
    assert changes.state() == digest({"one": record, "more": more}) and changes.take() == {}
    plain = new_state(BROKER, SCOPE | {"partitions": 5})
    plain.up, plain.controller.partitions[1].leader_epoch, plain.controller.partitions[4].leader_epoch = 1, 4, 7
    assert values_of(record) == values_of(plain)
