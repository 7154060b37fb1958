"""A small set of lemmas that suffices for a proof: from unsat cores, leaving out one family after another."""

from __future__ import annotations

from collections.abc import Iterable

import z3

from kafkaproof.checker.prove.facts import Family
from kafkaproof.checker.prove.induction import Prover
from kafkaproof.checker.prove.question import LITTLE, Question
from kafkaproof.checker.prove.work import Work


class Cores:
    """The families that the proof of each family uses, asked of each action again, within `work`."""

    def __init__(self, prover: Prover, families: list[Family], work: Work):
        self._questions, self._work = prover.questions, work
        self._kinds = {family.name: family.kind for family in families}
        self._declared = {family.name for family in families if family.is_declared}
        self._found: dict[str, set[str]] = {}

    def lemmas(self, names: set[str]) -> list[str]:
        """The lemmas that the proofs of these families use, transitively."""
        reached, stack = set(), sorted(names)
        while stack:
            name = stack.pop()
            if name not in reached and name in self._kinds:
                reached.add(name)
                stack += sorted(self._of(name))
        return sorted(name for name in reached if self._kinds[name] in ("lemma", "candidate"))

    def of_step(self, asked: Iterable[tuple[Question, z3.BoolRef]]) -> set[str]:
        """The families from which no action can do what is asked."""
        core = set()
        for question, broken in asked:
            question.reach([broken], self._names(), self._work, core | self._costless())
            core |= {*question.core}
        return core

    def _of(self, name):
        """The families from which every action keeps this one; the declared ones are asked together."""
        together = self._declared if name in self._declared else {name}
        key = min(together)
        if key not in self._found:
            core = set()
            for question in self._questions:
                goals = [goal for goal in question.goals if goal in together]
                if goals:
                    core |= self._used(question, goals, core | together | self._costless())
            self._found[key] = core
        return self._found[key]

    def _costless(self):
        """The declared families, if their proof is known to need no lemma: they can be used freely."""
        known = self._found.get(min(self._declared)) if self._declared else None
        return self._declared if known is not None and known <= self._declared else set()

    def _names(self):
        """All families: first the declared ones, then those that other proofs are known to use."""
        known = set().union(*self._found.values())
        return sorted(self._kinds, key=lambda name: (name not in self._declared, name not in known))

    def _used(self, question, goals, free):
        """Families that suffice for some goals: the declared ones, those that others use, or a few of all."""
        names, little = self._names(), len(goals) * LITTLE
        few = {*goals, *self._declared}
        known = few.union(free, *self._found.values())
        for some, most in ((few, little / 10), (known, little), (names, None)):
            if question.ask([n for n in names if n in some], goals, self._work, free, most) == z3.unsat:
                return {*question.core}
        return question.enough(names, goals)
