"""Rules for every path through a function: all return a value, or none does; locals are assigned before they are read."""

from __future__ import annotations

import ast
from functools import cache
from types import CodeType

from kafkaproof.spec.language.subset import definition, nodes_of, rule_error


@cache
def check_paths(code: CodeType) -> None:
    """Check both rules in a function's own text; raises RuleError."""
    tree = definition(code)
    returns = [node for node in nodes_of(code) if isinstance(node, ast.Return)]
    for node in returns:
        if node.value is None:
            raise rule_error("a return has a value; a function without one ends without a return", node, code)
    walk = _Walk(code)
    ends = walk.block(tree.body, {argument.arg for argument in tree.args.args})
    if returns and ends is not None:
        raise rule_error("a function that returns a value returns one on every path", tree.body[-1], code)


class _Walk:
    """A walk along all paths, with the names assigned on each of them; None if every path has returned."""

    def __init__(self, code):
        self._code = code

    def block(self, statements, assigned):
        for statement in statements:
            if assigned is None:
                raise rule_error("no path comes here", statement, self._code)
            assigned = self._statement(statement, assigned)
        return assigned

    def _statement(self, node, assigned):
        match node:
            case ast.Return():
                self._read(node, assigned)
                return None
            case ast.If():
                self._read(node.test, assigned)
                ends = [self.block(node.body, assigned), self.block(node.orelse, assigned)]
                reached = [end for end in ends if end is not None]
                return set.intersection(*reached) if reached else None
            case ast.For():
                self._read(node.iter, assigned)
                self.block(
                    node.body, assigned | {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
                )
                return assigned
            case ast.AugAssign(target=ast.Name(id=name)):
                self._known(name, node, assigned)
        self._read(node, assigned)
        targets = node.targets if isinstance(node, ast.Assign) else []
        return assigned | {target.id for target in targets if isinstance(target, ast.Name)}

    def _read(self, node, assigned):
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
                self._known(name.id, name, assigned)

    def _known(self, name, node, assigned):
        if name in self._code.co_varnames and name not in assigned:
            raise rule_error("a local is assigned on every path to where it is read", node, self._code)
