"""The search for lemmas: Houdini over all clauses of two literals, then over clauses of three that failures ask for.

A clause says that literals never hold together. It is a candidate when no sampled reachable state satisfies them all.
From a step that still breaks a property, the clauses of three literals that exclude the state before it are learnt.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from checker.prove.candidates import Candidates, Clause
from checker.prove.facts import Family, lemma_family
from checker.prove.houdini import Houdini, OutOfWork
from checker.prove.relation import Relation
from checker.prove.vocabulary import Vocabulary, compiled
from checker.prove.work import Work
from spec.language.model import Property

MOST = 200
FEW, DEPTH = 3, 2
LEARNING = 0.8


@dataclass
class Search:
    """Clauses `kept` with so many millions of z3's steps; `counts`: candidates at first, kept of them, learnt later."""

    relation: Relation
    vocabulary: Vocabulary
    candidates: Candidates
    millions: float
    kept: list[Clause] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def run(self, known: list[Family], targets: list[Family], steps: list[Property]) -> None:
        """Learn until targets and steps are kept by all actions, nothing new is learnt, or the work is done."""
        houdini = Houdini(self.relation, self.vocabulary, Work(self.millions * LEARNING))
        houdini.know([*known, *targets])
        wanted = houdini.want([*known, *targets], steps)
        settled: list[Clause] = []
        try:
            first = self.candidates.first()
            houdini.add(first)
            houdini.settle()
            settled = list(houdini.alive)
            self.counts = {"first": len(first), "kept": len(settled), "learnt": 0}
            for fresh in self._learnt(houdini, wanted):
                houdini.add(fresh)
                self.counts["learnt"] += len(fresh)
                houdini.settle()
                settled = list(houdini.alive)
        except OutOfWork:
            houdini.keep_only(settled)
        houdini.work = Work(self.millions * (1 - LEARNING))
        try:
            self.kept = self._needed(houdini, wanted)
        except OutOfWork:
            pass

    def _learnt(self, houdini, wanted):
        """Clauses of three literals that are new, until all that is wanted is kept or there are none."""
        tried: set[Clause] = set()
        while True:
            failures = {name: houdini.failing(broken) for name, broken in wanted.items()}
            fresh = [clause for name, failure in failures.items() if failure
                     for clause in self._excluding(houdini, wanted[name], *failure, DEPTH)]
            if tried.issuperset(fresh):
                return
            tried.update(fresh)
            yield dict.fromkeys(fresh)

    def _excluding(self, houdini, broken, i, model, depth):
        """Clauses that exclude the state before a failing step, those dropped among them with what they lack."""
        true = houdini.true_literals(model, self.candidates.texts)
        found = self.candidates.triples(true, houdini.causes(i, broken, true), MOST)
        for clause in houdini.dropped(true)[:FEW] if depth else ():
            found.append(clause)
            if failure := houdini.failing(houdini.goal(clause), clause):
                found += self._excluding(houdini, houdini.goal(clause), *failure, depth - 1)
        return found

    def _needed(self, houdini, wanted):
        """The clauses that what is wanted needs, those that these need, and so on."""
        goals = [b for b in wanted.values() if houdini.failing(b) is None]
        found: set[Clause] = set()
        while goals:
            new = houdini.core(goals, found)
            found |= new
            goals = [houdini.goal(c) for c in new]
        return sorted(found, key=lambda c: c.literals)

    def families(self, relation: Relation) -> list[Family]:
        """The clauses kept as families of a relation."""
        found = []
        for number, clause in enumerate(self.kept, 1):
            name = f"lemma_{number}"
            function = compiled(name, clause.text(name, self.vocabulary), self.vocabulary.namespace)
            found.append(lemma_family(relation, function, "candidate"))
        return found
