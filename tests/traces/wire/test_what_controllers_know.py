"""What controllers send by what they know: not what a leader, or they themselves, have written unheard."""

from functools import cache

from tampered import recorded

from kafkaproof.traces.evidence.features import RANGES
from kafkaproof.traces.explain.partitions.events import Partition, Seen, events_of
from kafkaproof.traces.explain.partitions.leader_changes import BY_LEADER
from kafkaproof.traces.explain.partitions.sent import LEADER_AND_ISR, UPDATE_METADATA, Sent
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy
from kafkaproof.traces.wire.control.asked import Asked
from kafkaproof.traces.wire.control.knowing import Knowing
from kafkaproof.traces.wire.control.steps import control_steps_of

ALL = frozenset({1, 2, 3})
real = cache(recorded)


def known_in(name):
    """What each controller of a recording goes by, of each partition."""
    it = real(name)
    asked = Asked(it.exchanges, it.history)
    for reign in it.history.reigns.values():
        for partition in it.history.states:
            yield Knowing(it.history, it.features, asked, reign, partition)


def test_up_to_2_3_update_metadata_tells_no_raised_leader_epoch():
    for features in RANGES:
        sent = control_steps_of(features).raising(Elected(1, ALL), (1, 2, 3), ALL)
        raised = {each.kind: each.raised for each in sent}
        assert raised == {LEADER_AND_ISR: "1", UPDATE_METADATA: "1" if features.kip455 else "0"}, features


def test_whose_log_directory_has_failed_is_told_again_of_all_its_replicas():
    partition, seen = Partition((1, 2, 3), 1, ALL), Seen(ALL)
    for variant in ("legacy", "fenced"):
        found = [
            each for each in events_of(variant, telling=True).notices(partition, seen, 2) if isinstance(each, Sent)
        ]
        to = {each.kind: each.to & ALL for each in found if each.kind in (LEADER_AND_ISR, UPDATE_METADATA)}
        assert to == {LEADER_AND_ISR: {2}, UPDATE_METADATA: ALL}, variant


def test_what_the_broker_of_a_controller_writes_as_a_leader_is_unheard():
    found = 0
    for known in known_in("1.1.1-wire"):
        for version in known.versions:
            by = [each.trigger for each in known.explained(version)]
            if version.session == known.reign.session and by == [BY_LEADER]:
                found += 1
                assert not known.is_own(version)
    assert found


def test_a_raised_leader_epoch_is_remembered_from_2_4_on():
    for name, remembered in ("1.1.1-wire", False), ("3.9.1-wire", True):
        raised = [
            (known, version)
            for known in known_in(name)
            for version in known.versions
            if known.is_own(version) and known.explained(version)[0].strategy == Strategy.EPOCH_BUMP
        ]
        assert raised and all(known.is_not_remembered(version) != remembered for known, version in raised)
