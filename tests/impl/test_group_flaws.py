"""Requests with a flaw of their own, at running coordinators: what is answered, and what is stored all the same."""

import pytest
from kafka.protocol.consumer.group import JoinGroupRequest, OffsetCommitRequest, OffsetFetchRequest

from kafkaproof.impl.groups.flaws import MOST_METADATA
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.group.codes import CODES
from tests.impl.test_group_machine import NAME, Groups

BROKER, FOLLOWER = 0, 1
NAMES = {code: name for name, code in CODES.items()}


@pytest.fixture
def groups():
    """Two coordinators, of which broker 0 leads; all that they record is replayed."""
    machine = Groups()
    machine.time_passes(0.0)
    yield machine
    machine.teardown()


def handled(groups, request, b=BROKER, version=4):
    """The answer to a request, once what it appends is replicated."""
    call = Call(request, version)
    groups.brokers[b].coordinator.handle(call)
    groups.replicate()
    groups.time_passes(0.0)
    return call.wait()


def joined(groups, b=BROKER, session=10_000, kind="consumer", id=""):
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"m")
    request = JoinGroupRequest(
        group_id=NAME,
        session_timeout_ms=session,
        rebalance_timeout_ms=20_000,
        member_id=id,
        protocol_type=kind,
        protocols=[protocol],
    )
    return NAMES[handled(groups, request, b).error_code]


def committed(groups, *offsets, id="", generation=-1, b=BROKER):
    """The answers to a commit of (topic, partition, offset, metadata), by partition."""
    topics = [
        OffsetCommitRequest.OffsetCommitRequestTopic(
            name=topic,
            partitions=[
                OffsetCommitRequest.OffsetCommitRequestTopic.OffsetCommitRequestPartition(
                    partition_index=p, committed_offset=offset, committed_metadata=metadata
                )
            ],
        )
        for topic, p, offset, metadata in offsets
    ]
    request = OffsetCommitRequest(group_id=NAME, generation_id_or_member_epoch=generation, member_id=id, topics=topics)
    answer = handled(groups, request, b)
    return {(t.name, each.partition_index): NAMES[each.error_code] for t in answer.topics for each in t.partitions}


def fetched(groups, p):
    kind = OffsetFetchRequest.OffsetFetchRequestTopic
    answer = handled(groups, OffsetFetchRequest(group_id=NAME, topics=[kind(name="events", partition_indexes=[p])]))
    return answer.topics[0].partitions[0].committed_offset


def fetched_together(groups, *names):
    """The answers to one request for the offsets of several groups: error, and offsets by partition."""
    kind = OffsetFetchRequest.OffsetFetchRequestGroup
    answer = handled(groups, OffsetFetchRequest(groups=[kind(group_id=name, topics=None) for name in names]), version=8)
    return {
        group.group_id: (
            NAMES[group.error_code],
            {(t.name, each.partition_index): each.committed_offset for t in group.topics for each in t.partitions},
        )
        for group in answer.groups
    }


GOOD, TOO_LONG, MISSING = ("events", 0, 7, "m"), ("events", 1, 8, "m" * (MOST_METADATA + 1)), ("nowhere", 0, 9, "m")


def test_partitions_of_one_commit_have_their_own_answers(groups):
    assert committed(groups, GOOD, TOO_LONG, MISSING) == {
        ("events", 0): "NONE",
        ("events", 1): "OFFSET_METADATA_TOO_LARGE",
        ("nowhere", 0): "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert (fetched(groups, 0), fetched(groups, 1)) == (7, -1)


def test_a_commit_that_is_refused_as_a_whole_says_nothing_of_metadata(groups):
    assert committed(groups, GOOD, TOO_LONG, MISSING, id="stranger", generation=3) == {
        ("events", 0): "ILLEGAL_GENERATION",
        ("events", 1): "ILLEGAL_GENERATION",
        ("nowhere", 0): "UNKNOWN_TOPIC_OR_PARTITION",
    }


def test_nothing_is_appended_where_no_partition_is_left(groups):
    assert set(committed(groups, TOO_LONG, MISSING).values()) == {
        "OFFSET_METADATA_TOO_LARGE",
        "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert groups.log == []


@pytest.mark.parametrize(
    "session, answer", [(5_999, "INVALID_SESSION_TIMEOUT"), (1_800_001, "INVALID_SESSION_TIMEOUT")]
)
def test_a_session_out_of_range_is_refused_after_the_coordinator_is_found(groups, session, answer):
    assert joined(groups, session=session) == answer
    assert joined(groups, FOLLOWER, session=session) == "NOT_COORDINATOR"


def test_a_group_with_members_takes_no_other_type(groups):
    groups.join(0, BROKER, False)
    groups.join(0, BROKER, False)
    assert joined(groups, kind="connect") == "INCONSISTENT_GROUP_PROTOCOL"
    assert joined(groups) == "MEMBER_ID_REQUIRED"


def test_an_empty_group_takes_another_type_but_not_an_empty_one(groups):
    committed(groups, GOOD)
    assert joined(groups, kind="") == "INCONSISTENT_GROUP_PROTOCOL"
    assert joined(groups, kind="connect") == "MEMBER_ID_REQUIRED"


def test_several_groups_are_fetched_in_one_request_and_none_is_answered_too(groups):
    committed(groups, GOOD)
    assert fetched_together(groups, NAME, "another", "") == {
        NAME: ("NONE", {("events", 0): 7}),
        "another": ("NONE", {}),
        "": ("INVALID_GROUP_ID", {}),
    }
    assert fetched_together(groups) == {}
