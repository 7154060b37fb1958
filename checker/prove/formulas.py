"""Formulas in the forms that proofs need: reads resolved through writes, conjunctions split."""

from __future__ import annotations

from itertools import product

import z3

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.prove.parts import has_quantifier


class StyleError(UserError):
    """A function uses something that cannot be proved; the message says what, where, and what to write instead."""


def elements_read(formula: z3.BoolRef) -> z3.BoolRef:
    """A formula in which reads of written arrays become reads of the arrays before, with a choice by the index.

    So z3 need not reason about whole arrays that a step or a loop has written.
    """
    return z3.simplify(formula, expand_select_ite=True, blast_select_store=True)


def conjuncts(formula: z3.BoolRef) -> list[z3.BoolRef]:
    """The conjuncts of a formula."""
    if z3.is_and(formula):
        return [part for child in formula.children() for part in conjuncts(child)]
    if z3.is_not(formula) and z3.is_or(formula.arg(0)):
        return [part for child in formula.arg(0).children() for part in conjuncts(z3.simplify(z3.Not(child)))]
    return [] if z3.is_true(formula) else [formula]


def universals(formula: z3.BoolRef, holds: bool = True) -> list[tuple[tuple[z3.ExprRef, ...], z3.BoolRef]]:
    """The conjuncts of a formula (or of its negation), each with the indices that it is quantified over.

    Raises StyleError if the formula says that some index exists.
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
