"""Up to symmetry there are exactly the orbits, with the verdicts, depths and lengths of the whole graph."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.interchangeable import AsymmetryError, require_symmetry
from kafkaproof.checker.runs.counterexample import TraceError, executed, trace_of
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.spec.catalogue import all_models, find
from kafkaproof.spec.election import model as election
from kafkaproof.spec.language.domains import Number
from kafkaproof.spec.language.model import LIVENESS
from kafkaproof.spec.language.plain import values_of
from kafkaproof.spec.replication.model import scope
from tests import toys
from tests.checker.arguments import counts, kept, replication, resumed
from tests.checker.asymmetric import ASYMMETRIC, RECOVER, first_holds, some_recover, token
from tests.checker.models import explored, facts
from tests.checker.test_counterexample import check_behaviour, check_end
from tests.checker.test_oracle import COUNTED
from tests.spec.declarations import records, states
from tests.spec.test_renaming import GROUPS, SCOPE

SMALLEST = scope(log=1, records=1, epochs=1)
REDUCED = {
    SMALLEST: {"truncate-to-hw": 1823, "kip101": 1682, "kip279": 1682, "kip320-first-try": 1650, "kip320": 1165},
    scope(brokers=2): {
        "truncate-to-hw": 5066,
        "kip101": 4523,
        "kip279": 4514,
        "kip320-first-try": 4215,
        "kip320": 2987,
    },
}
"""Distinct states under symmetry of the replicas, as TLC counts them."""


def the(system, variant, at):
    """A model of the catalogue at a scope."""
    return find(system, variant)[0], at


SMALL = {
    "replication": {"log": 1, "records": 1, "epochs": 1},
    "async-isr": {"brokers": 3},
    "election": {"epochs": 1, "receivers": 2},
    "election/rolling": {"brokers": 3, "epochs": 2, "faults": 0},
    "group": {"clients": 2, "ids": 2, "generations": 1, "faults": 0},
    "migration": {"changes": 0, "faults": 0},
    "migration/hybrid": {},
    "group/static": {"brokers": 2, "ids": 1, "generations": 1, "epochs": 2, "faults": 0},
}
"""What changes quick scopes so that there is something to rename, in some hundred to some ten thousand states."""
ROW = re.compile(r"^\| ([a-z][a-z-]*) \| (.*?) \|", re.MULTILINE)
PAGE = dict(ROW.findall((Path(__file__).parents[2] / "docs" / "symmetry.md").read_text()))
"""What the documentation says of each system."""


def is_refused(model):
    """Whether the documentation says that a model cannot be reduced."""
    return PAGE.get(model.system, "").startswith("refused")


def is_like(model, other):
    """Whether two models of a system have interchangeable ids of one sort, or none."""
    return bool(model.interchangeable.keys() & other.interchangeable.keys()) or not other.interchangeable


def small(model):
    """A model, and a scope at which there is something to rename."""
    changes = SMALL.get(model.name, SMALL.get(model.system, {}))
    return model, model.scopes["quick"] | changes


ASYMMETRY = re.compile(
    r"(?P<system>\S+) is not symmetric in its brokers: (property )?(?P<name>[\w.]+).*; check it without --symmetry$"
)
NEWEST = {model.system: model for model in all_models()}
OLDEST = {model.system: model for model in reversed(all_models()) if is_like(model, NEWEST[model.system])}
SYMMETRIC = [
    small(model) for model in {id(m): m for m in (*NEWEST.values(), *OLDEST.values())}.values() if not is_refused(model)
]
REFUSED = [small(model) for model in NEWEST.values() if is_refused(model)] + [small(find("migration", "hybrid")[0])]
TOKEN = token(RECOVER), token().scope
ELECTION = the("election", "legacy", election.scope(brokers=3, faults=0))
STARTED = token(RECOVER, initial=first_holds), token().scope


def named(case):
    """A model and scope as the name of a test."""
    return f"{case[0].name} at {','.join(map(str, case[1].values()))}"


def without_liveness(case):
    """A model and scope, with no property that speaks of infinite behaviours."""
    model, scope = case
    return replace(model, properties=tuple(p for p in model.properties if p.kind not in LIVENESS)), scope


def kernel_of(model, scope, symmetric=True):
    """The kernel of a model with all the properties that its scope can answer."""
    return Kernel(model, scope, model.properties_at(scope), symmetric)


def starts_alike(kernel):
    """Whether renaming an initial state makes an initial state of it."""
    execution = Execution(kernel.model, kernel.scope)
    initial = {execution.key(state) for state in execution.initial_states()}
    return initial == {tuple(renaming.values(key)) for key in initial for renaming in kernel.symmetry.renamings}


def required(model, scope):
    """Decide whether a model is symmetric, with all the properties that its scope can answer."""
    require_symmetry(model, scope, model.properties_at(scope))


def levels_of(path, kernel):
    """The values of the new states of each level of a whole exploration."""
    run = RunDirectory(str(path))
    explored(run, kernel)
    return [
        [tuple(kernel.packing.unpack(words)) for states in run.states(level) for words in states]
        for level in run.levels()
    ]


def packed(kernel, values):
    """A state's values, packed."""
    return kernel.packing.pack(Execution(kernel.model, kernel.scope).from_values(values))


