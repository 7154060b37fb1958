"""The writing rules, held by reading the code of transitions and properties.

The little language is a subset of Python that runs unchanged as Python, compiled, symbolically and on a
live ZooKeeper. `check_rules` holds what every function must keep (see `subset`), `check_transition` what
a transition must keep besides, and `check_model` applies both to a whole model.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from types import FunctionType
from typing import Callable, Iterator

from spec.language.domains import Array, Choice, Flag, Id, Number, Record, SetOf
from spec.language.model import Model, Transition
from spec.language.subset import (
    RuleError, definition, functions_reached, is_store, nodes_of, rule_error, stores, writes,
)

__all__ = ["RuleError", "check_model", "check_rules", "check_transition"]

MOST_LINES = 30
SEAM_MODULES = ("zookeeper", "network", "storage", "clock")
ENVIRONMENT = "spec.faults"
OWN = re.compile(r"s(\.planes\[p\])?\.brokers\[b\]")
SCALARS = (Number, Flag, Id, SetOf, Choice)


def is_environment(function: Callable) -> bool:
    """Whether a transition is a fault: of `spec.faults`, or of a system's own module of that name."""
    return str(function.__module__).split(".")[-1] == ENVIRONMENT.split(".")[-1]


@cache
def check_rules(function: Callable) -> None:
    """Hold the rules of `subset` in `function` and all that it calls; raises RuleError."""
    functions_reached(function)


def check_transition(transition: Transition, seams: tuple[Callable, ...] = (), abstract: bool = False) -> None:
    """Hold what a transition must keep besides: signature, docstring, order, ghosts, what a broker owns.

    Faults act on anything, and have no Kafka code to name. Raises RuleError.
    """
    function = transition.function
    check_rules(function)
    environment = is_environment(function)
    _check_signature(function)
    _check_returns(function)
    requests = _check_order(function, seams)
    sections = ["Guards:", "Effects:"] + ["Kafka:"] * (not environment) + ["Request:"] * bool(requests)
    _check_docstring(function, sections)
    _check_ghosts(function)
    if not abstract and not environment:
        _check_ownership(function, seams)


def check_model(model: Model) -> None:
    """Hold all rules in all transitions and properties of a model; raises RuleError."""
    arrays = frozenset(_array_names(model.state))
    names = [prop.name for prop in model.properties]
    for name in set(names):
        if names.count(name) > 1:
            raise RuleError(f"two properties of {model.system}/{model.variant} are called {name}")
    for prop in model.properties:
        if prop.kind == "step" and not any(prop.concerns(transition) for transition in model.transitions):
            raise RuleError(f"{model.system}/{model.variant} has no transition that {prop.name} speaks of")
    for transition in model.transitions:
        check_transition(transition, model.seams, model.abstract)
        _check_loops(transition.function, arrays)
    for predicate in (predicate for prop in model.properties for predicate in prop.predicates):
        check_rules(predicate)
        _check_loops(predicate, arrays)
        for function in functions_reached(predicate):
            for node in stores(function.__code__):
                raise rule_error("a property writes nothing", node, function.__code__)


def _array_names(domain, name=None) -> Iterator[str]:
    if isinstance(domain, Record):
        for field, content in domain.fields.items():
            yield from _array_names(content.domain, field)
    elif isinstance(domain, Array):
        yield name
        yield from _array_names(domain.of)


def _check_loops(function, arrays):
    for reached in functions_reached(function):
        for node in nodes_of(reached.__code__):
            iterated = node.iter if isinstance(node, ast.For) else None
            if isinstance(iterated, ast.Attribute) and iterated.attr not in arrays:
                raise rule_error("loops only over range(...) or a declared array", node, reached.__code__)


def _check_signature(function):
    tree = definition(function.__code__)
    names = [argument.arg for argument in tree.args.args]
    domains = [function.__annotations__.get(name) for name in names]
    if not names or names[0] != "s" or domains[0] is not None:
        raise rule_error("a transition's first parameter is s", tree, function.__code__)
    for name, domain in zip(names[1:], domains[1:]):
        if not isinstance(domain, SCALARS):
            raise rule_error(f"argument {name} is annotated with a scalar domain", tree, function.__code__)
    for node in nodes_of(function.__code__):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
            raise rule_error("a transition does not assign to its arguments", node, function.__code__)


def _check_docstring(function, sections):
    tree = definition(function.__code__)
    text = inspect.getdoc(function) or ""
    if not text.split("\n\n")[0].endswith("."):
        raise rule_error("a docstring begins with a sentence", tree, function.__code__)
    for section in sections:
        if f"\n{section}" not in text:
            raise rule_error(f"the docstring has {section}", tree, function.__code__)
    if tree.body[-1].end_lineno - tree.body[0].lineno >= MOST_LINES:
        raise rule_error(f"a body has at most {MOST_LINES} lines", tree, function.__code__)


