"""What replay gets by running the events of a controller: what each release writes, and in which order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.features import RANGES
from kafkaproof.traces.explain.partitions.events import Partition, Seen, events_of
from kafkaproof.traces.explain.partitions.reassigned import reassigned_by
from kafkaproof.traces.explain.partitions.scene import TOPICS, Written
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy
from tests.traces.partition_log import cluster

OLDEST, OLD, FORMER, NEW = RANGES
ALL = frozenset({1, 2, 3})
WHOLE = Partition((1, 2, 3), 1, ALL)
VARIANTS = sorted({variant for each in RANGES for variant in each.explaining})


def seen(*live):
    return Seen(frozenset(live))


def elected(leader, *isr):
    return Elected(leader, frozenset(isr))


def written(run):
    return [(each.strategy, each.after) for each in run]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_broker_failure_elects_and_takes_nobody_out_twice(variant):
    events = events_of(variant)
    assert written(events.misses(WHOLE, seen(2, 3), 1)) == [(Strategy.OFFLINE, elected(2, 2, 3))]
    assert written(events.misses(WHOLE, seen(1, 3), 2)) == [(Strategy.REMOVAL, elected(1, 1, 3))]
    assert events.misses(WHOLE, seen(1, 2, 3), 7) == ()


def test_from_2_3_on_a_new_controller_takes_the_dead_out_and_then_elects():
    for variant in ("removal-at-start", "fenced"):
        run = events_of(variant).begins(WHOLE, seen(2, 3))
        assert written(run) == [(Strategy.REMOVAL, elected(NOBODY, 2, 3)), (Strategy.OFFLINE, elected(2, 2, 3))]
        assert written(events_of(variant).begins(WHOLE, seen(1, 3))) == [(Strategy.REMOVAL, elected(1, 1, 3))]


def test_up_to_2_2_a_new_controller_elects_and_takes_nobody_out():
    for variant in ("zkclient", "legacy", "checked", "kip380"):
        run = events_of(variant).begins(WHOLE, seen(2, 3))
        assert written(run) == [(Strategy.OFFLINE, elected(2, 2, 3))]
        assert events_of(variant).begins(WHOLE, seen(1, 3)) == ()


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_event_writes_over_the_state_of_a_controller_of_a_higher_epoch(variant):
    events, newer = events_of(variant), {"newer": True}
    assert events.misses(WHOLE, seen(2, 3)._replace(**newer), 1) == ()
    assert events.misses(WHOLE, seen(1, 3)._replace(**newer), 2) == ()
    assert events.releases(WHOLE, seen(1, 2, 3)._replace(**newer), 1) == ()
    led = Partition((1, 2, 3), 2, ALL)
    assert events.balances(led, seen(1, 2, 3)) and events.balances(led, seen(1, 2, 3)._replace(**newer)) == ()


@pytest.mark.parametrize("features", RANGES, ids=lambda each: str(each.releases))
def test_no_reassignment_writes_over_the_state_of_a_controller_of_a_higher_epoch(features):
    moved = (elected(1, 1, 2, 3), (2, 3), frozenset({1}), ALL)
    assert reassigned_by(features).writes(*moved) and not reassigned_by(features).writes(*moved, newer=True)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_controlled_shutdown_of_the_leader_elects_or_leaves_it(variant):
    events = events_of(variant)
    assert written(events.releases(WHOLE, seen(1, 2, 3), 1)) == [(Strategy.CONTROLLED_SHUTDOWN, elected(2, 2, 3))]
    assert written(events.releases(WHOLE, seen(1, 2, 3), 2)) == [(Strategy.REMOVAL, elected(1, 1, 3))]
    assert events.releases(Partition((1, 2, 3), 1, frozenset({1})), seen(1, 2, 3), 1) == ()


def test_an_event_that_a_release_has_not_writes_nothing():
    offline = Partition((1, 2, 3), NOBODY, frozenset({1}))
    enabled = seen(2, 3)._replace(unclean=True)
    assert written(events_of("legacy").permits(offline, enabled)) == [(Strategy.OFFLINE_UNCLEAN, elected(2, 2))]
    assert events_of("unconfigured").permits(offline, enabled) == ()
    assert written(events_of("fenced").asks(offline, seen(2, 3), True)) == [(Strategy.OFFLINE_UNCLEAN, elected(2, 2))]
    assert events_of("removal-at-start").asks(offline, seen(2, 3), True) == ()
    assert written(events_of("fenced").loses(WHOLE, seen(1, 2, 3), 1)) == [(Strategy.OFFLINE, elected(2, 2, 3))]
    assert events_of("one-thread").loses(WHOLE, seen(1, 2, 3), 1) == ()


def test_nothing_is_elected_where_the_leader_lives_and_nothing_happened():
    events = events_of("fenced")
    for run in (events.begins(WHOLE, seen(1, 2, 3)), events.permits(WHOLE, seen(1, 2, 3)._replace(unclean=True))):
        assert run == ()
    assert events.prefers(WHOLE, seen(1, 2, 3)) == events.balances(WHOLE, seen(1, 2, 3)) == ()


def test_a_new_topic_and_an_added_partition():
    for run in (
        events_of(NEW.making[0], TOPICS).makes(Partition((3, 1)), seen(1, 3)),
        events_of(NEW.making[0], TOPICS).adds(Partition((3, 1)), seen(1, 3)),
        events_of("fenced").joins(Partition((3, 1)), seen(1, 3), 3),
    ):
        assert written(run) == [(Strategy.NEW_TOPIC, elected(3, 1, 3))]


@pytest.mark.parametrize("features", RANGES, ids=lambda each: str(each.releases))
def test_a_reassignment_whose_target_is_in_the_isr(features):
    reassigned, before = reassigned_by(features), elected(1, 1, 2, 3)
    moved = reassigned.writes(before, (2, 3), frozenset({1}), ALL)
    assert Written(Strategy.REASSIGN, before, elected(2, 1, 2, 3)) in moved
    led = elected(2, 1, 2, 3)
    assert Written(Strategy.REMOVAL, led, elected(2, 2, 3)) in reassigned.writes(led, (2, 3), frozenset({1}), ALL)
    assert not any(
        each.strategy == Strategy.REASSIGN for each in reassigned.writes(before, (1, 2), frozenset({3}), ALL)
    )


NAMES = st.permutations((1, 2, 3, 4, 9)).map(lambda ids: dict(zip((1, 2, 3), ids)) | {NOBODY: NOBODY})


@given(
    st.sampled_from(VARIANTS),
    NAMES,
    st.sampled_from((NOBODY, 1, 2)),
    st.frozensets(st.sampled_from((1, 2, 3)), min_size=1),
)
def test_names_of_brokers_make_no_difference(variant, name, leader, live):
    def named(brokers):
        return frozenset(name[broker] for broker in brokers)

    events, isr = events_of(variant), frozenset({1, 2})
    other = Partition((name[1], name[2], name[3]), name[leader], named(isr))
    run = events.misses(Partition((1, 2, 3), leader, isr), Seen(live), 3)
    found = events.misses(other, Seen(named(live)), name[3])
    assert [each.strategy for each in run] == [each.strategy for each in found]
    assert [(name[each.after.leader], named(each.after.isr)) for each in run] == [each.after for each in found]


def test_a_shutdown_leaves_no_partition_without_a_leader():
    log = cluster(2)
    log.state(1, NOBODY, [2], 1)
    log.leave(2)
    assert log.why("legacy") is log.why("fenced") is None


def test_a_new_controller_of_2_4_does_not_elect_before_it_has_taken_the_dead_out():
    log = cluster()
    log.leave(2)
    log.elect(1)
    log.state(1, 3, [3, 1], 1)
    assert log.why() is None
    assert "no event writes this" in log.explained()[-1].text
