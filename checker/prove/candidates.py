"""Candidates for lemmas: clauses of one, two or three literals that no sampled state breaks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from checker.prove.samples import Samples
from checker.prove.vocabulary import Vocabulary


@dataclass(frozen=True)
class Clause:
    """Literals that never hold together, as text."""

    literals: tuple[str, ...]

    def names(self, vocabulary: Vocabulary) -> list[str]:
        """The ids and indices that it speaks of."""
        used = frozenset().union(*(vocabulary.texts[text][0].names for text in self.literals))
        return [name for name in vocabulary.names if name in used]

    def text(self, name: str, vocabulary: Vocabulary) -> str:
        """The lemma as a function."""
        names = self.names(vocabulary)
        parameters = ", ".join(["s", *(f"{n}: {vocabulary.shown[n]}" for n in names)])
        parts = (["a == b"] if {"a", "b"} <= set(names) else []) + [vocabulary.opposite(l) for l in self.literals]
        line = f"    return {' or '.join(parts)}"
        if len(line) > 110:
            joined = "\n        or ".join(parts)
            line = f"    return (\n        {joined}\n    )"
        return f"def {name}({parameters}):\n{line}\n"


class Candidates:
    """Clauses of the literals that differ in the samples; of two numbers that are always equal, one is spoken of."""

    def __init__(self, samples: Samples):
        self.vocabulary, holds = samples.vocabulary, samples.holds
        spare = self._spare(holds)
        kept = [text for text in holds if not self._speaks_of(text, spare)]
        self._same: dict[bytes, list[str]] = {}
        for text in kept:
            if holds[text].any() and not holds[text].all():
                self._same.setdefault(holds[text].tobytes(), []).append(text)
        for texts in self._same.values():
            texts.sort(key=lambda text: (len(text), text))
        self.texts = [texts[0] for texts in self._same.values()]
        self._matrix = np.array([holds[text] for text in self.texts], dtype=np.float32)
        self._together = self._matrix @ self._matrix.T
        never = [t for t in holds if not holds[t].any() and (t in kept or self._is_equality(t))]
        self._first = [(text,) for text in never] + list(self._equivalences()) + [
            (self.texts[i], self.texts[j]) for i, j in np.argwhere(np.triu(self._together == 0, 1))]

    def first(self) -> list[Clause]:
        """All clauses of one literal or two."""
        trivial = {(t, self.vocabulary.opposite(t)) for t in self.texts}
        return list(dict.fromkeys(self._canonical(c) for c in self._first if c not in trivial))

    def triples(self, true: list[str], pivots: set[str], most: int) -> list[Clause]:
        """Clauses of three literals true in some state, two of them pivots; those of the commonest literals first."""
        chosen = [i for i, text in enumerate(self.texts) if text in set(true)]
        matrix, together = self._matrix[chosen], self._together[np.ix_(chosen, chosen)]
        counts, found = np.diag(together), {}
        for i, j in combinations([n for n, c in enumerate(chosen) if self.texts[c] in pivots], 2):
            both = np.flatnonzero(matrix[i] * matrix[j])
            never = ~matrix[:, both].any(axis=1) & (together[i] > 0) & (together[j] > 0) & bool(len(both))
            found |= {frozenset((i, j, k)): -counts[[i, j, k]].min() for k in np.flatnonzero(never)}
        best = sorted(found, key=lambda ijk: (found[ijk], sorted(ijk)))[:most]
        return list(dict.fromkeys(self._canonical([self.texts[chosen[n]] for n in ijk]) for ijk in best))

    def _spare(self, holds):
        """Terms that always equal another one of the same ids."""
        spare = set()
        for literal in self.vocabulary.literals:
            if self._is_equality(literal.negated) and literal.text in holds and holds[literal.text].all():
                spare.add(literal.sides[2])
        return spare

    def _is_equality(self, text):
        """Whether it is the opposite of an equality of two numbers of the same ids."""
        literal, is_positive = self.vocabulary.texts[text]
        names = {term.text: term.names for term in self.vocabulary.terms}
        if is_positive or not literal.sides or literal.sides[1] != "==":
            return False
        left, _, right = literal.sides
        return left in names and right in names and names[left] == names[right]

    def _speaks_of(self, text, spare):
        sides = self.vocabulary.texts[text][0].sides
        return sides and any(side.removesuffix(" + 1") in spare for side in sides)

    def _equivalences(self):
        """Of literals that hold in the same rows, that each holds where the first does."""
        for first, *others in self._same.values():
            for other in others:
                yield first, self.vocabulary.opposite(other)

    def _canonical(self, literals):
        """A clause that does not depend on the order of literals, nor on which id is called a."""
        swapped = tuple(sorted(map(self.vocabulary.swapped, literals)))
        return Clause(min(tuple(sorted(literals)), swapped))
