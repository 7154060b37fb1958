"""Formulas in the forms that proofs ask for: reads taken through writes, conjunctions taken apart."""

from __future__ import annotations

from itertools import product

import z3

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.prove.parts import has_quantifier


class StyleError(UserError):
    """A function is outside the style that can be proved: which construct, where, what to write instead."""


def elements_read(formula: z3.BoolRef) -> z3.BoolRef:
    """A formula that reads elements of arrays as they were before all writes: the writes become choices by the index.

    Then z3 need not reason about arrays as wholes, written by a step or by a loop over all indices.
    """
    return z3.simplify(formula, expand_select_ite=True, blast_select_store=True)


def conjuncts(formula: z3.BoolRef) -> list[z3.BoolRef]:
    """The instances of a property: the parts that all must hold."""
    if z3.is_and(formula):
        return [part for child in formula.children() for part in conjuncts(child)]
    if z3.is_not(formula) and z3.is_or(formula.arg(0)):
        return [part for child in formula.arg(0).children() for part in conjuncts(z3.simplify(z3.Not(child)))]
    return [] if z3.is_true(formula) else [formula]


def universals(formula: z3.BoolRef, holds: bool = True) -> list[tuple[tuple[z3.ExprRef, ...], z3.BoolRef]]:
    """The parts of a formula that all must hold (or of its negation), each for all values of some indices.

    Raises StyleError where a formula asks that there be an index.
    """
    if not has_quantifier(formula):
        return [((), part) for part in conjuncts(formula if holds else z3.simplify(z3.Not(formula)))]
    if z3.is_not(formula):
        return universals(formula.arg(0), not holds)
    if z3.is_quantifier(formula) and formula.is_forall() == holds:
        over = tuple(z3.FreshConst(formula.var_sort(i), "each") for i in range(formula.num_vars()))
        body = z3.substitute_vars(formula.body(), *reversed(over))
        return [((*over, *more), part) for more, part in universals(body, holds)]
    parts = [universals(child, holds) for child in formula.children()]
    if (z3.is_and(formula) and holds) or (z3.is_or(formula) and not holds):
        return [part for found in parts for part in found]
    if z3.is_or(formula) or z3.is_and(formula):
        return [(sum((o for o, _ in chosen), ()), z3.Or(*(p for _, p in chosen))) for chosen in product(*parts)]
    raise StyleError("a fact for any number of brokers says what holds for all of them, not that there is one")
