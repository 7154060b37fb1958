"""Stale reads: with two faults a candidate begins to rule in an epoch that is over."""

from checker.execution import Execution
from spec.catalogue import find
from spec.language.steps import parse_step

(LAGGING,) = find("election", "fenced-lagging")
TWO_FAULTS = {**LAGGING.scope, "brokers": 2, "epochs": 2, "faults": 2}
DEPOSED_BEFORE_IT_BEGINS = """
    session.start(b=0)
    session.register_broker(b=0)
    election.maybe_resign(b=0)
    election.look_for_controller(b=0)
    election.learn_epoch(b=0)
    election.found_epoch(b=0, fate=0)
    election.register(b=0, fate=1)
    election.register(b=0, fate=0)
    faults.delete_controller()
    session.start(b=1)
    session.register_broker(b=1)
    election.maybe_resign(b=1)
    election.look_for_controller(b=1)
    election.learn_epoch(b=1)
    election.register(b=1, fate=0)
    election.confirm_controller(b=0)
    election.confirm_epoch(b=0)
"""


def test_who_does_not_see_its_successor_begins_to_rule():
    run = Execution(LAGGING, TWO_FAULTS)
    state = run.initial_states()[0]
    for text in DEPOSED_BEFORE_IT_BEGINS.strip().split("\n"):
        step = parse_step(text)
        before, transition, arguments = state, LAGGING.transition(step.transition), tuple(step.arguments.values())
        state = run.after(before, transition, arguments)
        assert state is not None and run.beyond(state, text) is None, text
    assert run.broken_by_step(before, transition, arguments, state) == ["own_epoch"]
    assert (state.brokers[0].epoch, state.zk.epoch) == (1, 2)
