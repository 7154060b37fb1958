"""The search for lemmas: from each counterexample to induction, the shortest clauses that exclude it.

A clause says that two or three literals never hold together. It is a candidate when no sampled reachable
state satisfies them all, and the counterexample does. Houdini keeps of all candidates the largest inductive
part; what the others lack is learnt in turn from the counterexamples to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import z3

from checker.prove.cti import Cti, smallest
from checker.prove.facts import Family, lemma_family
from checker.prove.induction import Outcome, Prover
from checker.prove.relation import Relation
from checker.prove.steps import prove_step
from checker.prove.vocabulary import Samples, compiled
from checker.prove.work import Work
from spec.language.model import Property

SIGNS = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}
MOST = 24
MOST_LITERALS = 140


@dataclass(frozen=True)
class Clause:
    """Literals that never hold together, as text over ``s``, ``a`` and ``b``."""

    literals: tuple[str, ...]

    @property
    def ids(self) -> list[str]:
        """The ids that it speaks of."""
        marks = {name: (f"[{name}]", f" {name})", f" {name},", f"== {name}", f"!= {name}") for name in "ab"}
        return [n for n, forms in marks.items() if any(l.endswith(f) or f + " " in l or f in l and f[-1] in "]),"
                                                       for l in self.literals for f in forms)]

    def text(self, name: str, sort_name: str) -> str:
        """The lemma as a function."""
        ids = self.ids
        parameters = ", ".join(["s", *(f"{i}: {sort_name}" for i in ids)])
        parts = (["a == b"] if len(ids) > 1 else []) + [negated(l) for l in self.literals]
        line = f"    return {' or '.join(parts)}"
        if len(line) > 110:
            joined = "\n        or ".join(parts)
            line = f"    return (\n        {joined}\n    )"
        return f"def {name}({parameters}):\n{line}\n"


def negated(text: str) -> str:
    """The negation of a literal."""
    if text.startswith("not "):
        return text.removeprefix("not ")
    words = text.rsplit(" ", 2)
    if len(words) == 3 and words[1] in SIGNS:
        return f"{words[0]} {SIGNS[words[1]]} {words[2]}"
    return f"not {text}"


@dataclass
class Search:
    """Candidates learnt so far, and where they come from."""

    relation: Relation
    samples: Samples
    prover: Prover
    work: Work
    pool: dict[Clause, Family] = field(default_factory=dict)
    kept: list[Family] = field(default_factory=list)
    _formulas: dict = field(default_factory=dict)

    def run(self, base: list[Family], targets: list[Family], steps: list[Property], rounds: int = 25) -> Outcome:
        """Learn until targets and steps are proved, nothing new is learnt, or the work is done."""
        names = {family.name for family in targets}
        for _ in range(rounds):
            outcome = self.prover.prove_together([*base, *targets, *self.pool.values()])
            missing = [f for name, f in outcome.failed.items() if name in names]
            proofs = [prove_step(self.prover, prop, outcome.proved) for prop in steps]
            missing += [step.failed for step in proofs if step.failed]
            if not missing or self.work.left() < 0:
                break
            others = [f for name, f in outcome.failed.items() if name not in names]
            learnt = sum(self._learn_from(f, outcome, MOST) for f in missing)
            learnt += sum(self._learn_from(f, outcome, 4) for f in others[:12] if self.work.left() > 0)
            if not learnt:
                break
            if not outcome.undecided:
                self.kept = [f for f in outcome.proved if f.kind == "candidate"]
        if not outcome.undecided:
            self.kept = [f for f in outcome.proved if f.kind == "candidate"]
        return outcome

    def _learn_from(self, failure, outcome, most):
        if failure.action is None:
            return 0
        before = [] if failure.family.kind == "step" else [failure.family]
        cti = smallest(self.relation, failure, [*outcome.proved, *before], self.work)
        clauses = self.learn(cti, most) if cti else []
        for clause in clauses:
            name = f"lemma_{len(self.pool) + 1}"
            function = compiled(name, clause.text(name, self.samples.sort_name), self.samples.names)
            self.pool[clause] = lemma_family(self.relation, function, "candidate")
        return len(clauses)

    def learn(self, cti: Cti, most: int) -> list[Clause]:
        """New clauses that exclude a counterexample, those of fewer and commoner literals first."""
        for focused, size in ((True, 2), (True, 3), (False, 2), (False, 3)):
            found = {c: None for pair in self._pairs(cti) for c in self._clauses(cti, pair, focused, size)}
            fresh = [c for c in found if c not in self.pool]
            if fresh:
                counts = self.samples.counts
                fresh.sort(key=lambda c: (len(c.literals), -min(counts[l] for l in c.literals)))
                return fresh[:most]
        return []

    def _pairs(self, cti):
        n = self.relation.scope[self.samples.sort]
        used = [a for a in cti.action.arguments if isinstance(a, int) and a < n] + list(range(n))
        used = list(dict.fromkeys(used))
        return [(a, b) for a in used[:3] for b in used[:3] if a != b]

    def _clauses(self, cti, pair, focused, size):
        """Clauses of at most `size` literals that never hold together in the samples, but in this state."""
        holds = self.samples.holds
        true = self._true_literals(cti, pair, focused)
        true.sort(key=lambda text: -self.samples.counts[text])
        del true[MOST_LITERALS:]
        yield from (_canonical((t,)) for t in true if not holds[t])
        true = [t for t in true if holds[t]]
        for pair_of in combinations(true, 2):
            if not holds[pair_of[0]] & holds[pair_of[1]]:
                yield _canonical(pair_of)
        if size == 3:
            yield from self._triples(true, holds)

    def _triples(self, true, holds):
        count = 0
        for i, one in enumerate(true):
            for j in range(i + 1, len(true)):
                both = holds[one] & holds[true[j]]
                if not both:
                    continue
                for k in range(j + 1, len(true)):
                    third = holds[true[k]]
                    if not both & third and holds[one] & third and holds[true[j]] & third:
                        yield _canonical((one, true[j], true[k]))
                        count += 1
                        if count > 400:
                            return

    def _true_literals(self, cti, pair, focused):
        found = []
        for literal in self.samples.literals:
            formula = self._formula(literal, pair)
            if focused and not self.relation.reads(formula) <= cti.paths:
                continue
            holds = z3.is_true(cti.model.eval(formula, model_completion=True))
            found.append(literal.text if holds else literal.negated)
        return found

    def _formula(self, literal, pair):
        key = literal.text, pair
        if key not in self._formulas:
            self._formulas[key] = self.relation.predicate(self.samples.functions[literal.text], *pair)
        return self._formulas[key]


def _canonical(literals):
    """A clause that does not depend on the order of literals, nor on which id is called a."""
    swapped = tuple(sorted(_swapped(l) for l in literals))
    return Clause(min(tuple(sorted(literals)), swapped))


def _swapped(text):
    marks = (("[a]", "[b]"), (", a)", ", b)"), (", a,", ", b,"), ("== a", "== b"), ("!= a", "!= b"))
    for one, other in marks:
        text = text.replace(one, "\0").replace(other, one).replace("\0", other)
    return text
