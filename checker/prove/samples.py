"""Which literals hold together in sampled reachable states, by columns of leaves and bit sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from kafkaproof.checker.compile.compiler import Program, UnitError
from kafkaproof.checker.compile.layout import Generated, Words
from kafkaproof.checker.compile.machine import Code
from kafkaproof.checker.compile.text import NUMBER
from kafkaproof.checker.prove.sampler import Sampler
from kafkaproof.checker.prove.vocabulary import Literal, Vocabulary
from kafkaproof.spec.language.domains import Scope, values
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import Plain, plain_type, put

WHOLE, WIDE, GROWTH = 400_000, 8_000, 10_000
MOST_BITS = 1 << 31
CHUNK = 1 << 16
ASK = """
def ask(states, count, s, found):
    for i in range(count):
        unpack(states[i], s)"""


class Predicates:
    """The specification's predicates among the literals, compiled to be evaluated on packed states."""

    def __init__(self, vocabulary: Vocabulary, sampler: Sampler):
        self._vocabulary, self._sampler = vocabulary, sampler
        self.numbers: dict[tuple, int] = {}
        lines = []
        for literal in (literal for literal in vocabulary.literals if literal.is_call):
            for at in bindings(vocabulary, sampler.scope, literal.names):
                called = _at_ids(literal.text, at)
                if self._is_condition(literal, at, called):
                    number = self.numbers[literal.text, *at.values()] = len(self.numbers)
                    lines += [f"        if {called}:", f"            found[i][{number}] = 1"]
        if self.numbers:
            packing, model = sampler.kernel.packing, sampler.kernel.model
            rows = Words(packing.words), NUMBER, model.state, Words(len(self.numbers))
            unpack = Generated.of(packing.unpack_source())
            program = self._program("\n".join([ASK, *lines, "    return 0"]), rows, unpack=unpack)
            self._code = Code(program.text, "ask", speed=0)
            self._state = np.zeros(sampler.kernel.compiled.size, np.uint8)

    def _program(self, text, kinds, **functions):
        program = Program(self._sampler.scope)
        program.export("ask", Generated.of(text, **functions, **self._vocabulary.predicates), kinds)
        return program

    def _is_condition(self, literal, at, called):
        """Whether a call has arguments of the right kinds, and returns True or False."""
        state = self._sampler.kernel.model.state
        if not isinstance(told(self._vocabulary, literal, plain_type(state, self._sampler.scope)(), at), bool):
            return False
        try:
            return bool(self._program(f"def ask(s):\n    if {called}:\n        return 1\n    return 0", (state,)))
        except UnitError:
            return False

    def ask(self, words: np.ndarray) -> dict[tuple, np.ndarray]:
        """Where each predicate holds, packed, by its text and ids."""
        if not self.numbers:
            return {}
        parts = []
        for first in range(0, len(words), CHUNK) or (0,):
            part = np.ascontiguousarray(words[first : first + CHUNK])
            found = np.zeros((len(part), len(self.numbers)), np.uint64)
            self._code.call("ask", part, len(part), self._state, found)
            parts.append(found.astype(bool))
        return dict(zip(self.numbers, np.packbits(np.concatenate(parts), axis=0).T.copy()))


def _at_ids(text, at):
    """The text of a literal with ids in the place of a and b."""
    return re.sub(r"\b[ab]\b", lambda name: str(at[name[0]]), text)


def bindings(vocabulary: Vocabulary, scope: Scope, names: Iterable[str]) -> Iterator[dict[str, int]]:
    """All values of names at a scope: ids (a and b differ) and indices."""
    return vocabulary.bindings(names, lambda domain: values(domain, scope))


def told(vocabulary: Vocabulary, literal: Literal, state: Plain, at: dict[str, int]):
    """The value of a literal in a state, or in states that are columns; None if it is not a condition there."""
    try:
        return vocabulary.functions[literal.text](state, *(at.get(name, 0) for name in vocabulary.names))
    except (TypeError, IndexError, AttributeError):
        return None


