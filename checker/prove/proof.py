"""A proof of a model's properties from start to end: facts, lemmas, search, verdicts."""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import z3

from kafkaproof.checker.explore.progress import silent
from kafkaproof.checker.prove.cores import Cores
from kafkaproof.checker.prove.cti import Cti, smallest
from kafkaproof.checker.prove.facts import Family, lemma_family, property_family, ranges_of, sequences_of
from kafkaproof.checker.prove.induction import Prover
from kafkaproof.checker.prove.question import Question
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.steps import States, fails, prove_step
from kafkaproof.checker.prove.symmetry import representatives
from kafkaproof.checker.prove.variables import bounds_of, sorts_of
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import SAFETY, Model, Property

PROVED, NOT_INDUCTIVE, NOT_DECIDED = "proved", "not inductive", "not decided"
COUNTS = "it counts what has no end"
RANGES = "declared ranges"
SEARCHED = (2, 3)


@dataclass
class Verdict:
    """The verdict on a property. `lemmas` are the names of those that its proof needs; `where` is an action."""

    name: str
    kind: str
    verdict: str
    instances: int = 0
    lemmas: list[str] = field(default_factory=list)
    where: str = ""
    cti: Cti | None = None


@dataclass
class Proof:
    """All verdicts on a model, the lemmas found (as text), the transitions never enabled, and the cost.

    `seconds` is the whole time. Of it, `relation_seconds` pass until the relation is built, `induction_seconds` until
    the facts are proved (that included), `search_seconds` in the search for lemmas, `lemmas_seconds` to find which ones
    are needed; the rest is steps and counterexamples. `processor_seconds` is the processor time of this process. `work`
    is in millions of z3's steps.
    """

    relation: Relation
    verdicts: list[Verdict] = field(default_factory=list)
    lemmas: list[Verdict] = field(default_factory=list)
    found: dict[str, str] = field(default_factory=dict)
    never_enabled: list[str] = field(default_factory=list)
    seconds: float = 0.0
    processor_seconds: float = 0.0
    relation_seconds: float = 0.0
    induction_seconds: float = 0.0
    lemmas_seconds: float = 0.0
    search_seconds: float = 0.0
    work: float = 0.0


def prove(
    model: Model,
    scope: Scope,
    properties: tuple[Property, ...],
    lemmas: tuple,
    most: float,
    searching: float = 0.0,
    any_size: bool = False,
    kept: frozenset[str] = frozenset(),
    note: Callable[[str], object] = silent,
) -> Proof:
    """Prove properties of every state and every step, with `any_size` for any number of brokers.

    `most` is the work that z3 may do in all, `searching` the part of it for lemmas, in millions of steps (see `work`).
    The bounds in `kept` end where the scope says. A lemma may be a property that others need. `note` is called with
    what is being done.

    Raises StyleError and UserError.
    """
    began, busy = time.monotonic(), time.process_time()
    endless = (bounds_of(model) | sorts_of(model) if any_size else bounds_of(model)) - kept
    proof = _Run(model, scope, endless, properties, lemmas, Work(most, note)).proof(began, searching)
    proof.processor_seconds = time.process_time() - busy
    return proof


