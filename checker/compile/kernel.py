"""Compiling a model at a scope: a generated function that judges and expands packed states.

The generated `expand` unpacks each state, evaluates every property of states, runs every transition with every choice
of arguments, packs the successors, and evaluates every property of steps. It is the only code that runs for each state;
`table` removes duplicates from its output, and `routing` distributes it. With symmetry, it packs the representative of
a state's orbit.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from kafkaproof.checker.compile.compiler import Program
from kafkaproof.checker.compile.expressions import COPY, OUT_OF_RANGE
from kafkaproof.checker.compile.guards import early_guards
from kafkaproof.checker.compile.layout import Generated, Words
from kafkaproof.checker.compile.packing import Packing
from kafkaproof.checker.compile.record import dtype
from kafkaproof.checker.compile.representatives import Representatives
from kafkaproof.checker.compile.text import NUMBER
from kafkaproof.checker.model.kept import kept_for, require_accepted_once
from kafkaproof.spec.language.domains import Scope, values
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.model import LIVENESS, Model, Property, Transition
from kafkaproof.spec.language.renaming import Symmetry


@dataclass(frozen=True)
class Compiled:
    """What is sent to executors: LLVM's text (compressed), and the names and sizes needed to read the results.

    `entry`, a hash of the text, identifies the specification and scope. `state_names` and
    `step_names` order the rows of the tallies; a state takes `size` bytes while transitions run. `ties` is the table
    of `representatives`, empty without a symmetry. `places` are those of indices in the text.
    """

    packed_text: bytes
    entry: str
    size: int
    words: int
    most_successors: int
    state_names: tuple[str, ...]
    step_names: tuple[str, ...]
    transition_names: tuple[str, ...]
    bounds: tuple[str, ...]
    ties: tuple[int, ...]
    places: tuple[str, ...]

    @property
    def text(self) -> str:
        """LLVM's text of the functions `exported`."""
        return zlib.decompress(self.packed_text).decode()

    @property
    def exported(self) -> tuple[str, ...]:
        """The functions that are called from outside."""
        return ("expand", "represent_all") if self.ties else ("expand",)


class Kernel:
    """A model at a scope, packed and ready to be compiled; decodes packed states and step numbers.

    With `symmetric`, a state represents its orbit under renaming of the model's interchangeable ids.
    """

    def __init__(self, model: Model, scope: Scope, properties: tuple[Property, ...], symmetric: bool = False):
        require_accepted_once(model, scope, properties)
        self.model, self.scope = model, scope
        self.symmetry = Symmetry(model, scope, model.interchangeable if symmetric else {})
        self.packing = Packing(leaves(model.state, scope))
        self.representatives = Representatives(self.symmetry, self.packing) if self.symmetry.count > 1 else None
        self.state_properties = [p for p in properties if p.kind in ("always", "sometimes")]
        self.step_properties = [p for p in properties if p.kind == "step"]
        self.liveness = [p for p in properties if p.kind in LIVENESS and not symmetric]
        counts = [_count(t, scope) for t in model.transitions]
        self.bases = [0, *accumulate(counts)]
        self.compiled = kept_for(model, properties, ("kernel", sorted(scope.items()), symmetric), self._generate)

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

    @cached_property
    def _early(self):
        return [early_guards(t.function, _several(t, self.scope)) for t in self.model.transitions]

    def _generate(self):
        program, state = Program(self.scope), self.model.state
        program.export("expand", self._expand(), _kinds(state, self.packing.words))
        if self.representatives:
            rows = Words(self.packing.words)
            program.export(
                "represent_all", self._represent_all(self.representatives), (rows, NUMBER, state, Words(), Words())
            )
        text = program.text.encode()
        return Compiled(
            zlib.compress(text, 1),
            hashlib.sha256(text).hexdigest(),
            dtype(state, self.scope).itemsize,
            self.packing.words,
            self.bases[-1],
            tuple(p.name for p in self.state_properties),
            tuple(p.name for p in self.step_properties),
            tuple(t.name for t in self.model.transitions),
            tuple(self.packing.bounds),
            tuple(self.representatives.ties) if self.representatives else (),
            tuple(program.places),
        )

    def _expand(self):
        """The function `expand`, with all that it calls."""
        called = {
            "copy": COPY,
            "out_of_range": OUT_OF_RANGE,
            "unpack": Generated.of(self.packing.unpack_source()),
            "pack": self._pack(),
            "judge": Generated.of("\n".join(self._judging_steps()), **self._predicates("q", self.step_properties)),
            "refuse": Generated.of(REFUSE),
            **{f"g{index}_{known}": guard for index, found in enumerate(self._early) for known, guard in found.items()},
            **self.functions(),
        }
        lines = [EXPAND_HEAD, *self._judging(), *self._stepping(), EXPAND_TAIL]
        return Generated.of("\n".join(lines), **called)

    def _pack(self):
        """The function that packs the state after a step, or reports that it is out of range."""
        called = self.packing.called
        if not self.representatives:
            return Generated.of(self.packing.pack_source(), **called).alone
        within = Generated.of(self.packing.within_source(), **called).alone
        return Generated.of(PACK_REPRESENTATIVE, within=within, represent=self.representatives.represent())

    def _represent_all(self, representatives):
        """The function `represent_all`, which packs the representatives of states in their place."""
        unpack = Generated.of(self.packing.unpack_source())
        return Generated.of(REPRESENT_ALL, unpack=unpack, represent=representatives.represent())

    def functions(self) -> dict[str, Callable]:
        """The specification's functions by the names of generated text: t0 ..., p0 ... of states, q0 ... of steps."""
        return {
            **{f"t{i}": t.function for i, t in enumerate(self.model.transitions)},
            **self._predicates("p", self.state_properties),
            **self._predicates("q", self.step_properties),
        }

    def _predicates(self, prefix, properties):
        return {f"{prefix}{i}": p.predicate for i, p in enumerate(properties)}

    def _judging_steps(self):
        """Text of the function that evaluates the properties of all steps."""
        yield "def judge(s, t, i, number, broken):"
        for i, prop in enumerate(self.step_properties):
            if not prop.of:
                yield f"    if broken[{i}][0] < 0 and not q{i}(s, t):"
                yield f"        broken[{i}][0] = i"
                yield f"        broken[{i}][1] = number"
        yield "    return 0"

    def _judging(self):
        for i, prop in enumerate(self.state_properties):
            yield f"        if judged[{i}] < 0 and {'not ' if prop.kind == 'always' else ''}p{i}(s):"
            yield f"            judged[{i}] = i"

    def _stepping(self):
        for index, transition in enumerate(self.model.transitions):
            guards = {known: f"g{index}_{known}" for known in self._early[index]}
            loops, indent, names, number = nested_choices(transition, self.bases[index], self.scope, guards)
            yield from loops
            yield f"{indent}if t{index}({', '.join(['t', *names])}):"
            yield f"{indent}    code = pack(t, s, states[i], out[n]{', trial, ties' if self.representatives else ''})"
            yield f"{indent}    number = {number}"
            yield f"{indent}    if code == 0:"
            yield f"{indent}        judge(s, t, i, number, broken)"
            yield from self._step_properties(transition, names, indent + " " * 8)
            yield f"{indent}        origins[n] = i"
            yield f"{indent}        numbers[n] = number"
            yield f"{indent}        n += 1"
            yield f"{indent}        coverage[{index}] += 1"
            yield f"{indent}    else:"
            yield f"{indent}        refuse(code, i, number, cuts, fault)"
            yield f"{indent}    moves += 1"
            yield f"{indent}    copy(t, s)"

    def _step_properties(self, transition, names, indent):
        for i, prop in enumerate(self.step_properties):
            if prop.of and prop.concerns(transition):
                yield f"{indent}if broken[{i}][0] < 0 and not q{i}({', '.join(['s', 't', *names])}):"
                yield f"{indent}    broken[{i}][0] = i"
                yield f"{indent}    broken[{i}][1] = number"