@pytest.mark.parametrize(("variant", "at"), [(variant, at) for at in REDUCED for variant in REDUCED[at]])
def test_reduced_counts_are_those_of_independent_checkers(variant, at):
    found = explore_here(*the("replication", variant, at), symmetric=True)
    _, _, depth, weak, strong = COUNTED[at][variant]
    assert (found.outcome.distinct, found.outcome.depth) == (REDUCED[at][variant], depth)
    assert (found.length("weak_isr"), found.length("strong_isr")) == (weak, strong)


@pytest.mark.parametrize(
    "case",
    [
        the("replication", "kip320", SMALLEST),
        the("replication", "kip101", scope(brokers=2)),
        ELECTION,
        small(NEWEST["group"]),
        TOKEN,
        STARTED,
    ],
    ids=named,
)
def test_level_by_level_there_is_one_state_for_each_orbit_of_the_full_graph(tmp_path, case):
    full, reduced = kernel_of(*case, symmetric=False), kernel_of(*case)
    whole, representatives = levels_of(tmp_path / "full", full), levels_of(tmp_path / "reduced", reduced)
    least, seen = reduced.symmetry.least, set()
    for level, (all_states, few) in enumerate(zip(whole, representatives, strict=True)):
        orbits = {least(values) for values in all_states} - seen
        assert Counter(map(least, few)) == dict.fromkeys(orbits, 1), level
        seen |= orbits
    assert reduced.symmetry.count > 1 and len(seen) == sum(map(len, representatives))


@pytest.mark.parametrize("case", [TOKEN, the("replication", "kip320", SMALLEST), ELECTION], ids=named)
def test_where_the_start_is_symmetric_orbits_add_up_to_the_full_graph(tmp_path, case):
    kernel = kernel_of(*case)
    orbits = [
        {renaming.values(values) for renaming in kernel.symmetry.renamings}
        for level in levels_of(tmp_path / "run", kernel)
        for values in level
    ]
    whole = sum(map(len, orbits))
    assert whole == explore_here(*case).outcome.distinct


@pytest.mark.parametrize(
    "case", [TOKEN, STARTED, the("replication", "kip101", scope(log=1, records=1, epochs=0))], ids=named
)
def test_plain_python_counts_the_same_up_to_symmetry(run_directory, case):
    assert facts(explored(run_directory, kernel_of(*case)).outcome) == facts(explore(*case, symmetric=True))


