"""Fairness assumptions of liveness: which actions are not postponed for ever, and which end.

An *action* is a set of steps: those of the transitions called `of`, as one action or (`each`) as one for each value of
the arguments named, and only steps before which `when` holds. A step that changes nothing does not count, as in TLA+.

A step that spends a budget (`domains.Budget`: a fault, a lost answer) belongs to no action, since a fault need never
happen. It may be taken while the budget lasts, and is disabled after that, so a process that only a fault could move
may stop. A step that any other bound cuts counts as enabled and never taken: the process would act, but what follows is
beyond the scope. So such a bound causes no false lasso, but may hide one.

Sources: Lamport, "The temporal logic of actions" (TOPLAS 1994), section 5, for weak and strong fairness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafkaproof.spec.language.parts import changed
from kafkaproof.spec.language.rebind import rebind

WEAK, STRONG, FINITELY, AT_LAST = "weak", "strong", "finitely", "at last"
WORDS = {
    WEAK: "weak fairness of {}",
    STRONG: "strong fairness of {}",
    FINITELY: "finitely often {}",
    AT_LAST: "at last and for ever {}",
}


@dataclass(frozen=True)
class Assumption:
    """One assumption about behaviours.

    kind ``weak``: an action that stays enabled from some moment on is taken infinitely often. ``strong``: so is one
    that is enabled infinitely often. ``finitely``: the action is taken finitely often. ``at last``: from some moment
    on, every state satisfies `when(s)`. For the other kinds, `when(s, *arguments)` restricts the steps of the action.
    """

    kind: str
    of: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    when: Callable | None = None

    @property
    def text(self) -> str:
        """The assumption in words: ``weak fairness of join for each b, m where is_alive``."""
        return WORDS[self.kind].format(self.action)

    @property
    def action(self) -> str:
        """The action, or the condition, that is assumed to be fair, finite or lasting: ``join for each b, m where
        is_alive``.
        """
        parts = [", ".join(self.of)] if self.of else []
        parts += [f"for each {', '.join(self.each)}"] if self.each else []
        if self.when:
            parts.append(f"where {self.when.__name__}" if self.of else self.when.__name__)
        return " ".join(parts)

    def renamed(self, names: Mapping[str, str]) -> Assumption:
        """This assumption about transitions that now have other names."""
        return changed(self, of=tuple(names.get(name, name) for name in self.of))

    def among(self, names: set[str]) -> Assumption | None:
        """This assumption, restricted to transitions of these names; None if it is about none of them."""
        of = tuple(name for name in self.of if name in names)
        return changed(self, of=of) if of or self.kind == AT_LAST else None

    def rebound(self, replacements: Mapping[Callable, Callable]) -> Assumption:
        """This assumption with callees replaced."""
        return changed(self, when=self.when and rebind(self.when, replacements))


def weak(*transitions: str, each: tuple[str, ...] = (), when: Callable | None = None) -> Assumption:
    """Weak fairness: if from some moment on one of these transitions (named as text) is always possible, one is taken.

    With `each`, this holds for each value of these arguments: ``weak("reply", each=("b",))``. With `when`, it is about steps
    before which ``when(s, ...)`` holds.
    """
    return Assumption(WEAK, transitions, each, when)


def strong(*transitions: str, each: tuple[str, ...] = (), when: Callable | None = None) -> Assumption:
    """Strong fairness: if one of these transitions is possible again and again, one is taken; `each`, `when` as in `weak`."""
    return Assumption(STRONG, transitions, each, when)


def finitely(*transitions: str, when: Callable | None = None) -> Assumption:
    """From some moment on these transitions are no longer taken (where `when` holds before them)."""
    return Assumption(FINITELY, transitions, (), when)


def at_last(predicate: Callable) -> Assumption:
    """From some moment on every state satisfies `predicate(s)`."""
    return Assumption(AT_LAST, (), (), predicate)
