"""Stale reads: with two faults a candidate begins to rule in an epoch that is over."""

from kafkaproof.spec.catalogue import find
from tests.checker.behaviours import behaviour, broken_at_the_end

(LAGGING,) = find("election", "fenced-lagging")
TWO_FAULTS = {**LAGGING.scope, "brokers": 2, "epochs": 2, "faults": 2}
DEPOSED_BEFORE_IT_BEGINS = """
    session.start(b=0)
    session.register_broker(b=0)
    election.maybe_resign(b=0)
    election.look_for_controller(b=0)
    election.learn_epoch(b=0)
    election.found_epoch(b=0, delivery=0)
    election.register(b=0, delivery=1)
    election.register(b=0, delivery=0)
    faults.delete_controller()
    session.start(b=1)
    session.register_broker(b=1)
    election.maybe_resign(b=1)
    election.look_for_controller(b=1)
    election.learn_epoch(b=1)
    election.register(b=1, delivery=0)
    election.confirm_controller(b=0)
    election.confirm_epoch(b=0)
"""


def test_who_does_not_see_its_successor_begins_to_rule():
    trace = behaviour(LAGGING, TWO_FAULTS, DEPOSED_BEFORE_IT_BEGINS)
    state = trace.last
    assert broken_at_the_end(trace) == ["own_epoch"]
    assert (state.brokers[0].epoch, state.zk.epoch) == (1, 2)