class Block:
    """States of one scope as columns; a literal at some ids and indices has one bit for each state, packed."""

    def __init__(self, vocabulary: Vocabulary, sampler: Sampler, predicates: Predicates, words: np.ndarray):
        self.vocabulary, self.sampler, self.words, self.count = vocabulary, sampler, words, len(words)
        packing = sampler.kernel.packing
        self._state = plain_type(sampler.kernel.model.state, sampler.scope)()
        for leaf in packing.leaves:
            put(self._state, leaf.path, np.int16(leaf.low))
        for place in packing.places:
            shifted = words[:, place.word] >> np.uint64(place.shift) & np.uint64(place.mask)
            put(self._state, place.leaf.path, shifted.astype(np.int16) + np.int16(place.leaf.low))
        self._bits = predicates.ask(words)

    def bindings(self, names: Iterable[str]) -> Iterator[dict[str, int]]:
        """All values of names."""
        return bindings(self.vocabulary, self.sampler.scope, names)

    def bits(self, text: str, binding: dict[str, int]) -> np.ndarray:
        """Where a literal, or the opposite of one, holds."""
        literal, holds = self.vocabulary.texts[text]
        at = (literal.text, *(binding[name] for name in binding if name in literal.names))
        if at not in self._bits:
            column = told(self.vocabulary, literal, self._state, binding)
            self._bits[at] = np.packbits(np.broadcast_to(column, self.count))
        return self._bits[at] if holds else ~self._bits[at]

    def showing(self, texts: Iterable[str], binding: dict[str, int]) -> np.ndarray:
        """Where all of these hold."""
        found = np.bitwise_and.reduce([self.bits(text, binding) for text in texts])
        if self.count % 8:
            found[-1] &= 0xFF << (8 - self.count % 8) & 0xFF
        return found


class Samples:
    """Which literals, and opposites of literals, hold together in reachable states of some scopes."""

    def __init__(self, vocabulary: Vocabulary, model: Model, scopes: list[Scope]):
        self.vocabulary = vocabulary
        small, large = (Sampler(model, scope) for scope in scopes)
        self._predicates = {sampler: Predicates(vocabulary, sampler) for sampler in (small, large)}
        columns = sum(1 for literal in vocabulary.literals for _ in bindings(vocabulary, scopes[-1], literal.names))
        most = min(WHOLE, MOST_BITS // columns)
        self.blocks = [
            self._block(small, small.states(small.initial, most)),
            self._block(large, large.states(large.initial, most, WIDE)),
        ]
        self._grown: dict[Sampler, list[np.ndarray]] = {small: [], large: []}
        self._later: dict[Sampler, Block] = {}
        calls = {text for text, *_ in self._predicates[small].numbers}
        asked = {l.text for l in vocabulary.literals if l.text in calls or not l.is_call and self._is_of_something(l)}
        self.texts = [text for text, (literal, _) in vocabulary.texts.items() if literal.text in asked]

    def _is_of_something(self, literal):
        """Whether there is a value for each name in a literal."""
        return all(any(True for _ in block.bindings(literal.names)) for block in self.blocks)

    def _block(self, sampler, words):
        return Block(self.vocabulary, sampler, self._predicates[sampler], words)

    def never(self, texts: Iterable[str]) -> bool:
        """Whether all of these hold in no state, for any ids and indices."""
        return self._where(texts) is None

    def together(self, some: Iterable[str], texts: Iterable[str]) -> frozenset[str] | None:
        """Those of the texts that hold in one state where `some` of them hold; None if there is none."""
        names = frozenset().union(*(self.vocabulary.texts[text][0].names for text in texts))
        found = self._where(some, names)
        if found is None:
            return None
        block, at, binding = found
        return frozenset(t for t in texts if block.bits(t, binding)[at // 8] >> (7 - at % 8) & 1)

    def often(self) -> dict[str, float]:
        """The fraction of states in which each literal holds, over all ids and indices."""
        found = {}
        for text in self.texts:
            literal, holds = self.vocabulary.texts[text]
            if holds:
                counted = [
                    (int(np.bitwise_count(block.showing([text], at)).sum()), block.count)
                    for block in self.blocks
                    for at in block.bindings(literal.names)
                ]
                found[text] = sum(n for n, _ in counted) / sum(n for _, n in counted)
                found[literal.negated] = 1 - found[text]
        return found

    def signature(self, text: str) -> tuple:
        """A value that is the same for literals that hold in the same states, for all ids and indices."""
        return tuple(
            hash(block.showing([text], at).tobytes())
            for block in self.blocks
            for at in block.bindings(self.vocabulary.names)
        )

    def grow(self, texts: Iterable[str]) -> None:
        """Add states reachable from one in which all of these hold."""
        block, at, _ = self._where(texts)
        sampler = block.sampler
        self._grown[sampler].append(sampler.states(block.words[at : at + 1], GROWTH))
        self._later[sampler] = self._block(sampler, np.concatenate(self._grown[sampler]))

    def _where(self, some, names=frozenset()):
        """A state in which all of these hold: its block, its number, and the values of names; None if there is none."""
        names = names.union(*(self.vocabulary.texts[text][0].names for text in some))
        for block in (*self.blocks, *self._later.values()):
            for binding in block.bindings(names):
                showing = block.showing(some, binding)
                if showing.any():
                    byte = int(np.flatnonzero(showing)[0])
                    return block, 8 * byte + 8 - int(showing[byte]).bit_length(), binding
        return None