def _check_returns(function):
    for node in nodes_of(function.__code__):
        if isinstance(node, ast.Return) and not _returns(node, True) and not _returns(node, False):
            raise rule_error("a transition returns True or False", node, function.__code__)
    last = definition(function.__code__).body[-1]
    if not _returns(last, True):
        raise rule_error("a transition ends with return True", last, function.__code__)


def _returns(node, value):
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and node.value.value is value


def _check_order(function, seams):
    """Hold the order guards, one request, effects; returns the requests."""
    code, effects, requests = function.__code__, [], []
    for kind, node in _events(definition(code).body, function, seams):
        if kind == "refusal" and (effects or requests):
            raise rule_error("guards first: no return False after an effect or a request", node, code)
        if kind == "request" and requests:
            raise rule_error("at most one request", node, code)
        if kind == "request" and effects:
            raise rule_error("the request comes before the first effect", node, code)
        if kind == "effect":
            effects.append(node)
        elif kind == "request":
            requests.append(node)
    return requests


def _events(statements, function, seams):
    """("refusal" | "request" | "effect", node) in the order of the text; a loop's body counts twice."""
    for statement in statements:
        composed = _composed(statement, function)
        if composed:
            yield "refusal", statement
            if _reaches(composed, seams):
                yield "request", statement
            yield "effect", statement
            continue
        for call in _calls(statement):
            callee = function.__globals__.get(call.func.id)
            if callee and _reaches(callee, seams):
                yield "request", call
            elif isinstance(statement, ast.Expr) or callee and writes(callee):
                yield "effect", call
        match statement:
            case ast.If():
                yield from _events(statement.body + statement.orelse, function, seams)
            case ast.For():
                yield from _events(statement.body * 2, function, seams)
            case ast.Return() if _returns(statement, False):
                yield "refusal", statement
            case ast.Assign() | ast.AugAssign() if any(is_store(node) for node in ast.walk(statement)):
                yield "effect", statement


def _reaches(function, seams):
    """Whether a function is one of the seams, or calls one, be it a copy whose callees are others."""
    return not _codes(seams).isdisjoint(_codes(functions_reached(function)))


def _codes(functions):
    return {function.__code__ for function in functions}


def _composed(statement, function):
    """The transition whose guards, request and effects are part of this one: in ``if not part(s, ...): return False``.

    It may be the last of several conditions. A transition that refuses has changed nothing.
    """
    match statement:
        case ast.If(test=test, body=[ast.Return() as refusal], orelse=[]) if _returns(refusal, False):
            last = test.values[-1] if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else test
            match last:
                case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id=name))):
                    callee = function.__globals__.get(name)
                    return callee if _is_transition(callee) and writes(callee) else None
    return None


def _is_transition(callee):
    takes_state = isinstance(callee, FunctionType) and callee.__code__.co_varnames[:1] == ("s",)
    return takes_state and "\nGuards:" in (inspect.getdoc(callee) or "")


def _calls(statement):
    """The calls that a statement itself makes, without those in its body."""
    match statement:
        case ast.If():
            parts = [statement.test]
        case ast.For():
            parts = [statement.iter]
        case _:
            parts = [statement]
    return [node for part in parts for node in ast.walk(part) if isinstance(node, ast.Call)]


def _check_ghosts(function):
    """Ghosts are history: transitions assign to their fields and never read them."""
    for reached in functions_reached(function):
        nodes = list(nodes_of(reached.__code__))
        assigned = [node.value for node in nodes if is_store(node)]
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr == "ghosts" and node not in assigned:
                raise rule_error("ghosts are read by properties only", node, reached.__code__)


def _check_ownership(function, seams):
    """A transition of broker `b` touches `s.brokers[b]`, and passes other parts of `s` to seams only.

    A composed one also passes them to the transitions that it is made of, which keep the same rule.
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


def _is_part_call(node, function, seams):
    """Whether another transition is called, which is held to the same rule."""
    callee = function.__globals__.get(node.func.id) if isinstance(node, ast.Call) else None
    if not _is_transition(callee):
        return False
    if not is_environment(callee):
        _check_ownership(callee, seams)
    return True


def _is_seam_call(node, function, seams):
    if not isinstance(node, ast.Call):
        return False
    callee = function.__globals__.get(node.func.id)
    return callee and (callee.__code__ in _codes(seams) or callee.__module__.split(".")[-1] in SEAM_MODULES)
