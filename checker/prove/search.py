"""The search for lemmas: from a step that breaks a property to a clause that excludes the state before it.

A clause says that some literals never hold together. It is a candidate if no sampled reachable state has them all.
Each clause learnt must itself be preserved by all actions, which may need further clauses.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

import z3

from kafkaproof.checker.prove.candidates import Candidates, Clause
from kafkaproof.checker.prove.facts import Family, lemma_family, property_family, ranges_of, sequences_of
from kafkaproof.checker.prove.houdini import Houdini, OutOfWork
from kafkaproof.checker.prove.printed import lemmas
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.sampler import sampling_scopes
from kafkaproof.checker.prove.samples import Samples
from kafkaproof.checker.prove.vocabulary import Vocabulary
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.language.model import Property
from kafkaproof.spec.language.text import function_from

ORDERS, FEW = 2, 6
BEGINNINGS, FAILURES = 5, 50
LEARNING = 0.8


@dataclass
class Search:
    """The clauses `kept`, searched for with `millions` million of z3's steps."""

    relation: Relation
    vocabulary: Vocabulary
    candidates: Candidates
    work: Work
    millions: float
    kept: list[Clause] = field(default_factory=list)

    def run(self, known: list[Family], targets: list[Family], steps: list[Property]) -> None:
        """Learn until all actions keep the targets and steps, or the work is used up."""
        work = self.work.part(self.millions * LEARNING)
        self._houdini, self._causes = (Houdini(self.relation, self.vocabulary, work) for _ in "hc")
        for houdini in (self._causes, self._houdini):
            houdini.know([*known, *targets])
            wanted = houdini.want([*known, *targets], steps)
        try:
            self._learn(wanted)
        except OutOfWork:
            pass
        self._houdini.work = self.work.part(self.millions * (1 - LEARNING))
        try:
            self._houdini.settle()
            self.kept = self._needed(wanted)
        except OutOfWork:
            pass

    def _learn(self, wanted):
        """Learn for one property after another. A hard one is given up, and tried again later with what is kept by
        then.
        """
        self._houdini.add(self.candidates.first())
        for number in range(BEGINNINGS):
            self._chance = random.Random(number)
            for name in list(wanted):
                self._houdini.settle()
                self._causes.add(self._houdini.alive)
                self._goals: dict[str | Clause, z3.BoolRef] = {name: wanted[name]}
                self._refused, self._asked_by = set(), {}
                if self._learn_for(FAILURES << number):
                    wanted = {other: broken for other, broken in wanted.items() if other != name}

    def _learn_for(self, failures):
        """Learn until all goals are kept, the newest first, so that false ones are soon found. Returns False if the
        property is given up, or after too many failing steps.
        """
        first, kept = next(iter(self._goals)), set()
        while goal := next((g for g in reversed(self._goals) if g not in kept), None):
            self.work.tell(f"looking for lemmas for {first}: {len(self._goals) - 1}, and {len(kept)} kept")
            failure = self._houdini.failing(self._goals[goal])
            if failure is None:
                kept.add(goal)
                continue
            causes, shown = self._causes_of(goal, *failure)
            clause = self._excluding(goal, causes)
            if clause:
                self._houdini.add([clause])
                self._goals[clause] = self._houdini.goal(clause)
            else:
                self._give_up(goal, shown)
                kept.clear()
            failures -= 1
            if first not in self._goals or not failures:
                return False
        return True

    def _excluding(self, goal, causes):
        """A clause that excludes one of the causes, preferably one that needs no other. None if all are refused."""
        found = dict.fromkeys(clause for cause in causes for clause in self.candidates.within(cause, self._refused))
        best = sorted(found, key=self.candidates.rank)
        for clause in best[:FEW]:
            self._houdini.add([clause])
            self._houdini.drop(clause)
            if self._houdini.failing(self._houdini.goal(clause), clause) is None:
                return clause
        if not best:
            return None
        self._asked_by.setdefault(best[0], []).append(goal)
        return best[0]

    def _causes_of(self, goal, i, model):
        """Several small sets of literals from which a step breaks a goal, and None; or nothing, and one such set that
        holds in a sample. The literals are about the leaves that matter, or any if these do not suffice.
        """
        if isinstance(goal, Clause):
            self._causes.add([goal])
            self._causes.drop(goal)
        broken = self._goals[goal]
        for texts in (self.candidates.texts, self.candidates.samples.texts):
            leaves = self._causes.spoken_of(texts)
            if texts is self.candidates.texts:
                leaves = self._causes.mattering(i, broken, model, leaves)
            for true in self._causes.true_literals(i, model, texts, leaves):
                orders = [self._chance.sample(list(true.items()), len(true)) for _ in range(ORDERS)]
                causes = [self._causes.cause(i, broken, dict(order)) for order in orders]
                if causes[0] is not None:
                    found = [cause for cause in causes if cause is not None]
                    shown = next((cause for cause in found if not self.candidates.samples.never(cause)), None)
                    return ([], shown) if shown else (found, None)
        return [], None

    def _give_up(self, goal, shown):
        """Give up a goal. If a sample shows the cause of its failure, also give up the clauses that later states break."""
        if shown is not None:
            self.candidates.samples.grow(shown)
        wrong = [g for g in self._goals if isinstance(g, Clause) and not self.candidates.samples.never(g.literals)]
        for given_up in (goal, *wrong):
            if isinstance(given_up, Clause):
                self._refused.add(given_up)
            if given_up in self._goals:
                self._forget(given_up)

    def _forget(self, goal):
        """Drop a goal, and the clauses that only it asked for."""
        del self._goals[goal]
        self._houdini.drop(goal)
        for clause in [c for c, asked_by in self._asked_by.items() if goal in asked_by and c in self._goals]:
            self._asked_by[clause].remove(goal)
            if not self._asked_by[clause]:
                self._forget(clause)

    def _needed(self, wanted):
        """The clauses that the targets need, transitively."""
        goals = [b for b in wanted.values() if self._houdini.failing(b) is None]
        found: dict[Clause, None] = {}
        while goals:
            new = self._houdini.core(goals, found)
            found |= dict.fromkeys(new)
            goals = [self._houdini.goal(c) for c in new]
        return list(found)

    def families(self, relation: Relation, first: int) -> list[Family]:
        """The clauses kept, as lemmas of a relation, numbered from `first`."""
        texts = lemmas(self.kept, self.vocabulary, first)
        return [
            lemma_family(relation, function_from(name, text, self.vocabulary.namespace), "candidate")
            for name, text in texts.items()
        ]


def learn(relation: Relation, lemmas: Iterable, targets: Iterable[str], work: Work, millions: float) -> Search:
    """Search, besides the known lemmas, for lemmas that keep these properties of states and the relation's properties
    of steps, with `millions` million of z3's steps.
    """
    vocabulary, endless = Vocabulary(relation.model), relation.variables.endless
    work.tell("sampling reachable states")
    scopes = sampling_scopes(relation.model, relation.scope, endless)
    search = Search(relation, vocabulary, Candidates(Samples(vocabulary, relation.model, scopes)), work, millions)
    known = [*ranges_of(relation), *sequences_of(relation), *(lemma_family(relation, lemma) for lemma in lemmas)]
    steps = [p for p in relation.properties if p.kind == "step"]
    search.run(known, [property_family(relation, name) for name in targets], steps)
    return search
