"""What replay gets by running the transitions about topics: creations, expansions, what is asked for and taken away."""

import pytest

from kafkaproof.traces.evidence.features import RANGES, of_release
from kafkaproof.traces.explain.topics.asked import (
    may_ask_for_deletion,
    takes_marker_away,
    takes_preferred_away,
    tells_of_log_directory,
)
from kafkaproof.traces.explain.topics.placed import is_restored, replicas_added, replicas_created

every_range = pytest.mark.parametrize("features", RANGES, ids=lambda each: str(each.releases))


@every_range
def test_a_topic_has_as_many_replicas_as_are_asked_for_or_is_refused(features):
    assert [replicas_created(features, brokers, 2) for brokers in (1, 2, 5)] == [0, 2, 2]


@every_range
def test_partitions_are_added_with_the_replicas_of_the_first_unless_one_is_reassigned(features):
    assert [replicas_added(features, brokers, 2, False) for brokers in (1, 2, 5)] == [0, 2, 2]
    assert replicas_added(features, 5, 2, True) == 0


@every_range
def test_an_expansion_is_undone_where_the_topic_is_queued_for_deletion(features):
    assert is_restored(features, True) and not is_restored(features, False)


@every_range
def test_what_is_asked_for_is_taken_away(features):
    assert may_ask_for_deletion(features, True) and may_ask_for_deletion(features, False)
    assert takes_marker_away(features) and takes_preferred_away(features)


def test_brokers_tell_of_a_failed_log_directory_from_1_0_on():
    told = [tells_of_log_directory(of_release(release)) for release in ("0.10.2", "0.11", "1.0", "2.3", "3.9")]
    assert told == [False, False, True, True, True]