@pytest.mark.parametrize("case", SYMMETRIC, ids=named)
def test_every_symmetric_system_has_the_verdicts_of_the_full_graph(case):
    """Liveness, which is not asked up to symmetry, is left out. Where ids differ at the start, an orbit may be nearer
    than some of its members.
    """
    full, kernel = explore_here(*without_liveness(case)), kernel_of(*case)
    reduced = explore_here(*case, symmetric=True)
    assert kernel.symmetry.count > 1
    for attribute in ("reached", "finished", "fault"):
        assert getattr(reduced.outcome, attribute) == getattr(full.outcome, attribute)
    alike = starts_alike(kernel)
    assert reduced.outcome.depth == full.outcome.depth or not alike and reduced.outcome.depth < full.outcome.depth
    assert {name: trace.states for name, trace in reduced.traces.items()} == {
        name: trace.states for name, trace in full.traces.items()
    }
    assert {n for n, c in reduced.outcome.coverage.items() if c} == {n for n, c in full.outcome.coverage.items() if c}
    assert 100 < reduced.outcome.distinct <= full.outcome.distinct


def test_the_documentation_speaks_of_every_system():
    assert PAGE.keys() - {"system"} == NEWEST.keys()


@pytest.mark.parametrize("case", REFUSED, ids=named)
def test_every_other_system_is_refused_with_what_tells_ids_apart(case):
    with pytest.raises(UserError) as refused:
        required(*case)
    found = ASYMMETRY.match(str(refused.value))
    if case[0].interchangeable:
        assert found["system"] == case[0].name
        assert found["name"] in {part.name for part in case[0].transitions + case[0].properties}
    else:
        assert str(refused.value).startswith(f"{case[0].system}: no ids are declared interchangeable")


def test_who_takes_a_step_may_be_told_apart():
    model = some_recover(Number(0, 0), 1)
    full, reduced = explore_here(model, model.scope), explore_here(model, model.scope, symmetric=True)
    assert (reduced.outcome.depth, reduced.outcome.reached) == (full.outcome.depth, full.outcome.reached)
    assert full.outcome.distinct / 2 <= reduced.outcome.distinct < full.outcome.distinct


def test_an_asymmetric_start_is_no_obstacle():
    assert explore_here(*STARTED, symmetric=True).outcome.distinct < explore_here(*STARTED).outcome.distinct


def nothing(s):
    """A state of zeros."""


@st.composite
def declared(draw):
    """The kernel of some declaration with a symmetry, and the values of a state."""
    state, group = draw(records), draw(st.sampled_from(GROUPS))
    model = replace(toys.clock(), state=state, initial=nothing, transitions=(), properties=(), interchangeable=group)
    return Kernel(model, SCOPE, (), True), tuple(values_of(draw(states(state, SCOPE))))


@settings(max_examples=40)
@given(declared())
def test_all_renamings_of_a_state_have_one_packed_representative_which_is_one_of_them(case):
    kernel, values = case
    orbit = {renaming.values(values) for renaming in kernel.symmetry.renamings}
    found = Expansion(kernel.compiled).representatives(np.array([packed(kernel, one) for one in orbit]))
    (found,) = np.unique(found, axis=0)
    assert tuple(kernel.packing.unpack(found)) in orbit


@pytest.mark.parametrize("case", [TOKEN, STARTED, the("replication", "kip101", SMALLEST)], ids=named)
def test_a_counterexample_is_a_behaviour_of_the_model_itself(run_directory, case):
    kernel = kernel_of(*case)
    violations = explored(run_directory, kernel).outcome.violations
    for found in violations:
        trace = trace_of(run_directory, kernel, found)
        check_behaviour(trace, found)
        check_end(trace, next(p for p in case[0].properties if p.name == found.name))
    assert violations


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("one id", "step 1, .*, is not enabled: .* refuses: .*: "),
        ("a property of states", "property last_is_well holds at the end: "),
    ],
)
def test_a_counterexample_that_only_asymmetry_has_made_is_not_told(run_directory, name, complaint):
    """As if it had not been proved before the run."""
    model = ASYMMETRIC[name][0]
    kernel = kernel_of(model, model.scope)
    (found,) = explored(run_directory, kernel).outcome.violations
    with pytest.raises(
        TraceError, match=f"^{complaint}the model distinguishes ids although the prover found that it does not"
    ):
        trace_of(run_directory, kernel, found)


