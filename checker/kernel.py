"""Compiling a model at a scope: one generated function that judges and expands packed states.

The generated `expand` unpacks each state, asks every property of states, runs every transition with every
choice of arguments, packs what it leads to, and asks every property of steps. It is the only code that
runs for each state; `table` deduplicates and `frontier` routes what it yields.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from checker.packing import Packing
from checker.units import HEADER, Sources, compile_lock, load
from spec.language.domains import Scope, values
from spec.language.layout import dtype, leaves
from spec.language.model import Model, Property, Transition
from spec.language.rules import check_rules


@dataclass(frozen=True)
class Compiled:
    """What travels to executors: generated modules, and the names and sizes to read results by.

    `state_names` and `step_names` order the rows of the tallies; `bases` holds the first step number of
    each transition, and one past the last.
    """

    texts: dict[str, str]
    entry: str
    dtype: np.dtype
    words: int
    most_successors: int
    state_names: tuple[str, ...]
    step_names: tuple[str, ...]
    transition_names: tuple[str, ...]
    bounds: tuple[str, ...]


class Kernel:
    """A model at a scope, packed and ready to be compiled; decodes packed states and step numbers."""

    def __init__(self, model: Model, scope: Scope, properties: tuple[Property, ...]):
        self.model, self.scope = model, scope
        self.packing = Packing(leaves(model.state, scope))
        self.state_properties = [p for p in properties if p.kind != "step"]
        self.step_properties = [p for p in properties if p.kind == "step"]
        counts = [_count(t, scope) for t in model.transitions]
        self.bases = [0, *accumulate(counts)]
        for function in [t.function for t in model.transitions] + [p.predicate for p in properties]:
            check_rules(function)
        self.compiled = self._generate()

    def step(self, number: int) -> tuple[Transition, tuple[int, ...]]:
        """The transition and arguments of a step number."""
        index = max(i for i, base in enumerate(self.bases[:-1]) if base <= number)
        transition, rest = self.model.transitions[index], number - self.bases[index]
        arguments = []
        for domain in reversed(transition.arguments.values()):
            allowed = values(domain, self.scope)
            rest, position = divmod(rest, len(allowed))
            arguments.append(allowed[position])
        return transition, tuple(reversed(arguments))

    def _generate(self):
        sources = Sources()
        lines = ["import numpy as np", HEADER, self.packing.pack_source(), self.packing.unpack_source()]
        imports = self._imports(sources)
        body = [EXPAND_HEAD, *self._judging(), *self._stepping(), "    return len(states), n", ""]
        text = "\n".join([*imports, *lines, REFUSE, *self._judging_steps(), *body])
        texts, entry = sources.seal(sources.add_text(text))
        return Compiled(
            texts, entry, dtype(self.model.state, self.scope), self.packing.words, self.bases[-1],
            tuple(p.name for p in self.state_properties), tuple(p.name for p in self.step_properties),
            tuple(t.name for t in self.model.transitions), tuple(self.packing.bounds),
        )

    def _imports(self, sources):
        numbered = [(f"t{i}", t.function, INLINED) for i, t in enumerate(self.model.transitions)]
        numbered += [(f"p{i}", p.predicate, PLAIN) for i, p in enumerate(self.state_properties)]
        numbered += [(f"q{i}", p.predicate, PLAIN) for i, p in enumerate(self.step_properties)]
        added = [(sources.add(f, decorator), f.__code__.co_name, name) for name, f, decorator in numbered]
        return [f"from {unit} import {function} as {name}" for unit, function, name in added]

    def _judging_steps(self):
        """Text of the function that asks the properties of every step."""
        yield from [PLAIN, "def judge(s, t, i, number, broken):"]
        for i, prop in enumerate(self.step_properties):
            if not prop.of:
                yield f"    if broken[{i}, 0] < 0 and not q{i}(s, t):"
                yield f"        broken[{i}, 0] = i"
                yield f"        broken[{i}, 1] = number"
        yield "    return 0"

    def _judging(self):
        for i, prop in enumerate(self.state_properties):
            yield f"        if judged[{i}] < 0 and {'not ' if prop.kind == 'always' else ''}p{i}(s[0]):"
            yield f"            judged[{i}] = i"

    def _stepping(self):
        for index, transition in enumerate(self.model.transitions):
            indent, names, number = " " * 8, [], str(self.bases[index])
            offset = ""
            for name, domain in transition.arguments.items():
                allowed = values(domain, self.scope)
                yield f"{indent}for {name}_ in range({allowed.start}, {allowed.stop}):"
                indent += "    "
                names.append(f"{name}_")
                offset = f"({offset or '0'}) * {len(allowed)} + ({name}_ - ({allowed.start}))"
            call = ", ".join(["t[0]", *names])
            yield f"{indent}if t{index}({call}):"
            yield f"{indent}    code = pack(t[0], out[n])"
            yield f"{indent}    number = {number} + {offset or '0'}"
            yield f"{indent}    if code == 0:"
            yield f"{indent}        judge(s[0], t[0], i, number, broken)"
            yield from self._step_properties(transition, names, indent + " " * 8)
            yield f"{indent}        origins[n] = i"
            yield f"{indent}        numbers[n] = number"
            yield f"{indent}        n += 1"
            yield f"{indent}        coverage[{index}] += 1"
            yield f"{indent}    else:"
            yield f"{indent}        refuse(code, i, number, cuts, fault)"
            yield f"{indent}    moves += 1"
            yield f"{indent}    t[0] = s[0]"
        yield "        if moves == 0 and dead[0] < 0:"
        yield "            dead[0] = i"

    def _step_properties(self, transition, names, indent):
        for i, prop in enumerate(self.step_properties):
            if prop.of and prop.concerns(transition):
                yield f"{indent}if broken[{i}, 0] < 0 and not q{i}({', '.join(['s[0]', 't[0]', *names])}):"
                yield f"{indent}    broken[{i}, 0] = i"
                yield f"{indent}    broken[{i}, 1] = number"


PLAIN, INLINED = "@njit", "@njit(forceinline=True)"
REFUSE = '''
@njit
def refuse(code, i, number, cuts, fault):
    if code > 0:
        cuts[code - 1] += 1
    elif fault[0] < 0:
        fault[0] = i
        fault[1] = number
    return 0
'''
EXPAND_HEAD = '''
@njit(cache=True)
def expand(states, first, room, s, t, out, origins, numbers, judged, broken, coverage, cuts, fault, dead):
    n = 0
    for i in range(first, len(states)):
        if n + room > len(out):
            return i, n
        moves = 0
        unpack(states[i], s[0])
        t[0] = s[0]'''


def _count(transition, scope):
    count = 1
    for domain in transition.arguments.values():
        count *= len(values(domain, scope))
    return count


class Expansion:
    """Runs the compiled `expand` over arrays of packed states and keeps the tallies."""

    def __init__(self, compiled: Compiled, capacity: int = 1 << 14):
        self.compiled = compiled
        self._s = np.zeros(1, compiled.dtype)
        self._t = np.zeros(1, compiled.dtype)
        size = capacity + compiled.most_successors
        self._out = np.zeros((size, compiled.words), np.uint64)
        self._origins, self._numbers = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.coverage = np.zeros(len(compiled.transition_names), np.int64)
        self.cuts = np.zeros(max(1, len(compiled.bounds)), np.int64)
        self.clear()
        with compile_lock(compiled.entry):
            self._expand = load(compiled.texts, compiled.entry).expand
            self._expand_from(np.zeros((0, compiled.words), np.uint64), 0)

    def clear(self) -> None:
        """Forget the tallies, for instance before the next level."""
        self.coverage[:] = 0
        self.cuts[:] = 0
        self.judged = np.full(max(1, len(self.compiled.state_names)), -1, np.int64)
        self.broken = np.full((max(1, len(self.compiled.step_names)), 2), -1, np.int64)
        self.fault = np.full(2, -1, np.int64)
        self.dead = np.full(1, -1, np.int64)

    def run(self, states: np.ndarray):
        """Judge and expand `states`, shape (n, words); yields (successors, origins, numbers) by batches.

        `origins` are indices into `states`, `numbers` step numbers; the arrays are reused by the next
        batch. Afterwards `judged` holds, for each property of states, the first index that violates it
        (or reaches it, for *sometimes*), `broken` the first (index, step number) for each property of
        steps, `fault` the first step that left a declared range, and `dead` the first state without a step;
        -1 for none.
        """
        first = 0
        while first < len(states):
            first, n = self._expand_from(states, first)
            yield self._out[:n], self._origins[:n], self._numbers[:n]

    def _expand_from(self, states, first):
        return self._expand(
            states, first, self.compiled.most_successors, self._s, self._t, self._out, self._origins,
            self._numbers, self.judged, self.broken, self.coverage, self.cuts, self.fault, self.dead,
        )


def compile_all(kernels: list[Compiled]) -> None:
    """Compile kernels, one after the other, into the cache of this machine."""
    for compiled in kernels:
        Expansion(compiled)
