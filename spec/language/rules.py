"""The writing rules of this specification, checked by reading the code of transitions.

`accepted` checks the rules that make any model mean the same wherever it runs. The rules here are additional: they let
the same transitions run as brokers, and be read beside Kafka's source. They are about the sections of docstrings, one
request for each transition, what a broker owns, and ghosts.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from types import FunctionType

from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.guards import check_guards, check_order, returns
from kafkaproof.spec.language.model import FAULT, Model, Transition
from kafkaproof.spec.language.subset import (
    RuleError,
    definition,
    functions_reached,
    is_store,
    name_called,
    nodes_of,
    rule_error,
)

__all__ = ["RuleError", "check_model", "check_transition"]

MOST_LINES = 30
SEAM_MODULES = ("zookeeper", "network", "storage", "clock")
OWN = re.compile(r"s(\.planes\[p\])?\.brokers\[b\]")


def check_transition(transition: Transition, seams: tuple[Callable, ...] = (), abstract: bool = False) -> None:
    """Check the writing rules in a transition: docstring, one request, ghosts, what a broker owns.

    Faults may change anything, and have no source in Kafka. Raises RuleError.
    """
    function = transition.function
    functions_reached(function)
    check_guards(transition)
    last = definition(function.__code__).body[-1]
    if not returns(last, True):
        raise rule_error("a transition ends with return True", last, function.__code__)
    outside = transition.kind == FAULT
    requests = check_order(function, seams)
    sections = ["Guards:", "Effects:"] + ["Kafka:"] * (not outside) + ["Request:"] * bool(requests)
    _check_docstring(function, sections)
    _check_ghosts(function)
    if not abstract and not outside:
        _check_ownership(function, seams)


def check_model(model: Model) -> None:
    """Check all rules in all transitions and properties of a model; raises RuleError."""
    require_accepted(model)
    for transition in model.transitions:
        check_transition(transition, model.seams, model.abstract)


def _check_docstring(function, sections):
    tree = definition(function.__code__)
    text = inspect.getdoc(function) or ""
    if not text.split("\n\n")[0].endswith("."):
        raise rule_error("a docstring begins with a sentence", tree, function.__code__)
    for section in sections:
        if f"\n{section}" not in text:
            raise rule_error(f"the docstring has {section}", tree, function.__code__)
    first, last = tree.body[0], tree.body[-1]
    if (last.end_lineno or last.lineno) - first.lineno >= MOST_LINES:
        raise rule_error(f"a body has at most {MOST_LINES} lines", tree, function.__code__)


def _codes(functions):
    return {function.__code__ for function in functions}


def _check_ghosts(function):
    """Ghosts are history: transitions assign to their fields and never read them."""
    for reached in functions_reached(function):
        nodes = list(nodes_of(reached.__code__))
        assigned = [node.value for node in nodes if is_store(node)]
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr == "ghosts" and node not in assigned:
                raise rule_error("ghosts are read by properties only", node, reached.__code__)


def _check_ownership(function, seams):
    """A transition of broker `b` uses `s.brokers[b]`, and passes other parts of `s` to seams only.

    A composed one also passes them to its parts, to which the same rule applies.
    """
    code = function.__code__
    if code.co_varnames[1:2] != ("b",):
        return
    nodes = list(nodes_of(code))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == "s":
            part, user = _access(node, parents)
            own = OWN.match(part)
            others = part == "s" or part.startswith("s.brokers")
            if own or _is_part_call(user, function, seams):
                continue
            if others or not _is_seam_call(user, function, seams):
                raise rule_error("a broker owns s.brokers[b] and reaches the rest through seams", node, code)


def _access(node, parents):
    """The text of the attributes and elements that begin at a name, and the node that uses them."""
    while isinstance(parents[node], (ast.Attribute, ast.Subscript)) and parents[node].value is node:
        node = parents[node]
    return ast.unparse(node), parents[node]


def _is_of_a_broker(callee):
    return isinstance(callee, FunctionType) and callee.__code__.co_varnames[:2] == ("s", "b")


def _is_part_call(node, function, seams):
    """Whether a part is called: a transition or another function of a broker, to which the same rule applies."""
    callee = function.__globals__.get(name_called(node))
    if not _is_of_a_broker(callee):
        return False
    _check_ownership(callee, seams)
    return True


def _is_seam_call(node, function, seams):
    callee = function.__globals__.get(name_called(node))
    return callee and (callee.__code__ in _codes(seams) or callee.__module__.split(".")[-1] in SEAM_MODULES)
