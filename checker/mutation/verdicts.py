"""What exploration shows of a model with one change: noticed and by what, different in its counts only, or silent."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.check.local import Explored, explore_here
from kafkaproof.checker.compile.compiler import UnitError
from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.checker.mutation.changes import Change, mutated
from kafkaproof.checker.mutation.probe import probing
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import SAFETY, STANDARD, Model
from kafkaproof.spec.language.subset import RuleError

STILLBORN, NOTICED, NEVER_TAKEN, COUNTS = "stillborn", "noticed", "never taken", "counts only"
UNREACHED, SILENT = "not reached", "silent"
QUICK, MORE_FAULTS = "quick", "quick with one more fault"
FAULTS = {"faults", "changes"}
"""The names of bounds on faults and other outside events; a system has one of them."""
LARGEST, LARGEST_OF_OTHERS = 1_000_000, 500_000
"""Scopes with more states than this are not explored: `quick` and `standard`, and others."""
ROOM = 2
"""A mutant with this many times the states of the model is given up as differing in its counts."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a change: `kind`, at the scope called `scope`.

    `by` names what noticed it, the transitions that are never taken, or the counts that differ.
    """

    kind: str
    by: str = ""
    scope: str = ""


@dataclass(frozen=True)
class Original:
    """The unchanged model at the scope called `name`."""

    model: Model
    name: str
    scope: Scope
    explored: Explored

    @property
    def violated(self) -> set[str]:
        """The properties that are violated without a change."""
        return set(self.explored.traces)

    def asked(self, changed: Model) -> Model:
        """The changed model without the safety properties that are violated anyway, where exploration would stop."""
        known = tuple(p for p in changed.properties if p.kind not in SAFETY or p.name not in self.violated)
        return replace(changed, properties=known)


def originals(model: Model) -> list[Original]:
    """A model at each named scope, and at `quick` with one more fault, unless it is too large there."""
    quick = model.scopes[QUICK]
    scopes = {QUICK: quick, STANDARD: model.scope}
    for bound in FAULTS & set(quick):
        scopes[MORE_FAULTS] = {**quick, bound: quick[bound] + 1}
    others = {name: at for name, at in model.scopes.items() if name not in scopes}
    return [*_explored(model, scopes, LARGEST), *_explored(model, others, LARGEST_OF_OTHERS)]


def _explored(model, scopes, largest):
    for name, at in scopes.items():
        found = explore_here(model, at, limits=Limits(states=largest))
        if found.outcome.finished:
            yield Original(model, name, at, found)


def judge(originals: list[Original], change: Change) -> Verdict:
    """Explore the model with this change at one scope after another, until something notices it."""
    told = None
    for original in originals:
        try:
            verdict = _at(original, change)
        except (RuleError, UnitError) as error:
            return Verdict(STILLBORN, str(error))
        except (UserError, IndexError):
            return Verdict(NOTICED, "range", original.name)
        if verdict.kind in (STILLBORN, NOTICED):
            return verdict
        if verdict.kind == NEVER_TAKEN or verdict.kind == COUNTS and not told:
            told = told if told and told.kind == NEVER_TAKEN else verdict
    if told:
        return told
    reached = next((original.name for original in originals if _is_reached(original, change)), "")
    return Verdict(SILENT if reached else UNREACHED, scope=reached)


def _at(original, change):
    """The verdict at one scope."""
    changed = original.asked(mutated(original.model, change))
    limits = Limits(states=ROOM * original.explored.outcome.distinct + 1000)
    explored = explore_here(changed, original.scope, keep_going=False, limits=limits)
    by = _noticed(original, explored, {p.name for p in changed.properties})
    if by:
        return Verdict(NOTICED, by, original.name)
    idle = _never_taken(original, explored)
    if idle:
        return Verdict(NEVER_TAKEN, ", ".join(idle), original.name)
    counts = _differing(original.explored.outcome, explored.outcome)
    return Verdict(COUNTS, counts, original.name) if counts else Verdict(SILENT, scope=original.name)


def _noticed(original, explored, asked):
    """The property, the goal or the range that distinguishes the changed model; empty if none does."""
    violated = set(explored.traces)
    if violated - original.violated:
        return min(violated - original.violated)
    if not explored.outcome.finished:
        return ""
    missed = _reached(original.explored) - _reached(explored)
    mended = (original.violated & asked) - violated
    return f"goal {min(missed)}" if missed else f"no longer violated: {min(mended)}" if mended else ""


def _reached(explored):
    """The goals that are reached, and the liveness properties that are not vacuous, as in the verdict of `check`."""
    return explored.outcome.reached | {d.prop.name for d in explored.decided if not d.vacuous}


def _never_taken(original, explored):
    """The transitions that the model takes and the changed one never does, which the verdict of `check` reports."""
    taken = original.explored.outcome.coverage
    if not explored.outcome.finished:
        return []
    return sorted(name for name, times in explored.outcome.coverage.items() if times == 0 and taken[name] > 0)


def _differing(outcome, changed):
    """Which counts differ; empty if none."""
    names = ("distinct", "generated", "depth", "coverage", "cuts")
    differing = [name for name in names if getattr(outcome, name) != getattr(changed, name)]
    return ", ".join(differing)


def _is_reached(original, change):
    """Whether a step of the model reaches the statement; one without a possible probe counts as reached."""
    probe = probing(original.model, change)
    if probe is None:
        return True
    probe = replace(probe, properties=())
    try:
        explored = explore_here(probe, original.scope, limits=Limits(states=LARGEST))
    except (RuleError, UserError, IndexError):
        return True
    return bool(_differing(original.explored.outcome, explored.outcome))
