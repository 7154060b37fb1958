"""What is refused before the group is looked at, in which order; error codes; where a group is coordinated."""

from itertools import product
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.group import validation
from kafkaproof.spec.group.codes import CODES, FORMER_NAMES
from kafkaproof.spec.group.group_states import GroupState
from kafkaproof.spec.group.network import Verdict
from kafkaproof.spec.group.placement import java_hash, partition_for
from kafkaproof.spec.group.protocols import supports_type
from kafkaproof.spec.group.verdicts import list_verdict
from kafkaproof.spec.language.accepted import check_text

FUNCTIONS = [f for f in vars(validation).values() if getattr(f, "__module__", "") == validation.__name__]
NOT_KAFKAS = {"UNANSWERED", "PARKED", "STORED", "DISCONNECTED"}
FLAGS = list(product((False, True), repeat=4))


def named(code):
    return Verdict.names[code]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_refusals_keep_the_writing_rules(function):
    check_text(function)


@pytest.mark.parametrize("valid, active, loading, owned", FLAGS)
def test_the_gate_asks_in_this_order(valid, active, loading, owned):
    first = [
        (not valid, "INVALID_GROUP_ID"),
        (not active, "COORDINATOR_NOT_AVAILABLE"),
        (loading, "COORDINATOR_LOAD_IN_PROGRESS"),
        (not owned, "NOT_COORDINATOR"),
        (True, "NONE"),
    ]
    assert named(validation.refusal(valid, active, loading, owned)) == next(code for asked, code in first if asked)


@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("valid, active, loading, owned", FLAGS)
def test_the_former_gate_asked_in_another(join, valid, active, loading, owned):
    first = [
        (not active, "COORDINATOR_NOT_AVAILABLE"),
        (join and not valid, "INVALID_GROUP_ID"),
        (not owned, "NOT_COORDINATOR"),
        (loading, "COORDINATOR_LOAD_IN_PROGRESS"),
        (True, "NONE"),
    ]
    answer = validation.former_refusal(join, valid, active, loading, owned)
    assert named(answer) == next(code for asked, code in first if asked)


def test_an_empty_group_id_will_do_for_offsets_alone():
    assert validation.is_valid_group_id(True, True, True) and not validation.is_valid_group_id(True, True, False)
    assert not validation.is_valid_group_id(False, False, True)


def test_refusals_of_single_values():
    assert named(validation.session_refusal(5_999, 6_000, 1_800_000)) == "INVALID_SESSION_TIMEOUT"
    assert named(validation.session_refusal(6_000, 6_000, 1_800_000)) == "NONE"
    assert named(validation.session_refusal(1_800_001, 6_000, 1_800_000)) == "INVALID_SESSION_TIMEOUT"
    assert named(validation.metadata_refusal(4_096, 4_096)) == "NONE"
    assert named(validation.metadata_refusal(4_097, 4_096)) == "OFFSET_METADATA_TOO_LARGE"
    assert named(validation.authorization_refusal(False)) == "GROUP_AUTHORIZATION_FAILED"


@pytest.mark.parametrize("whole", ["STORED", "ILLEGAL_GENERATION"])
def test_each_partition_of_a_commit_has_its_own_answer(whole):
    verdict = Verdict.names.index(whole)
    answers = {
        (exists, fits): named(validation.partition_verdict(verdict, exists, fits))
        for exists, fits in product((False, True), repeat=2)
    }
    missing = "UNKNOWN_TOPIC_OR_PARTITION"
    too_long = "OFFSET_METADATA_TOO_LARGE" if whole == "STORED" else whole
    assert answers == {(False, False): missing, (False, True): missing, (True, False): too_long, (True, True): whole}


@pytest.mark.parametrize("state", ["Empty", "PreparingRebalance", "CompletingRebalance", "Stable"])
def test_an_empty_group_takes_any_type(state):
    group = SimpleNamespace(state=GroupState.names.index(state))
    takes = {flags for flags in product((False, True), repeat=2) if supports_type(group, *flags)}
    assert takes == ({(True, False), (True, True)} if state == "Empty" else {(False, True), (True, True)})


@pytest.mark.parametrize("owned", [False, True])
def test_any_broker_lists_its_groups(owned):
    answers = {named(list_verdict(SimpleNamespace(loading=loading, owned=owned))) for loading in (False, True)}
    assert answers == {"NONE", "COORDINATOR_LOAD_IN_PROGRESS"}
    assert named(list_verdict(SimpleNamespace(loading=False, owned=owned))) == "NONE"


