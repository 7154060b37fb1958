"""What a step writes into a leaf: a term of its sort, within its bound, with ids of its sort."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from kafkaproof.checker.prove.parts import applications, distinct
from kafkaproof.checker.prove.terms import Term, as_set, conjunction, is_known, together
from kafkaproof.checker.prove.variables import EVERY, Variables
from kafkaproof.spec.language.domains import Id, SetOf


def leaf_after(variables: Variables, path: tuple, term: Term) -> z3.ExprRef:
    """A leaf after a step, as a term of its sort."""
    domain = variables.domains[path]
    if is_known(term):
        return variables.constant(domain, term)
    width = variables.width(domain) if isinstance(domain, SetOf) else None
    return z3.simplify(term if width is None or EVERY in path else as_set(term, width))


def of_its_sort(variables: Variables, path: tuple, term: Term) -> Term:
    """The formula that the value written to a leaf, before conversion to its sort, is an id of its sort or a set of
    such.
    """
    domain = variables.domains[path]
    if variables.any_size:
        return conjunction(x < variables.end(domain.sort) for x in _ids_written(domain, path, term))
    width = variables.width(domain) if isinstance(domain, SetOf) and EVERY not in path else None
    if width is None or is_known(term):
        return width is None or term < 1 << width
    term = together(term, 0, width)[0]
    return True if term.size() == width else z3.Extract(term.size() - 1, width, term) == 0


def _ids_written(domain, path, term):
    """The ids written to a leaf over an unbounded sort: the id itself, or those added to a set."""
    match domain:
        case Id():
            return [z3.Select(term, i) for i in _written_at(term)] if EVERY in path else [term]
        case SetOf() if is_known(term):
            return [term.bit_length() - 1] if term else []
        case SetOf():
            stores = applications((z3.Z3_OP_STORE,), term)
            return [store.arg(1) for store in stores if z3.is_true(store.arg(2))]
    return []


def within_bound(variables: Variables, path: tuple, term: z3.ExprRef) -> Iterator[z3.BoolRef]:
    """The formulas that a changed leaf stays within its bound; in an unbounded array, where it is written."""
    place = next(p for p in variables.places if p.path == path)
    _, high, bound = variables.limits(place.domain)
    if place.spare or (bound and high is not None):
        for value in [z3.Select(term, i) for i in _written_at(term)] if place.starred else [term]:
            yield value == variables.constant(place.domain, 0) if place.spare else value <= high


def _written_at(array):
    """The indices at which an unbounded array was written."""
    return distinct(t.arg(1) for t in applications((z3.Z3_OP_STORE,), array))
