"""Every step of every model, run as Python and compiled, leads to the same state (under z3: test_prove_relation.py).

The generated explorer is run for the newest variant of each system; the transitions of all variants are run by
themselves too, and with checked indices.
"""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, is_empty
from tests import toys
from tests.checker.alone import OutOfRange, records, transitions_alone
from tests.checker.samples import sample, small_scope

ROOT = Path(__file__).parents[2]
TOYS = [toys.clock(), toys.graph([(0, 1), (1, 2), (2, 0), (3, 3)], [0, 3]), toys.counter(4), toys.queue()]
ALL = [*TOYS, *all_models()]
NEWEST = [*TOYS, *{model.system: model for model in all_models()}.values()]


def of_their_own(models):
    """Models with those of their transitions that no newer variant has, as test parameters."""
    seen, found = set(), []
    for model in reversed(models):
        own = [t for t in model.transitions if (t.function, id(model.state)) not in seen]
        seen |= {(t.function, id(model.state)) for t in own}
        found += [pytest.param(model, own, id=f"{model.system}-{model.variant}")] if own else []
    return pytest.mark.parametrize(("model", "own"), found[::-1])


def each(models):
    return pytest.mark.parametrize("model", models, ids=lambda model: f"{model.system}-{model.variant}")


@of_their_own(ALL)
def test_a_refused_step_changes_nothing(model, own):
    execution = Execution(model, small_scope(model))
    for state in sample(execution, 30):
        for transition in own:
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


@of_their_own(ALL)
def test_transitions_alone_do_as_python_does_and_leave_no_array(model, own):
    scope = small_scope(model)
    execution, alone = Execution(model, scope), transitions_alone(replace(model, transitions=tuple(own)), scope)
    states = sample(execution, 25)
    before = records(model.state, scope, states)
    for which, transition in enumerate(own):
        for arguments in transition.choices(scope):
            expected = [execution.after(state, transition, arguments) for state in states]
            after, wanted, enabled_at = before.copy(), before.copy(), [i for i, new in enumerate(expected) if new]
            wanted[enabled_at] = records(model.state, scope, [expected[i] for i in enabled_at])
            enabled = [alone.call(which, after[i : i + 1], *arguments) for i in range(len(after))]
            assert enabled == [state is not None for state in expected]
            assert after.tobytes() == wanted.tobytes()


def put_two(s, value: toys.Value):
    """Append a value twice, though there may be room for one.

    Guards:  none.
    Effects: the queue is longer by two.
    Kafka:   none.
    """
    push(s.waiting, value)
    push(s.waiting, value)
    return True


def test_a_step_that_leaves_an_array_is_noticed():
    model = replace(toys.queue(), transitions=(Transition(put_two),), properties=())
    compiled = transitions_alone(model, model.scope)
    state = Execution(model, model.scope).initial_states()[0]
    state.waiting.length = 1
    assert compiled(records(model.state, model.scope, [state]), 1)
    state.waiting.length = 2
    with pytest.raises(OutOfRange, match=r"sequence.slots\[sequence.length\], spec/language/sequences.py:\d+"):
        compiled(records(model.state, model.scope, [state]), 1)


def python(code, **environment):
    """The output of a Python process that runs `code` in the repository."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def unasked(members, x):
    return x >= 0 or is_empty(members)


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
