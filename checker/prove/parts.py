"""The parts of terms, by calls of z3's C interface: Python objects for all of them would dominate the time."""

from __future__ import annotations

from collections.abc import Iterable

import z3

GATHERED = "gathered"
"""How constants are named that stand for any value of a local after a loop without end, such as a count."""


def key(term: z3.ExprRef) -> int:
    """A key that identifies a term for as long as one of its objects is kept."""
    return term.as_ast().value


def distinct(terms: Iterable[z3.ExprRef]) -> list[z3.ExprRef]:
    """The terms without repetition."""
    return list({key(term): term for term in terms}.values())


def parts(*formulas: z3.ExprRef) -> dict[int, tuple[int, z3.Ast]]:
    """The parts of some formulas by their keys, each once: its kind (application, quantifier ...), and z3's pointer."""
    context, found = z3.main_ctx().ref(), {}
    stack = [formula.as_ast() for formula in formulas]
    while stack:
        part = stack.pop()
        if part.value not in found:
            kind = z3.Z3_get_ast_kind(context, part)
            found[part.value] = kind, part
            if kind == z3.Z3_APP_AST:
                stack += [z3.Z3_get_app_arg(context, part, i) for i in range(z3.Z3_get_app_num_args(context, part))]
            elif kind == z3.Z3_QUANTIFIER_AST:
                stack.append(z3.Z3_get_quantifier_body(context, part))
    return found


def _of_kind(wanted, formulas):
    return [part for kind, part in parts(*formulas).values() if kind == wanted]


def applications(operations: tuple[int, ...], *formulas: z3.ExprRef) -> list[z3.ExprRef]:
    """The parts of some formulas that are applications of one of z3's operations, each once."""
    context = z3.main_ctx().ref()
    return [
        z3.ExprRef(part)
        for part in _of_kind(z3.Z3_APP_AST, formulas)
        if z3.Z3_get_decl_kind(context, z3.Z3_get_app_decl(context, part)) in operations
    ]


def choices(term: z3.ExprRef) -> list[z3.ExprRef]:
    """The alternatives of a choice, nested ones included; for any other term, the term itself."""
    found, stack = {}, [term]
    while stack:
        part = stack.pop()
        if key(part) not in found:
            found[key(part)] = part
            stack += part.children()[1:] if z3.is_app_of(part, z3.Z3_OP_ITE) else []
    return [part for part in found.values() if not z3.is_app_of(part, z3.Z3_OP_ITE)]


def has_variable(term: z3.ExprRef) -> bool:
    """Whether a term contains a bound variable of a lambda or a quantifier."""
    return bool(_of_kind(z3.Z3_VAR_AST, [term]))


def has_quantifier(*formulas: z3.ExprRef) -> bool:
    """Whether one of the formulas contains a quantifier."""
    context = z3.main_ctx().ref()
    return any(not z3.Z3_is_lambda(context, part) for part in _of_kind(z3.Z3_QUANTIFIER_AST, formulas))
