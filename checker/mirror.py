"""Testing that ids are interchangeable: a step of a renamed state is the renamed step of that state.

Before a run with symmetry, some thousand reachable states are each renamed by a random permutation. Every step of
both, with arguments renamed too, must lead to states that are each other's renaming, or be disabled or cut in both;
every property must answer the same. States come from a search that keeps some of each level's new ones, as many
by each transition, so that it gets deep; numbers are drawn from a fixed seed, so that it is the same every time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from checker.compiler import Generated, Program
from checker.compiler_expressions import COPY, Words
from checker.compiler_text import NUMBER
from checker.errors import UserError
from checker.execution import Execution
from checker.kernel import Expansion, Kernel, nested_choices
from checker.machine import Code
from checker.table import Table
from spec.language.domains import values
from spec.language.plain import values_of

SEED, WIDTH, MOST = 1, 1_000, 50_000


class AsymmetryError(UserError):
    """A model tells interchangeable ids apart; the message names the step or the property that does."""


@dataclass(frozen=True)
class Tested:
    """How many states were renamed, and the transitions that none of their steps took."""

    states: int
    untested: tuple[str, ...]


def require_symmetry(kernel: Kernel) -> Tested:
    """Test a kernel's model; raises AsymmetryError, or UserError where no ids are declared interchangeable."""
    model = kernel.model
    if not model.interchangeable:
        raise UserError(f"{model.system}: no ids are declared interchangeable; check it without --symmetry")
    if not kernel.representatives:
        return Tested(0, ())
    mirror, tested = Mirror(kernel), 0
    for states in sampled(kernel):
        mirror.compare(states)
        tested += len(states)
    names = kernel.compiled.transition_names
    return Tested(tested, tuple(name for name, taken in zip(names, mirror.taken) if not taken))


def sampled(kernel: Kernel):
    """Reachable packed states by level, shape (n, words): some of each level, the same every time."""
    expansion, table, random = Expansion(kernel.compiled), Table(kernel.compiled.words), np.random.default_rng(SEED)
    initial = Execution(kernel.model, kernel.scope).initial_states()
    states, total = expansion.representatives(np.array([kernel.packing.pack(s) for s in initial], np.uint64)), 0
    table.insert(states)
    while len(states) and total < MOST:
        yield states
        total += len(states)
        fresh, steps = [states[:0]], [np.zeros(0, np.int64)]
        for successors, _, numbers in expansion.run(states):
            new = table.insert(successors)
            fresh.append(successors[new])
            steps.append(numbers[new])
        states = _some(np.concatenate(fresh), np.searchsorted(kernel.bases, np.concatenate(steps), "right"), random)


def _some(states, transitions, random):
    """`WIDTH` of the states at random, of each transition as many as of any other, as far as there are."""
    shuffled = random.permutation(len(states))
    by_transition = shuffled[np.argsort(transitions[shuffled], kind="stable")]
    sizes = np.unique(transitions, return_counts=True)[1]
    ranks = np.concatenate([np.zeros(0, np.int64), *map(np.arange, sizes)])
    return states[by_transition[np.argsort(ranks, kind="stable")[:WIDTH]]]


class Mirror:
    """The compiled comparison of states, steps and properties with their renamings."""

    def __init__(self, kernel: Kernel):
        self._kernel, compiled = kernel, kernel.compiled
        self._random = np.random.default_rng(SEED)
        self._images = kernel.symmetry.images[1:]
        self._records = [np.zeros(compiled.size, np.uint8) for _ in range(4)]
        self._rows = [np.zeros(compiled.words, np.uint64) for _ in range(2)]
        self._judged = np.full(max(1, len(kernel.state_properties)), -1, np.int64)
        self._broken = np.full((max(1, len(kernel.step_properties)), 2), -1, np.int64)
        self._step = np.full(2, -1, np.int64)
        self.taken = np.zeros(len(compiled.transition_names), np.int64)
        program, state, single = Program(kernel.scope, checked=True), kernel.model.state, Words()
        program.export("mirror", _mirror(kernel), (
            Words(compiled.words), NUMBER, Words(len(kernel.symmetry.blocks)), state, state, state, state, single,
            single, single, Words(2), single, single,
        ))
        self._code = Code(program.text, "mirror", speed=0)

    def compare(self, states: np.ndarray) -> None:
        """Compare packed states, shape (n, words), each with one random renaming; raises AsymmetryError."""
        states = np.ascontiguousarray(states, np.uint64)
        chosen = [self._images[i] for i in self._random.integers(len(self._images), size=len(states))]
        order, sorts = self._kernel.representatives.order, self._kernel.symmetry.blocks
        orders = np.array([[order(images[sort]) for sort in sorts] for images in chosen], np.int64)
        self._code.call("mirror", states, len(states), orders, *self._records, *self._rows, self._judged, self._broken,
                        self._step, self.taken)
        self._refuse(states, chosen)

    def _refuse(self, states, chosen):
        kernel = self._kernel
        model, sorts = kernel.model, " and ".join(kernel.symmetry.blocks)
        told = f"{model.system}/{model.variant} is not symmetric in its {sorts}: "
        if self._step[0] >= 0:
            i, number = map(int, self._step)
            raise AsymmetryError(told + self._difference(states[i], chosen[i], *kernel.step(number)))
        for prop, (i, number) in zip(kernel.step_properties, self._broken):
            if i >= 0:
                transition, arguments = kernel.step(int(number))
                step = Execution(model, kernel.scope).step(transition, arguments)
                raise AsymmetryError(told + _changes(prop, f" of {step}", kernel.symmetry.renaming(chosen[i])))
        for prop, i in zip(kernel.state_properties, self._judged):
            if i >= 0:
                raise AsymmetryError(told + _changes(prop, "", kernel.symmetry.renaming(chosen[i])))

    def _difference(self, words, images, transition, arguments):
        """What a step does that its renaming does not."""
        kernel, renaming = self._kernel, self._kernel.symmetry.renaming(images)
        execution = Execution(kernel.model, kernel.scope)
        before = tuple(kernel.packing.unpack(words))
        other = renaming.arguments(transition, arguments)
        steps = [execution.step(transition, given) for given in (arguments, other)]
        ends = [execution.after(execution.from_values(state), transition, given)
                if given in transition.choices(kernel.scope) else None
                for state, given in ((before, arguments), (renaming.values(before), other))]
        if None in ends:
            enabled, disabled = reversed(steps) if ends[0] is None else steps
            return f"{enabled} is enabled, but with {renaming} {disabled} is not; check it without --symmetry"
        wanted, found = renaming.values(tuple(values_of(ends[0]))), tuple(values_of(ends[1]))
        leaf, there, here = next(
            (named.leaf, a, b) for named, a, b in zip(kernel.symmetry.leaves, wanted, found) if a != b)
        return (f"{steps[0]}, with {renaming}, would set {leaf.expression} to {there}, "
                f"but {steps[1]} sets it to {here}; check it without --symmetry")