def test_codes_have_kafka_s_numbers():
    assert set(CODES) == set(Verdict.names) - NOT_KAFKAS
    assert len(set(CODES.values())) == len(CODES)
    assert CODES == {
        "UNKNOWN_SERVER_ERROR": -1,
        "NONE": 0,
        "UNKNOWN_TOPIC_OR_PARTITION": 3,
        "REQUEST_TIMED_OUT": 7,
        "OFFSET_METADATA_TOO_LARGE": 12,
        "COORDINATOR_LOAD_IN_PROGRESS": 14,
        "COORDINATOR_NOT_AVAILABLE": 15,
        "NOT_COORDINATOR": 16,
        "ILLEGAL_GENERATION": 22,
        "INCONSISTENT_GROUP_PROTOCOL": 23,
        "INVALID_GROUP_ID": 24,
        "UNKNOWN_MEMBER_ID": 25,
        "INVALID_SESSION_TIMEOUT": 26,
        "REBALANCE_IN_PROGRESS": 27,
        "INVALID_COMMIT_OFFSET_SIZE": 28,
        "GROUP_AUTHORIZATION_FAILED": 30,
        "NON_EMPTY_GROUP": 68,
        "GROUP_ID_NOT_FOUND": 69,
        "MEMBER_ID_REQUIRED": 79,
        "GROUP_MAX_SIZE_REACHED": 81,
        "FENCED_INSTANCE_ID": 82,
        "GROUP_SUBSCRIBED_TO_TOPIC": 86,
        "UNSTABLE_OFFSET_COMMIT": 88,
    }
    assert set(FORMER_NAMES.values()) <= set(CODES.values()) and not set(FORMER_NAMES) & set(CODES)


@pytest.mark.parametrize(
    "text, value",
    [
        ("", 0),
        ("g1", 3242),
        ("polygenelubricants", -(2**31)),
        ("hello", 99_162_322),
        ("Aa", 2112),
        ("BB", 2112),
        ("é", 233),
    ],
)
def test_java_hash(text, value):
    assert java_hash(text) == value


def test_the_partition_of_a_group():
    assert partition_for("g1", 50) == 42
    assert partition_for("polygenelubricants", 50) == 0


STATES = [GroupState.names.index(name) for name in ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable")]


def coordinating(state, owned=1, loading=0):
    group = SimpleNamespace(state=state, generation=1, topic=0)
    return SimpleNamespace(group=group, owned=owned, loading=loading)


@pytest.mark.parametrize("state", STATES)
def test_of_a_group_with_members_only_offsets_that_consumers_do_not_read_are_deleted(state):
    broker, living = coordinating(state), state != STATES[0]
    assert named(validation.offset_deletion_refusal(broker, False)) == ("NON_EMPTY_GROUP" if living else "NONE")
    assert named(validation.offset_deletion_refusal(broker, True)) == "NONE"
    subscribed = "GROUP_SUBSCRIBED_TO_TOPIC" if living else "NONE"
    assert named(validation.offset_deletion_verdict(broker, True, True)) == subscribed
    assert named(validation.offset_deletion_verdict(broker, True, False)) == "NONE"
    assert named(validation.offset_deletion_verdict(broker, False, True)) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_offsets_of_no_group_are_not_deleted_nor_where_it_is_not_coordinated():
    for state in map(GroupState.names.index, ("Absent", "Dead")):
        assert named(validation.offset_deletion_refusal(coordinating(state), True)) == "GROUP_ID_NOT_FOUND"
        assert named(validation.offset_deletion_refusal(coordinating(state, owned=0), True)) == "NOT_COORDINATOR"
    loading = coordinating(STATES[0], owned=0, loading=1)
    assert named(validation.offset_deletion_refusal(loading, True)) == "COORDINATOR_LOAD_IN_PROGRESS"


@given(st.text(max_size=20), st.integers(1, 100))
def test_every_group_has_a_partition(group, partitions):
    assert 0 <= partition_for(group, partitions) < partitions
    assert -(2**31) <= java_hash(group) < 2**31


@given(st.text(max_size=10), st.text(max_size=10))
def test_the_hash_of_two_texts_together(first, second):
    units = len(second.encode("utf-16-be")) // 2
    assert (java_hash(first + second) - java_hash(first) * 31**units - java_hash(second)) % 2**32 == 0
