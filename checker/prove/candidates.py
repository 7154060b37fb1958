"""Candidates for lemmas: clauses that no sampled state breaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from kafkaproof.checker.prove.samples import Samples
from kafkaproof.checker.prove.vocabulary import Vocabulary


@dataclass(frozen=True)
class Clause:
    """Literals that never hold together, as text."""

    literals: tuple[str, ...]

    def names(self, vocabulary: Vocabulary) -> list[str]:
        """The ids and indices that occur in it."""
        used = frozenset().union(*(vocabulary.texts[text][0].names for text in self.literals))
        return [name for name in vocabulary.names if name in used]


class Candidates:
    """Clauses that samples never show. `texts` are the literals that tell states apart, but of two numbers that are
    always equal, one is spoken of.
    """

    def __init__(self, samples: Samples):
        self.samples, self.vocabulary = samples, samples.vocabulary
        self._often = samples.often()
        spare = self._spare()
        kept = [text for text in samples.texts if not self._speaks_of(text, spare)]
        self.texts = [text for text in kept if 0 < self._often[text] < 1]
        self._never = [t for t, often in self._often.items() if not often and (t in kept or self._is_equality(t))]

    def first(self) -> list[Clause]:
        """Literals that never hold; and for literals that hold in the same states, that each holds where the first
        does.
        """
        same: dict[tuple, list[str]] = {}
        for text in sorted(self.texts, key=lambda text: (len(text), text)):
            same.setdefault(self.samples.signature(text), []).append(text)
        alike = ((first, self.vocabulary.opposite(other)) for first, *others in same.values() for other in others)
        return list(dict.fromkeys(map(self._canonical, [*((text,) for text in self._never), *alike])))

    def within(self, literals: list[str], refused: set[Clause]) -> Iterator[Clause]:
        """Clauses of a few of these literals that samples never show together, without those refused."""
        found: list[set[str]] = []
        shown: list[frozenset[str]] = []
        for size in range(1, len(literals) + 1):
            if found and size > len(found[0]) + 1:
                return
            for some in combinations(literals, size):
                if any(map(set(some).issuperset, found)) or any(map(set(some).issubset, shown)):
                    continue
                if (together := self.samples.together(some, literals)) is not None:
                    shown.append(together)
                elif (clause := self._canonical(some)) not in refused:
                    found.append(set(some))
                    yield clause

    def rank(self, clause: Clause) -> tuple:
        """The sort key: short clauses first, then those whose rarest literal is most common."""
        return len(clause.literals), -min(self._often[text] for text in clause.literals), clause.literals

    def _spare(self):
        """Terms that always equal another term of the same ids."""
        return {
            literal.sides[2]
            for literal in self.vocabulary.literals
            if self._is_equality(literal.negated) and self._often.get(literal.text) == 1
        }

    def _is_equality(self, text):
        """Whether a literal is the opposite of an equality of two numbers of the same ids."""
        literal, is_positive = self.vocabulary.texts[text]
        names = {term.text: term.names for term in self.vocabulary.terms}
        if is_positive or not literal.sides or literal.sides[1] != "==":
            return False
        left, _, right = literal.sides
        return left in names and right in names and names[left] == names[right]

    def _speaks_of(self, text, spare):
        sides = self.vocabulary.texts[text][0].sides
        return sides and any(side.removesuffix(" + 1") in spare for side in sides)

    def _canonical(self, literals):
        """The normal form of a clause, independent of the order of literals and of which id is called a."""
        swapped = tuple(sorted(map(self.vocabulary.swapped, literals)))
        return Clause(min(tuple(sorted(literals)), swapped))
