"""The known problems of the old consumer are found, and what mends them is not found to have them."""

import ast
from collections import Counter

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.liveness.reference import lassos
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import TraceError, executed
from kafkaproof.spec.consumer import zookeeper
from kafkaproof.spec.consumer.history import orders
from kafkaproof.spec.consumer.model import CHECKED, MODELS, ORDERLY, SIZES, WAITING, scope
from kafkaproof.spec.language.subset import definition, nodes_of
from tests.checker.exhibits import exhibits_of, require_exhibit

BY_VARIANT = {model.variant: model for model in MODELS}
TINY = {
    ("reading-first", scope(changes=1)): (6_286, 15_218, 36),
    ("reading-first", scope(offsets=2)): (1_285, 2_919, 30),
    ("reading-first", scope(losses=1)): (856, 1_717, 27),
    ("waiting", scope(consumers=1, splits=1)): (162, 244, 24),
    ("topic-first", scope(losses=1)): (773, 1_551, 27),
    ("topic-first", scope(offsets=2)): (1_059, 2_227, 30),
    ("checked", scope(consumers=1, splits=1)): (246, 360, 24),
    ("checked", scope(consumers=1, changes=1, expiries=1)): (662, 1_419, 23),
    ("checked", scope()): (566, 1_057, 26),
    ("checked", scope(losses=1)): (802, 1_606, 27),
    ("checked", scope(offsets=2)): (1_090, 2_286, 30),
    ("checked", scope(expiries=1)): (12_233, 31_752, 44),
    ("roundrobin", scope(partitions=2, retries=2)): (1_227, 2_354, 38),
    ("range-ceil", scope(partitions=2, retries=2)): (1_227, 2_354, 38),
    ("unlimited", scope(losses=1)): (786, 1_590, 26),
    ("unlimited", scope(changes=1)): (4_725, 11_978, 31),
    ("orderly", scope(consumers=1, changes=1, expiries=1)): (684, 1_475, 22),
    ("orderly", scope(offsets=2, changes=1)): (10_268, 27_707, 33),
}
EXHIBITS = exhibits_of("consumer", SIZES)


def shortest(model, scope, name):
    """States of the shortest counterexample of one property, None where it holds."""
    run = Execution(model, scope)
    prop = next(p for p in model.properties if p.name == name)
    frontier = {run.key(state): state for state in run.initial_states()}
    seen, depth = set(frontier), 0
    while frontier:
        depth += 1
        if prop.kind == "always" and not all(prop.predicate(state) for state in frontier.values()):
            return depth
        following = {}
        for state in frontier.values():
            for transition, arguments, after in run.successors(state, Counter()):
                if name in run.broken_by_step(state, transition, arguments, after):
                    return depth + 1
                following[run.key(after)] = after
        frontier = {key: state for key, state in following.items() if key not in seen}
        seen |= frontier.keys()
    return None


def registering_when_free(steps):
    """The same steps, as variants name them whose registration waits."""
    return [step.replace("session.register(", "consumer_variants.register_when_free(") for step in steps]


@pytest.mark.parametrize(
    "function",
    [t.function for model in MODELS for t in model.transitions if not t.function.__module__.endswith(".faults")],
    ids=lambda function: function.__name__,
)
def test_a_consumer_touches_what_it_owns_and_reaches_the_rest_through_zookeeper(function):
    nodes = list(nodes_of(function.__code__))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    assert [a.arg for a in definition(function.__code__).args.args][:2] == ["s", "c"]
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == "s":
            while isinstance(parents[node], (ast.Attribute, ast.Subscript)) and parents[node].value is node:
                node = parents[node]
            user = parents[node]
            if not ast.unparse(node).startswith("s.consumers[c]"):
                assert ast.unparse(node) == "s.zk" and isinstance(user, ast.Call)
                assert function.__globals__[user.func.id].__module__ in {zookeeper.__name__, orders.__name__}


@pytest.mark.parametrize("variant, sizes", TINY, ids=str)
def test_tiny_scopes_give_the_recorded_verdicts(variant, sizes):
    model = BY_VARIANT[variant]
    found = explore(model, sizes)
    assert (found.distinct, found.generated, found.depth) == TINY[variant, sizes]
    assert found.violated | lassos(model, sizes, found.graph) == model.expectation(sizes)


def test_the_default_scope_gives_the_recorded_verdicts_and_reaches_every_goal():
    found = explore_here(CHECKED, CHECKED.scope)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == (628_372, 2_037_512, 74)
    assert {name: trace.states for name, trace in found.traces.items()} == CHECKED.expectation(CHECKED.scope)
    goals = {p.name for p in CHECKED.properties_at(CHECKED.scope) if p.kind == "sometimes"}
    assert outcome.reached == goals
    unused = {name for name, count in outcome.coverage.items() if not count}
    assert unused == {"offsets.consume", "offsets.commit", "faults.split_session"}


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda each: f"{each.name}-{each.states}")
def test_an_exhibit_of_the_findings_is_one(exhibit):
    require_exhibit(BY_VARIANT[exhibit.variant], exhibit)


def test_the_findings_have_their_exhibits():
    assert {exhibit.name for exhibit in EXHIBITS} >= {"offset_never_falls", "quiet_group_reads_all", "claim_forgotten"}
    assert len(EXHIBITS) == 11


def test_offsets_that_are_read_after_the_claim_refuse_the_path_to_an_offset_that_falls():
    (exhibit,) = [e for e in EXHIBITS if e.variant == "checked" and e.name == "offset_never_falls"]
    with pytest.raises(TraceError, match="read_offset"):
        executed(ORDERLY, exhibit.sizes, registering_when_free(exhibit.steps))


def test_a_member_that_joins_costs_everybody_a_rebalance():
    members, partitions = 3, 3
    run = Execution(CHECKED, scope(consumers=members, partitions=partitions, retries=4))
    state = next(s for s in run.initial_states() if s.zk.size == partitions)
    requests = []
    for joined in range(1, members + 1):
        requests.append(0)
        state, following = None, state
        while following is not None:
            state, following = following, None
            for transition, arguments in in_lockstep(run, state, joined):
                following = run.after(state, transition, arguments)
                requests[-1] += run.step(transition, arguments).answer is not None
                break
    assert [state.consumers[c].registry for c in range(members)] == [1, 2, 4]
    assert requests[-1] == 2 + 4 * members + 3 * partitions


def in_lockstep(run, state, joined):
    """The steps of the first so many consumers, those of the consumer that is furthest behind first."""
    calm = [
        (transition, arguments)
        for transition, arguments, _ in run.successors(state, Counter())
        if not transition.name.startswith(("faults.", "offsets.")) and arguments[0] < joined
    ]
    return sorted(calm, key=lambda step: state.consumers[step[1][0]].doing)


def test_registration_waits_in_0_8_and_fails_in_0_9():
    steps = [
        "session.start(c=0)",
        "session.register(c=0)",
        "session.rebalance_registered(c=0)",
        "faults.split_session(c=0)",
        "session.register(c=0) -> NODEEXISTS",
        "faults.expire_orphan(c=0)",
    ]
    at = scope(consumers=1, splits=1)
    again = "session.register(c=0) -> OK"
    assert executed(WAITING, at, registering_when_free([*steps, again]))
    with pytest.raises(TraceError, match="not enabled"):
        executed(CHECKED, at, [*steps, again])
