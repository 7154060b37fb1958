"""Every step of every model, run as Python, compiled and symbolically, leads to the same state.

The generated explorer takes long to compile: it is run for the newest variant of each system; compiled
transitions are run for all, by themselves and with checked bounds.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from checker.execution import Execution
from checker.kernel import Expansion, Kernel
from checker.symbolic import Point, SymbolicModel
from checker.units import Sources, load
from spec.catalogue import MODELS
from spec.language.layout import dtype
from spec.language.plain import get, put
from spec.language.sets import contains
from tests import toys
from tests.checker.samples import sample, small_scope

ROOT = Path(__file__).parents[2]
TOYS = [toys.clock(), toys.graph([(0, 1), (1, 2), (2, 0), (3, 3)], [0, 3]), toys.counter(4), toys.queue()]
ALL = [*TOYS, *MODELS]
NEWEST = [*TOYS, *{model.system: model for model in MODELS}.values()]


def each(models):
    return pytest.mark.parametrize("model", models, ids=lambda model: f"{model.system}-{model.variant}")


@each(ALL)
def test_a_refused_step_changes_nothing(model):
    execution = Execution(model, small_scope(model))
    for state in sample(execution, 300):
        for transition in model.transitions:
            for arguments in transition.choices(execution.scope):
                after = state.copy()
                if not transition.function(after, *arguments):
                    assert after == state, f"{transition.name}{arguments}"


@each(NEWEST)
def test_compiled_steps_are_those_of_python(model):
    kernel = Kernel(model, small_scope(model), model.properties_at(small_scope(model)))
    execution, expansion = Execution(model, kernel.scope), Expansion(kernel.compiled)
    states, cuts = sample(execution, 300), Counter()
    expected = {
        (i, transition.name, arguments): execution.key(after)
        for i, state in enumerate(states)
        for transition, arguments, after in execution.successors(state, cuts)
    }
    found = {}
    for successors, origins, numbers in expansion.run(np.array([kernel.packing.pack(s) for s in states])):
        for words, origin, number in zip(successors, origins, numbers):
            transition, arguments = kernel.step(number)
            found[int(origin), transition.name, arguments] = tuple(kernel.packing.unpack(words))
    assert found == expected
    assert dict(zip(kernel.compiled.bounds, expansion.cuts)) == {b: cuts[b] for b in kernel.compiled.bounds}


@each(NEWEST)
def test_compiled_properties_judge_as_python_does(model):
    kernel = Kernel(model, small_scope(model), model.properties_at(small_scope(model)))
    execution, expansion = Execution(model, kernel.scope), Expansion(kernel.compiled)
    for state in sample(execution, 40):
        expansion.clear()
        list(expansion.run(np.array([kernel.packing.pack(state)])))
        verdicts = dict(zip(kernel.compiled.state_names, expansion.judged == 0))
        expected = {p.name: holds == (p.kind == "sometimes") for p, holds in execution.state_verdicts(state)}
        assert verdicts == expected


@each(ALL)
def test_symbolic_steps_are_those_of_python(model):
    scope = small_scope(model)
    execution, symbolic = Execution(model, scope), SymbolicModel(model, scope)
    states = sample(execution, 100)
    points = [Point(symbolic, execution.key(state)) for state in states]
    for transition in model.transitions:
        for arguments in transition.choices(scope):
            paths = symbolic.paths(transition, arguments)
            for state, point in zip(states, points):
                (taken,) = [path for path in paths if point.on(path)]
                after = execution.after(state, transition, arguments)
                assert taken.success == (after is not None)
                assert after is None or point.after(taken) == list(execution.key(after))


def as_records(execution, states):
    """States as one NumPy array."""
    records = np.zeros(len(states), dtype(execution.model.state, execution.scope))
    for record, state in zip(records.view(np.recarray), states):
        for leaf in execution.leaves:
            put(record, leaf.path, get(state, leaf.path))
    return records


def run_transitions_alone(model):
    """Run every compiled transition, called by itself, on sampled states, and compare with Python."""
    execution = Execution(model, small_scope(model))
    states = sample(execution, 60)
    before = as_records(execution, states)
    for transition in model.transitions:
        sources = Sources()
        module = load(sources.texts, sources.add(transition.function))
        compiled = getattr(module, transition.function.__code__.co_name)
        for arguments in transition.choices(execution.scope):
            expected = [execution.after(state, transition, arguments) for state in states]
            after = before.copy()
            enabled = [compiled(record, *arguments) for record in after]
            assert enabled == [state is not None for state in expected]
            wanted = as_records(execution, [new or old for new, old in zip(expected, states)])
            assert after.tobytes() == wanted.tobytes()


def python(code, **environment):
    """The output of a Python process that runs `code` in the repository."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_no_compiled_step_leaves_an_array():
    code = "from tests.checker import test_three_ways as t; [t.run_transitions_alone(m) for m in t.ALL]"
    python(code, NUMBA_BOUNDSCHECK="1")


def unasked(members, x):
    return members >= 0 and x >= 0


def steps_compiled(without_edges):
    """How many steps the compiled graph has from node 0, along its edges or to any node."""
    model = toys.graph([(0, 1), (1, 2)], [0])
    if without_edges:
        model = model.rebound({contains: unasked})
    kernel = Kernel(model, model.scope, model.properties_at(model.scope))
    state = Execution(model, model.scope).initial_states()[0]
    runs = Expansion(kernel.compiled).run(np.array([kernel.packing.pack(state)]))
    return sum(len(origins) for _, origins, _ in runs)


def test_variants_that_share_a_cache_do_not_share_machine_code(tmp_path):
    code = "from tests.checker.test_three_ways import steps_compiled; print(steps_compiled({}))"
    answers = [python(code.format(variant), XDG_CACHE_HOME=str(tmp_path)) for variant in (False, True, False)]
    assert answers == ["1", "3", "1"]