@pytest.mark.parametrize("case", [TOKEN, STARTED, the("replication", "kip101", SMALLEST)], ids=named)
def test_spark_finds_what_one_process_finds(tmp_path, spark, case):
    runs = [RunDirectory(str(tmp_path / name)) for name in ("here", "spark")]
    here, there = explored(runs[0], kernel_of(*case)), explored(runs[1], kernel_of(*case), spark, 3)
    assert facts(there.outcome) == facts(here.outcome)
    for found in there.outcome.violations:
        check_behaviour(trace_of(runs[1], kernel_of(*case), found), found)


def test_check_counts_orbits_and_says_so(kafkaproof):
    answer = kafkaproof(*replication("kip320", 2, 2, 2, 2), "--symmetry", *kept("run"))
    assert answer.code == 0 and (answer.result["distinct"], answer.result["expected"]) == (2987, True)
    assert answer.result["symmetry"] == {"sorts": ["brokers"], "renamings": 2}
    assert kafkaproof("runs", ".", "--json").json["runs"][0]["symmetry"] == answer.result["symmetry"]
    assert "up to symmetry" in kafkaproof("runs", ".").out


def test_liveness_is_not_asked_up_to_symmetry(kafkaproof):
    scope = ("election", "--variant", "fenced", "--brokers", "2", "--epochs", "1", "--faults", "0")
    alike = (*scope, "--receivers", "2", "--symmetry")
    answer = kafkaproof("check", *alike, *kept("run"))
    assert answer.result["liveness"] == [{"property": "one_controller", "verdict": "not asked up to symmetry"}]
    assert "one_controller" not in answer.result["properties"]
    assert kafkaproof("check", *alike, "--property", "one_controller").complaint == (
        "kafkaproof: election: one_controller is a liveness property; check it without --symmetry"
    )


def test_a_run_goes_on_with_its_symmetry_and_refuses_another(kafkaproof):
    options = replication("kip320", 3, 1, 1, 1)
    assert kafkaproof(*options, "--symmetry", "--max-depth", "7", *kept("run")).code == 3
    assert "--resume continues a run as it began" in kafkaproof(*resumed("run"), "--symmetry").complaint
    result = kafkaproof(*resumed("run")).result
    whole = kafkaproof(*options, "--symmetry", *kept("whole")).result
    assert counts(result) == counts(whole) == (1165, 2824, 18, "holds") and result["symmetry"] == whole["symmetry"]


def test_a_run_that_goes_on_is_decided_again(kafkaproof, monkeypatch):
    """As if it had been begun by a version that took its model for symmetric."""
    assert kafkaproof(*replication("kip320", 3, 1, 1, 1), "--symmetry", "--max-depth", "2", *kept("run")).code == 3

    def refuse(*_):
        raise AsymmetryError("replication/kip320 is not symmetric")

    monkeypatch.setattr("kafkaproof.checker.prove.interchangeable.require_symmetry", refuse)
    complaint = kafkaproof(*resumed("run")).complaint
    assert complaint.endswith("run cannot be resumed: replication/kip320 is not symmetric")


def test_a_counterexample_up_to_symmetry_is_shown_with_true_steps(kafkaproof):
    result = kafkaproof(*replication("kip101", 3, 1, 1, 1), "--symmetry", *kept("run")).result
    assert (result["violated"], result["trace_length"], result["expected"]) == ("strong_isr", 12, True)
    trace = executed(*the("replication", "kip101", SMALLEST), result["violations"][0]["trace"])
    text = kafkaproof("show", "run", "--text").out
    assert all(str(step) in text for step, _, _ in trace.steps) and "VIOLATED at step 11: strong_isr" in text


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("check consumer --symmetry", "consumer: no ids are declared interchangeable; check it without --symmetry"),
        (
            "check partition --variant fenced --scope quick --symmetry",
            "partition/fenced is not symmetric in its brokers: ",
        ),
    ],
)
def test_what_is_not_symmetric_is_refused_before_anything_is_started(kafkaproof, tmp_path, command, complaint):
    assert complaint in kafkaproof(*command.split()).complaint
    assert list(tmp_path.iterdir()) == []
