"""What znodes say is taken apart without trusting it."""

import pytest

from kafkaproof.traces.zookeeper.znodes.assignments import assignment_in
from kafkaproof.traces.zookeeper.znodes.contents import broker_in, number_in, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import json_in
from kafkaproof.traces.zookeeper.znodes.topics import topic_in

STATE = b'{"leader":%b,"leader_epoch":1,"controller_epoch":1,"isr":%b}'


@pytest.mark.parametrize("data", [None, b"", b"[]", b"1", b"{", b"\xff", b"[" * 100_000, b"9" * 5_000])
def test_what_is_no_json_object_is_an_empty_one(data):
    assert json_in(data) == {}


@pytest.mark.parametrize("leader, isr", [(b"1e999", b"[1]"), (b'"x"', b"[1]"), (b"null", b"[1]"), (b"1", b"1")])
def test_what_is_no_number_is_no_state(leader, isr):
    assert state_in(STATE % (leader, isr)) is None


@pytest.mark.parametrize("isr", [b'"12"', b"[[1]]", b"[1.5]"])
def test_an_isr_is_a_list_of_brokers(isr):
    assert state_in(STATE % (b"1", isr)) is None


@pytest.mark.parametrize("data", [None, b"", b"-1", b"x", b"1 ", b"%d" % 2**70, b"9" * 5_000])
def test_an_epoch_or_a_broker_is_a_number_of_32_bits(data):
    assert number_in(data) is None and broker_in(data) is None
    assert number_in(b"2147483647") == broker_in(b"2147483647") == 2**31 - 1


def test_nobody_is_no_replica():
    assert assignment_in(b'{"partitions":{"0":[1,-1]}}', 0) is None
    assert assignment_in(b'{"partitions":{"0":[1,2]}}', 0).replicas == (1, 2)


@pytest.mark.parametrize("number", ["\u00b2", "\u2460", "x", "-1", "", "9" * 5_000])
def test_a_topic_has_partitions_with_numbers(number):
    assert topic_in(f'{{"version":1,"partitions":{{"{number}":[1]}}}}'.encode()) is None