class _Run:
    def __init__(self, model, scope, endless, properties, lemmas, work):
        work.tell("reading the actions")
        self.properties = [p for p in properties if p.kind in SAFETY]
        self.relation = Relation(model, scope, endless, properties=tuple(self.properties))
        self.work = work
        self.base = ranges_of(self.relation) + sequences_of(self.relation)
        asked = {p.name for p in self.properties}
        self.lemmas = [lemma_family(self.relation, f) for f in lemmas if f.__name__ not in asked]
        self.targets = [property_family(self.relation, p.name) for p in self.properties if p.kind == "always"]
        self._owed: list[tuple[Verdict, Iterable[str], Iterable[tuple[Question, z3.BoolRef]]]] = []

    def proof(self, began, searching):
        proof = Proof(self.relation, relation_seconds=time.monotonic() - began)
        self.outcome = self._induction(searching)
        proof.induction_seconds = time.monotonic() - began
        open_before = searching and (self._open() or any(v.failed for v in map(self._step, self.properties) if v))
        if open_before and self.work.left() > 0:
            found = time.monotonic()
            self._search(min(searching, self.work.left()))
            proof.search_seconds = time.monotonic() - found
        proof.verdicts = [self._ranges(), self._indices(), *(self._verdict(p) for p in self.properties)]
        proof.lemmas = [self._judged(f, "lemma") for f in self.lemmas]
        told = time.monotonic()
        self._tell_lemmas()
        proof.lemmas_seconds = time.monotonic() - told
        needed = {name for verdict in proof.verdicts for name in verdict.lemmas}
        proof.found = {f.name: _source(f) for f in self.outcome.proved if f.kind == "candidate" and f.name in needed}
        proof.never_enabled = self._never_enabled()
        proof.seconds, proof.work = time.monotonic() - began, self.work.done()
        return proof

    def _induction(self, searching):
        """Prove everything given. One action represents all that are alike, except where lemmas are searched for: these
        may distinguish ids.
        """
        given, actions = [*self.lemmas, *self.targets], self.relation.actions
        self.work.tell("which actions are alike")
        little = self.work.part(self.work.patience)
        first = actions if searching else representatives(self.relation, self.base, given, little)
        self.prover = Prover(self.relation, self.work, first)
        outcome = self.prover.prove_together([*self.base, *given])
        if len(first) < len(actions) and {f.name for f in self.base} & {*outcome.failed, *outcome.undecided}:
            self.prover = Prover(self.relation, self.work)
            outcome = self.prover.prove_together([*self.base, *given])
        return outcome

    def _step(self, prop):
        return None if prop.kind != "step" else prove_step(self.prover, prop, self.outcome.proved)

    def _open(self):
        names = {f.name for f in [*self.base, *self.targets]}
        return [f for name, f in self.outcome.failed.items() if name in names and f.action is not None]

    def _search(self, most):
        """Search for lemmas with two ids of each sort, then with three; they are proved with as many as asked."""
        given, learnt = [*self.base, *self.lemmas, *self.targets], []
        all_ = {f.name for f in self.base} | {p.name for p in self.properties}
        for ids in SEARCHED:
            learnt += self._learnt(ids, most / len(SEARCHED), learnt)
            self.outcome = self.prover.prove_together([*given, *learnt])
            learnt = [f for f in learnt if f in self.outcome.proved]
            if self._settled() >= all_:
                break
        self._keep_few(given, learnt)

    def _learnt(self, ids, most, before):
        """The lemmas found with `ids` ids of each sort, besides those known before."""
        from kafkaproof.checker.prove.search import (
            learn,
        )  # imports Numba, for which a proof without search need not wait

        model, endless = self.relation.model, self.relation.variables.endless - sorts_of(self.relation.model)
        narrow = Relation(
            model,
            {**self.relation.scope, **dict.fromkeys(sorts_of(model), ids)},
            endless,
            properties=tuple(self.properties),
        )
        lemmas = [f.source for f in [*self.lemmas, *before] if f.name not in self.outcome.failed]
        search = learn(narrow, lemmas, [target.name for target in self.targets], self.work, most)
        return search.families(self.relation, len(before) + 1)

    def _keep_few(self, given, learnt):
        """Drop lemmas that are not needed for what is proved, with half of the work that is left."""
        reserve = self.work.left() / 2
        verdicts = [self._ranges(), self._indices(), *map(self._verdict, self.properties)]
        self._tell_lemmas()
        needed = {name for verdict in verdicts for name in verdict.lemmas}
        learnt = [f for f in learnt if f.name in needed]
        settled = self._settled()
        for family in sorted(learnt, key=lambda f: -len(_source(f))):
            if self.work.left() < reserve:
                break
            self.work.tell(f"leaving out lemmas that are not needed: {len(learnt)} left")
            before, rest = self.outcome, [f for f in learnt if f is not family]
            self.outcome = self.prover.prove_together([*given, *rest])
            if settled <= self._settled():
                learnt = rest
            else:
                self.outcome = before
        self.outcome = self.prover.prove_together([*given, *learnt])

    def _settled(self):
        """The names of the properties and declared ranges that are proved."""
        names = {f.name for f in self.outcome.proved if f.kind == "property" or f.is_declared}
        steps = [p for p in self.properties if p.kind == "step"]
        proofs = {p.name: prove_step(self.prover, p, self.outcome.proved) for p in steps}
        return names | {name for name, step in proofs.items() if not step.failed and not step.undecided}

    def _ranges(self):
        verdicts = [self._judged(family, "range") for family in self.base]
        bad = next((v for v in verdicts if v.verdict != PROVED), None)
        total = Verdict(RANGES, "range", PROVED, sum(v.instances for v in verdicts))
        if bad:
            total.verdict, total.where, total.cti = bad.verdict, f"{bad.name}: {bad.where}", bad.cti
        else:
            self._owed.append((total, [family.name for family in self.base], ()))
        return total

    def _indices(self):
        """The verdict that every index is in range, and every member of a set an id, in actions, properties, initial
        states.
        """
        found = Verdict("indices in range", "range", PROVED)
        states = States(self.relation, self.outcome.proved, self.work)
        for where, answer in self._owed_indices(states):
            found.instances += 1
            if answer != z3.unsat:
                found.verdict, found.where = NOT_INDUCTIVE if answer == z3.sat else NOT_DECIDED, where
                return found
        self._owed.append((found, states.used, ()))
        return found

    def _owed_indices(self, states):
        """Each place where an index or an id must be in range, with z3's answer to whether it may be out of range."""
        relation = self.relation
        for initial in relation.initial:
            for condition, where in initial.obligations:
                yield f"the initial state: {where}", fails(condition, self.work)
        for condition, where in relation.obligations:
            yield where, states.always(condition, [])
        for action in relation.actions:
            for condition, where in action.obligations:
                yield f"{action.name}: {where}", states.always(condition, action.symbols)
            for prop in self.properties:
                if prop.kind == "step" and prop.concerns(action.transition):
                    for condition, where in relation.step_obligations(prop, action):
                        taken = z3.Implies(action.guard, condition)
                        yield f"{action.name}: {where}", states.always(taken, action.symbols)

    def _verdict(self, prop):
        if prop.kind == "always":
            return self._judged(next(t for t in self.targets if t.name == prop.name), "always")
        step = prove_step(self.prover, prop, self.outcome.proved)
        found = Verdict(prop.name, "step", PROVED, step.instances)
        if step.undecided:
            found.verdict, found.where = NOT_DECIDED, step.undecided
        elif step.failed:
            found.verdict, found.where = NOT_INDUCTIVE, step.failed.where
            found.cti = smallest(self.relation, step.failed, self.outcome.proved, self.work)
        else:
            self._owed.append((found, (), step.asked))
        return found

    def _judged(self, family, kind):
        found = Verdict(family.name, kind, PROVED, len(family.facts))
        if family.name in self.outcome.undecided:
            found.verdict, found.where = NOT_DECIDED, self.outcome.undecided[family.name]
        elif (failure := self.outcome.failed.get(family.name)) and failure.action is None and family.gathers:
            found.verdict, found.where = NOT_DECIDED, COUNTS
        elif failure:
            found.verdict, found.where = NOT_INDUCTIVE, failure.where
            found.cti = smallest(self.relation, failure, [*self.outcome.proved, failure.family], self.work)
        else:
            self._owed.append((found, [family.name], ()))
        return found

    def _tell_lemmas(self):
        """Note the lemmas that each verdict needs, once all are known. To find a small set may take longer than the
        proofs, so it gets no more than a tenth of the work.
        """
        cores = Cores(self.prover, self.outcome.proved, self.work.part(min(self.work.patience, self.work.left())))
        for verdict, names, asked in self._owed:
            self.work.tell(f"which lemmas {verdict.name} needs")
            verdict.lemmas = cores.lemmas({*names, *cores.of_step(asked)})
        self._owed.clear()

    def _never_enabled(self):
        """The transitions that are enabled in no state that satisfies all that is proved: the proof says nothing of
        them.
        """
        never, names = [], [family.name for family in self.outcome.proved]
        for transition in self.relation.model.transitions:
            asked = [q for q in self.prover.questions if q.action.transition is transition]
            if all(question.reach([], names, self.work) == z3.unsat for question in asked):
                never.append(transition.name)
        return never


def _source(family: Family) -> str:
    """The text of the function that a family was made of."""
    return "".join(linecache.getlines(family.source.__code__.co_filename)) if family.source else ""
