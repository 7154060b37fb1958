"""What replay gets by running the transitions about topics: creations, expansions, what is asked for and taken away."""

from pathlib import Path

import pytest

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.features import RANGES, of_release
from kafkaproof.traces.explain.log.streams import explain_streams
from kafkaproof.traces.explain.partitions.proposals import proposals_of
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.explain.partitions.topic_steps import Scene, steps_of
from kafkaproof.traces.explain.topics.asked import (
    may_ask_for_deletion,
    takes_finished_off,
    takes_marker_away,
    takes_preferred_away,
    takes_request_off,
    tells_of_log_directory,
)
from kafkaproof.traces.explain.topics.context import TOPIC
from kafkaproof.traces.explain.topics.deleted_replicas import Doomed, course_of
from kafkaproof.traces.explain.topics.listed import is_taken_off
from kafkaproof.traces.explain.topics.placed import is_begun, is_restored, replicas_added, replicas_created
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState
from tests.traces.partition_log import PARENTS, Log
from tests.traces.replaying import gather

every_range = pytest.mark.parametrize("features", RANGES, ids=lambda each: str(each.releases))


@every_range
def test_a_topic_has_as_many_replicas_as_are_asked_for_or_is_refused(features):
    assert [replicas_created(features, brokers, 2) for brokers in (1, 2, 5)] == [0, 2, 2]


@every_range
def test_partitions_are_added_with_the_replicas_of_the_first_unless_one_is_reassigned(features):
    assert [replicas_added(features, brokers, 2, False) for brokers in (1, 2, 5)] == [0, 2, 2]
    assert replicas_added(features, 5, 2, True) == 0


@pytest.mark.parametrize("release", ["0.9", "0.10.2", "0.11", "1.0", "1.1", "2.0", "2.1", "2.3", "2.4", "2.8", "3.9"])
def test_from_2_0_on_an_expansion_is_undone_where_the_topic_is_queued_for_deletion(release):
    features = of_release(release)
    assert is_restored(features, True) == (release not in ("0.9", "0.10.2", "0.11", "1.0", "1.1"))
    assert not is_restored(features, False)


def test_topics_are_made_by_a_variant_of_the_releases():
    made = {release: of_release(release).making for release in ("0.9", "1.1", "2.0", "2.3", "2.5", "2.7", "3.9")}
    assert made == {
        "0.9": ("two-phase",),
        "1.1": ("two-phase",),
        "2.0": ("restoring",),
        "2.3": ("removal-at-start",),
        "2.5": ("kip455-zk",),
        "2.7": ("kip497",),
        "3.9": ("kip455",),
    }


@every_range
def test_what_is_asked_for_is_taken_away(features):
    assert may_ask_for_deletion(features, True) and may_ask_for_deletion(features, False)
    assert takes_marker_away(features) and takes_preferred_away(features)


@every_range
def test_no_partition_begins_in_a_topic_that_is_queued_for_deletion(features):
    assert is_begun(features, False) and not is_begun(features, True)


LED, LED_BY_TWO, TAKEN_OFF = (
    Elected(leader, frozenset(isr)) for leader, isr in ((1, (1,)), (1, (1, 2)), (NOBODY, (1,)))
)
ALL = frozenset({1, 2})


@every_range
@pytest.mark.parametrize(
    ("state", "before", "raised", "is_known", "there", "course"),
    [
        (TAKEN_OFF, LED, 1, True, ALL, (True, True, None)),
        (None, None, 0, True, ALL, (True, True, None)),
        (LED_BY_TWO, LED_BY_TWO, 0, False, ALL, (True, True, None)),
        (Elected(NOBODY, frozenset({3})),) * 2 + (0, True, ALL, (True, True, None)),
        (LED, LED, 0, True, ALL, (True, False, None)),
        (TAKEN_OFF, TAKEN_OFF, 0, True, ALL, (True, False, None)),
        (TAKEN_OFF, TAKEN_OFF, 1, True, ALL, (True, True, None)),
        (TAKEN_OFF, LED, 1, True, frozenset({1}), (True, True, (2,))),
        (TAKEN_OFF, LED, 1, True, None, (False, False, (1, 2))),
    ],
    ids=[
        "it was taken offline",
        "it has no state",
        "another controller made the state",
        "no replica is in the ISR",
        "it is led still",
        "it was leaderless before",
        "it is taken offline again",
        "a broker was not there",
        "nobody has asked",
    ],
)
def test_how_the_replicas_of_a_topic_are_deleted(features, state, before, raised, is_known, there, course):
    assert course_of(features, Doomed((1, 2), state, before, raised, is_known, there)) == course


