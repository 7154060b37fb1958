"""The reachable graph of a small scope: every state, and every step between states, with its answer."""

from __future__ import annotations

import networkx

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import to_json


def state_graph(model: Model, scope: Scope, most: int) -> networkx.DiGraph:
    """All states of `model` at `scope` as nodes 0, 1 ... in the order of a breadth-first search.

    A node has `state` (as JSON), `initial` (whether it is an initial state) and `depth` (its level, from
    0). An edge has `steps`, the texts of all steps that lead from one state to the other. The graph's
    `cuts` counts the steps that each bound cut. Raises UserError for more than `most` states and
    ExecutionError for a value out of its range.
    """
    run, graph = Execution(model, scope), networkx.DiGraph(cuts={})
    graph.graph["cuts"] = {leaf.bound: 0 for leaf in run.leaves if leaf.bound}
    frontier, numbers = run.initial_states(), {}

    def add(state, depth):
        number = numbers.setdefault(run.key(state), len(numbers))
        if number >= most:
            raise UserError(
                f"{model.name} has more than {most:,} states at this scope; take a smaller scope, "
                "project it on fields with --on, or raise --max-states"
            )
        graph.add_node(number, state=to_json(model.state, state, scope), initial=depth == 0, depth=depth)
        return number

    for state in frontier:
        add(state, 0)
    depth = 0
    while frontier:
        depth, following = depth + 1, []
        for state in frontier:
            for transition, arguments, after in run.successors(state, graph.graph["cuts"]):
                if run.key(after) not in numbers:
                    add(after, depth)
                    following.append(after)
                ends = numbers[run.key(state)], numbers[run.key(after)]
                _add_step(graph, ends, _text(run, state, transition, arguments))
        frontier = following
    return graph


def _add_step(graph, ends, text):
    if not graph.has_edge(*ends):
        graph.add_edge(*ends, steps=[])
    graph.edges[ends]["steps"].append(text)


def _text(run, state, transition, arguments):
    run.after(state, transition, arguments)  # again, for the answer of this step
    return str(run.step(transition, arguments))