def _changes(prop, where, renaming):
    return f"property {prop.name}{where} answers otherwise with {renaming}; check it without --symmetry"


def _mirror(kernel):
    """The function `mirror`, with all that it calls."""
    forms, packing = kernel.representatives, kernel.packing
    outside = Generated.of(packing.range_source())
    called = {
        "copy": COPY, "unpack": Generated.of(packing.unpack_source()), "renamed": forms.renamed(),
        "within": Generated.of(packing.within_source(), what_is_outside=outside),
        "pack": Generated.of(packing.pack_source(), what_is_outside=outside),
        **kernel.functions(),
    }
    alike = Generated.of("\n".join(_alike(kernel)), **called)
    return Generated.of("\n".join(_mirror_text(kernel)), alike=alike, **called)


def _alike(kernel):
    """Text of ``alike(x, y, t, u, ORDERS, here, there)``: 1 for steps that are alike, 2 where they are cut, else 0."""
    orders = ", ".join(kernel.representatives.orders)
    yield f"def alike(x, y, t, u, {orders}, here, there):"
    yield "    if not x or not y:"
    yield "        return 0"
    yield "    inside = within(t) == 0"
    yield "    if (pack(u, there) == 0) != inside:"
    yield "        return 0"
    yield "    if not inside:"
    yield "        return 2"
    yield f"    renamed(t, {orders}, here)"
    yield f"    return {' and '.join(f'here[{word}] == there[{word}]' for word in range(kernel.packing.words))}"


def _mirror_text(kernel):
    forms = kernel.representatives
    orders = ", ".join(forms.orders)
    yield "def mirror(states, count, orders, s, p, t, u, here, there, judged, broken, step, taken):"
    yield "    for i in range(count):"
    yield from (f"        {sort} = orders[i][{column}]" for column, sort in enumerate(forms.orders))
    yield from (f"    {line}" for line in forms.unfold())
    yield "        unpack(states[i], s)"
    yield f"        renamed(s, {orders}, here)"
    yield "        unpack(here, p)"
    for i, _ in enumerate(kernel.state_properties):
        yield f"        if judged[{i}] < 0 and (not p{i}(s)) != (not p{i}(p)):"
        yield f"            judged[{i}] = i"
    yield "        copy(t, s)"
    yield "        copy(u, p)"
    for index, transition in enumerate(kernel.model.transitions):
        opening, indent, names, number = nested_choices(transition, kernel.bases[index], kernel.scope)
        others = [forms.image(domain, name) for domain, name in zip(transition.declared.values(), names)]
        yield from opening
        yield f"{indent}x = t{index}({', '.join(['t', *names])})"
        yield f"{indent}y = False"
        yield f"{indent}if {_is_choice(transition, others, kernel.scope)}:"
        yield f"{indent}    y = t{index}({', '.join(['u', *others])})"
        yield f"{indent}if x or y:"
        yield f"{indent}    taken[{index}] += 1"
        yield f"{indent}    same = alike(x, y, t, u, {orders}, here, there)"
        yield f"{indent}    if same == 0 and step[0] < 0:"
        yield f"{indent}        step[0] = i"
        yield f"{indent}        step[1] = {number}"
        yield from _step_properties(kernel, transition, names, others, number, indent)
        yield f"{indent}    copy(t, s)"
        yield f"{indent}    copy(u, p)"
    yield "    return 0"


def _is_choice(transition, others, scope):
    """Text that asks whether arguments are within what a transition is narrowed to."""
    narrowed = [(other, values(transition.only[name], scope))
                for name, other in zip(transition.arguments, others) if name in transition.only]
    return " and ".join(f"{allowed.start} <= {other} < {allowed.stop}" for other, allowed in narrowed) or "True"


def _step_properties(kernel, transition, names, others, number, indent):
    for i, prop in enumerate(kernel.step_properties):
        if prop.concerns(transition):
            one = ", ".join(["s", "t", *(names if prop.of else ())])
            other = ", ".join(["p", "u", *(others if prop.of else ())])
            yield f"{indent}    if same == 1 and broken[{i}][0] < 0 and (not q{i}({one})) != (not q{i}({other})):"
            yield f"{indent}        broken[{i}][0] = i"
            yield f"{indent}        broken[{i}][1] = {number}"