@every_range
def test_from_2_4_on_a_request_is_taken_off_the_list_by_another_one(features):
    assert takes_request_off(features) == features.kip455


@every_range
def test_a_leader_notifies_of_an_isr_that_it_writes(features):
    proposals = proposals_of(features)
    assert proposals.is_told(Elected(1, frozenset({1, 2})), frozenset({1}))
    assert not proposals.is_told(Elected(1, frozenset({1, 2})), frozenset({2})), "no leader leaves its own ISR"


def test_what_is_finished_is_taken_off_the_list_where_that_is_what_was_asked_for():
    features = of_release("2.8")
    assert takes_finished_off(features, (2, 3), (2, 3))
    assert not takes_finished_off(features, (2, 3), (3, 2)) and not takes_finished_off(features, (2, 3), (2, 3, 1))


STATE, NEWER = PartitionState(1, 4, 1, (1, 2)), PartitionState(1, 4, 9, (1, 2))


@pytest.mark.parametrize(
    ("known", "target", "state", "queued", "exists", "off"),
    [
        ((1, 2), (1, 2), STATE, False, True, True),
        (None, (2, 3), STATE, False, False, True),
        ((1, 2), (2, 3), STATE, True, True, True),
        ((1, 2), (2, 3), STATE, False, True, False),
        ((2, 3, 1), (2, 3), STATE, False, True, False),
        ((1, 2, 3), (1, 2), STATE, False, True, False),
        ((1, 2), (2, 3), None, False, True, False),
        ((1, 2), (2, 3), None, False, False, True),
        ((2, 3, 1), (2, 3), None, False, True, True),
        ((2, 3, 1), (2, 3), NEWER, False, True, True),
    ],
    ids=[
        "it is assigned so",
        "the partition is not known",
        "its topic is queued for deletion",
        "the union is to be written",
        "the leader epoch is to be raised",
        "the target has caught up",
        "the union is to be written, and there is no state",
        "the topic is gone",
        "there is no state",
        "a later controller wrote the state",
    ],
)
def test_a_request_is_taken_off_the_list_at_once_where_nothing_can_be_done(known, target, state, queued, exists, off):
    steps = steps_of(of_release("2.3"), frozenset({1, 2, 3}))
    scene = Scene(5, state, [state.isr if state else ()], [frozenset({1, 2, 3})])
    remembered = None if known is None else Assignment(known)
    assert is_taken_off(steps, remembered, target, scene, queued, exists) == off


def test_brokers_tell_of_a_failed_log_directory_from_1_0_on():
    told = [tells_of_log_directory(of_release(release)) for release in ("0.10.2", "0.11", "1.0", "2.3", "3.9")]
    assert told == [False, False, True, True, True]


@pytest.mark.parametrize("release", ["0.10.2", "1.1", "2.0"])
def test_a_log_in_which_an_expansion_is_undone_is_of_2_0_at_the_earliest(release):
    log = Log(1, 2, checked=False, topics=1)
    log.elect(1)
    log.znode("/config/topics/t", {"version": 1, "config": {}})
    log.topic(2)
    log.state(1, 2, [2], 0)
    log.leave(2)
    log.znode("/admin/delete_topics/t", {})
    for partitions, writer in (({"0": [2], "1": [1]}, None), ({"0": [2]}, 1)):
        log.znode("/brokers/topics/t", {"version": 1, "partitions": partitions}, writer)
    recording = Recording(Path("written"), Snapshot(0, 0, {}, dict.fromkeys(PARENTS, Znode(b""))), log.transactions, [])
    streams = explain_streams(gather(recording, of_release(release), Members(recording, ""), ""))
    assert [judged.write.zxid for judged in streams.odd] == [recording.transactions[-1].zxid] * (release != "2.0")
    assert streams.kinds[TOPIC, "added partitions taken back"] == (release == "2.0")
