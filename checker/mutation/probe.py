"""Whether any step reaches a statement: a probe before it puts a number out of its range."""

from __future__ import annotations

import ast
import inspect

from kafkaproof.checker.mutation.changes import Change, replaced, rewritten
from kafkaproof.checker.mutation.kinds import Domains
from kafkaproof.spec.language.domains import Number
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.subset import definition, functions_reached, nodes_of

FAR = 1000


def probing(model: Model, change: Change) -> Model | None:
    """The model with a probe before the changed statement; None if none is possible.

    There is none among guards, which every attempt reaches, nor in a function without a record among its arguments. The
    field is one that no transition through this function writes, so that the value stays out of range; if there is no
    such number, there is no probe.
    """
    function, statement = change.function, change.statement
    tree = definition(function.__code__)
    if "\nGuards:" in (inspect.getdoc(function) or ""):
        if any(_refuses(node) and node.lineno >= statement.lineno for node in nodes_of(function.__code__)):
            return None
        numbers = (leaf for leaf in leaves(model.state, model.scope) if isinstance(leaf.domain, Number))
        targets = [(leaf.path[-1], f"s.{leaf.expression}") for leaf in numbers]
    else:
        targets = _fields_of_parameters(tree, Domains.of(model))
    written, read = _names(model, function)
    targets = sorted((name in read, text) for name, text in targets if name not in written)
    if not targets:
        return None
    probe = ast.parse(f"{targets[0][1]} += {FAR}").body[0]
    both = ast.If(test=ast.Constant(value=True), body=[probe, statement], orelse=[])
    return rewritten(model, function, replaced(tree, statement, both), {})


def _refuses(node):
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and node.value.value is False


def _fields_of_parameters(tree, domains):
    """(name, text) of the numbers in records that the function reaches from its parameters alone."""
    parameters = {argument.arg for argument in tree.args.args}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} <= parameters:
            owners = [record.fields for record in domains.records if node.attr in record.fields]
            for name in owners[0] if owners else ():
                if all(name in fields and isinstance(fields[name].domain, Number) for fields in owners):
                    yield name, f"{ast.unparse(node.value)}.{name}"


def _names(model, function):
    """The names of the fields that the transitions which call a function write, and of those they read."""
    written, read = set(), set()
    for transition in model.transitions:
        reached = functions_reached(transition.function)
        if any(f.__code__ is function.__code__ for f in reached):
            for node in (node for f in reached for node in nodes_of(f.__code__) if isinstance(node, ast.Attribute)):
                (written if isinstance(node.ctx, ast.Store) else read).add(node.attr)
    return written, read