REFUSE = """
def refuse(code, i, number, cuts, fault):
    if code > 0:
        cuts[code - 1] += 1
    elif fault[0] < 0:
        fault[0] = i
        fault[1] = number
    return 0
"""
PACK_REPRESENTATIVE = """
def pack(t, s, before, words, trial, ties):
    code = within(t, s)
    if code == 0:
        represent(t, words, trial, ties)
    return code
"""
REPRESENT_ALL = """
def represent_all(states, count, s, trial, ties):
    for i in range(count):
        unpack(states[i], s)
        represent(s, states[i], trial, ties)
    return 0
"""
EXPAND_HEAD = """
def expand(states, first, end, room, most, following, s, t, out, origins, numbers, judged, broken, coverage, cuts,
           fault, dead, trial, ties):
    n = 0
    for i in range(first, end):
        if n + room > most:
            following[0] = i
            return n
        moves = 0
        unpack(states[i], s)
        copy(t, s)"""
EXPAND_TAIL = """
        if moves == 0 and dead[0] < 0:
            dead[0] = i
        place = out_of_range()
        if place != 0 and fault[0] < 0:
            fault[0] = i
            fault[1] = 0 - place
    following[0] = end
    return n
"""


def _kinds(state, words):
    """The kinds of the arguments of `expand`."""
    single, rows = Words(), Words(words)
    return (
        rows,
        NUMBER,
        NUMBER,
        NUMBER,
        NUMBER,
        single,
        state,
        state,
        rows,
        single,
        single,
        single,
        Words(2),
        single,
        single,
        single,
        single,
        single,
        single,
    )


def nested_choices(
    transition: Transition, base: int, scope: Scope, guards: Mapping[int, str] = {}
) -> tuple[list[str], str, list[str], str]:
    """Text of the loops over a transition's arguments: (lines, indent within, names, the step's number).

    The functions called `guards` are asked when so many arguments are chosen.
    """
    lines, indent, names, offset = [], " " * 8, [], ""
    for chosen, (name, domain) in enumerate(transition.arguments.items()):
        if chosen in guards:
            lines.append(f"{indent}if {guards[chosen]}({', '.join(['t', *names])}):")
            indent += "    "
        allowed = values(domain, scope)
        lines.append(f"{indent}for {name}_ in range({allowed.start}, {allowed.stop}):")
        indent += "    "
        names.append(f"{name}_")
        offset = f"({offset or '0'}) * {len(allowed)} + ({name}_ - ({allowed.start}))"
    return lines, indent, names, f"{base} + {offset or '0'}"


def count_steps(model: Model, scope: Scope) -> int:
    """How many steps there are: each transition with each choice of its arguments."""
    return sum(_count(transition, scope) for transition in model.transitions)


def _several(transition, scope):
    """How many arguments there are, up to the last one with several values."""
    sizes = [len(values(domain, scope)) for domain in transition.arguments.values()]
    return max((i + 1 for i, size in enumerate(sizes) if size > 1), default=0)


def _count(transition, scope):
    count = 1
    for domain in transition.arguments.values():
        count *= len(values(domain, scope))
    return count
