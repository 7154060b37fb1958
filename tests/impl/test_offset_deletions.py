"""OffsetDelete: of an Empty group all offsets or some, of one with members those of topics that they do not read.

Coordinators run over a log in memory, and what they record is replayed line by line.
"""

import json

import pytest
from kafka.protocol.consumer.group import OffsetDeleteRequest, OffsetFetchRequest

from kafkaproof.impl.protocol.wire import Call
from kafkaproof.traces.processes.state.result import Divergence
from tests.impl.test_group_machine import PLACE, Groups

NONE, UNKNOWN_PLACE, NOT_COORDINATOR, NON_EMPTY, NOT_FOUND, SUBSCRIBED = 0, 3, 16, 68, 69, 86
READER, OTHER = 0, 1
"""A client that reads the topic of the offsets, and one that reads another."""


@pytest.fixture
def groups():
    machine = Groups()
    machine.time_passes(0.0)
    yield machine
    machine.teardown()


def name_of(machine):
    return machine.name_of(READER)


def committed(machine, places, b=0):
    """What a broker says of the committed offsets of both partitions."""
    kind = OffsetFetchRequest.OffsetFetchRequestTopic
    call = Call(
        OffsetFetchRequest(group_id=name_of(machine), topics=[kind(name=PLACE[0], partition_indexes=places)]), 4
    )
    machine.brokers[b].coordinator.handle(call)
    return [each.committed_offset for each in call.wait().topics[0].partitions]


def delete(machine, places, b=0):
    """Delete offsets; the error of the whole request, and that of each partition."""
    topic = OffsetDeleteRequest.OffsetDeleteRequestTopic
    partitions = [topic.OffsetDeleteRequestPartition(partition_index=p) for p in places]
    request = OffsetDeleteRequest(group_id=name_of(machine), topics=[topic(name=PLACE[0], partitions=partitions)])
    call = Call(request, 0)
    machine.brokers[b].coordinator.handle(call)
    answer = call.wait()
    return answer.error_code, [each.error_code for topic in answer.topics for each in topic.partitions]


def commit_both(machine):
    """A client without a group commits offsets of both partitions."""
    machine.number += machine.number % 2
    machine.commit_without_a_group(READER, 0)
    machine.replicate()
    machine.time_passes(0.0)
    machine.answers_arrive()


def join(machine, client):
    """A client is the only member, in the first generation."""
    while machine.clients[client].next == "join":
        machine.join(client, 0, False)
        machine.time_passes(0.6)
        machine.answers_arrive()
    machine.sync(client, 0)
    machine.replicate()
    machine.time_passes(0.0)
    machine.answers_arrive()


def test_some_offsets_of_an_empty_group(groups):
    commit_both(groups)
    n = groups.number
    assert delete(groups, [1]) == (NONE, [NONE]) and committed(groups, [0, 1]) == [n, -1]
    assert delete(groups, [1]) == (NONE, [NONE]) and committed(groups, [0, 1]) == [n, -1]


def test_a_coordinator_that_takes_over_finds_the_offsets_that_are_left(groups):
    commit_both(groups)
    delete(groups, [1])
    groups.fail_over(1, 9)
    groups.time_passes(0.0)
    assert committed(groups, [0, 1], b=1) == [groups.number, -1] and groups.replays.broken == set()


def test_all_offsets_of_an_empty_group_and_the_group(groups):
    commit_both(groups)
    assert delete(groups, [0, 1]) == (NONE, [NONE, NONE]) and committed(groups, [0, 1]) == [-1, -1]
    assert delete(groups, [0]) == (NOT_FOUND, [])
    groups.fail_over(1, 9)
    groups.time_passes(0.0)
    assert committed(groups, [0, 1], b=1) == [-1, -1]


def test_a_partition_that_is_not_there_is_answered_for_itself(groups):
    commit_both(groups)
    assert delete(groups, [0, 7]) == (NONE, [NONE, UNKNOWN_PLACE])


def test_who_does_not_coordinate_and_of_no_group(groups):
    assert delete(groups, [0]) == (NOT_FOUND, []) and delete(groups, [0], b=1) == (NOT_COORDINATOR, [])


def test_members_that_read_the_topic_keep_its_offsets(groups):
    commit_both(groups)
    join(groups, READER)
    assert delete(groups, [0, 1]) == (NONE, [SUBSCRIBED, SUBSCRIBED]) and -1 not in committed(groups, [0, 1])


def test_members_that_read_another_topic_do_not_but_the_last_ones_stay(groups):
    commit_both(groups)
    n = groups.number
    join(groups, OTHER)
    assert delete(groups, [0]) == (NONE, [NONE]) and committed(groups, [0, 1]) == [-1, n]
    assert delete(groups, [1]) == (NON_EMPTY, []) and committed(groups, [0, 1]) == [-1, n]


def test_members_that_are_no_consumers_keep_all(groups):
    commit_both(groups)
    join(groups, OTHER)
    groups.brokers[0].coordinator.groups[name_of(groups)].protocol_type = "connect"
    assert delete(groups, [0]) == (NON_EMPTY, [])


def test_a_deletion_waits_for_commits_that_are_under_way(groups):
    groups.commit_without_a_group(READER, 0)
    groups.delete_offsets(READER, 0, True)
    groups.answers_arrive()
    assert len(groups.deletions) == 1
    groups.replicate()
    groups.time_passes(0.0)
    groups.time_passes(0.0)
    groups.answers_arrive()
    assert groups.deletions == [] and committed(groups, [0, 1]) == [-1, -1]


@pytest.mark.parametrize("forgotten", [[["events", 0]], [["events", 1], ["events", 0]], [["events", 7]]])
def test_a_deletion_of_other_offsets_than_recorded_diverges(groups, monkeypatch, forgotten):
    commit_both(groups)
    note = groups.replays.note

    def told_otherwise(b, row):
        note(b, json.loads(json.dumps(row | {"forgets": forgotten} if "forgets" in row else row)))

    monkeypatch.setattr(groups.replays, "note", told_otherwise)
    with pytest.raises(Divergence):
        delete(groups, [1])
