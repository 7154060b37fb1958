"""Commits that no generation of members has made, or that the log refuses: what is answered, and that replay has it so."""

import pytest
from kafka.protocol.consumer.group import JoinGroupRequest, OffsetCommitRequest

from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.group.codes import CODES
from tests.impl.test_group_machine import Groups

CLIENT, OTHER, BROKER = 0, 1, 0


@pytest.fixture
def groups():
    """Two coordinators, of which broker 0 leads; all that they record is replayed."""
    machine = Groups()
    machine.time_passes(0.0)
    machine.answered = {}

    def note(kind):
        def hear(client, request, answer):
            machine.answered[machine.clients.index(client)] = kind(answer)

        return hear

    machine.on_OffsetCommitRequest = note(lambda answer: answer.topics[0].partitions[0].error_code)
    machine.on_OffsetFetchRequest = note(lambda answer: answer.topics[0].partitions[0].committed_offset)
    yield machine
    machine.teardown()


def commit_without_a_group(groups):
    groups.commit_without_a_group(CLIENT, BROKER)
    groups.answers_arrive()


def fetched(groups):
    groups.fetch(OTHER, BROKER)
    groups.answers_arrive()
    return groups.answered[OTHER]


def test_a_commit_without_a_group_is_answered_when_it_is_stored(groups):
    commit_without_a_group(groups)
    assert CLIENT not in groups.answered and fetched(groups) == -1
    groups.replicate()
    groups.time_passes(0.0)
    groups.answers_arrive()
    assert groups.answered[CLIENT] == CODES["NONE"] and fetched(groups) == groups.number
    assert groups.replays.steps[-3:] == ["offsets.fetch", "offsets.offset_stored", "offsets.fetch"]


def test_a_commit_without_a_group_is_answered_when_its_append_has_failed(groups):
    commit_without_a_group(groups)
    groups.fail_over(1, 0)
    groups.time_passes(0.0)
    groups.answers_arrive()
    assert groups.answered[CLIENT] == CODES["NOT_COORDINATOR"]


def test_a_commit_without_a_group_that_the_log_refuses_for_want_of_replicas(groups):
    groups.lacks_replicas = True
    commit_without_a_group(groups)
    groups.time_passes(0.0)
    groups.answers_arrive()
    assert groups.answered[CLIENT] == CODES["NOT_COORDINATOR"] and fetched(groups) == -1


def test_nobody_is_told_an_offset_that_went_into_no_log(groups):
    groups.fail_over(1, 0)
    commit_without_a_group(groups)
    assert fetched(groups) == -1


@pytest.mark.parametrize(
    "sound",
    [
        JoinGroupRequest(
            group_id="",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=20_000,
            member_id="",
            protocol_type="consumer",
            protocols=[JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"m")],
        ),
        OffsetCommitRequest(
            group_id="",
            generation_id_or_member_epoch=-1,
            member_id="",
            topics=[
                OffsetCommitRequest.OffsetCommitRequestTopic(
                    name="events",
                    partitions=[
                        OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition(
                            partition_index=0, committed_offset=7
                        )
                    ],
                )
            ],
        ),
    ],
    ids=["join", "commit"],
)
def test_a_group_without_a_name_is_refused(groups, sound):
    """It is not taken for the group that stands for all that do not exist, of which every new group begins as a copy."""
    coordinator, taken = groups.brokers[BROKER].coordinator, list(groups.replays.steps)
    call = Call(sound, 0)
    coordinator.handle(call)
    assert not call._answer.empty()
    answer = call.wait()
    errors = (
        [answer.error_code]
        if hasattr(answer, "error_code")
        else [each.error_code for topic in answer.topics for each in topic.partitions]
    )
    assert errors == [CODES["INVALID_GROUP_ID"]]
    assert groups.replays.steps == taken
