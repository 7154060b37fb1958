"""``kafkaproof graph``: the reachable graph of a small scope, or its projection on a few fields."""

from __future__ import annotations

import json
from pathlib import Path

import networkx
from rich.markup import escape
from rich.table import Table

from kafkaproof.checker.basics.errors import UserError, meant
from kafkaproof.checker.commands.main import OK
from kafkaproof.checker.commands.models import add_model_options, chosen, given_sizes, the_one
from kafkaproof.checker.commands.tables import console, scope_text
from kafkaproof.checker.explore.graph import state_graph
from kafkaproof.checker.explore.progress import Progress
from kafkaproof.checker.explore.projection import projected
from kafkaproof.checker.model.fields import fields_of
from kafkaproof.checker.model.selection import scope_for
from kafkaproof.checker.pictures.dot import (
    differences_from_first,
    drawn,
    machine_dot,
    require_dot,
    states_dot,
    value_text,
)
from kafkaproof.spec.language.model import FAULT

MOST_STATES, MOST_PROJECTED = 5_000, 20_000_000
LEGEND = "grey and dashed: crashes, expiries and other faults"
DESCRIPTION = """Draw every state of a small scope, and the steps between them. Or, with --on, a machine seen through a few
fields: its nodes are the values of these fields, and its edges the steps that change them. Steps that
change none of the fields are left out. [*] in a field stands for
every index: the moves of all brokers, for instance, are drawn as one machine. With --project, draw a machine that the
system names; the newest variant that has it, and a large enough scope, are chosen."""
EXAMPLES = """examples:
  kafkaproof graph group --project state --svg states.svg
  kafkaproof graph election --variant fenced --on 'brokers[*].doing' --svg doing.svg
  kafkaproof graph election --variant legacy --on zk.controller zk.epoch --brokers 2
  kafkaproof graph replication --variant kip320 --brokers 2 --log 1 --records 1 --epochs 1 --json
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "graph",
        help="draw the states of a small scope, or a machine seen through a few fields",
        epilog=EXAMPLES,
        description=DESCRIPTION,
    )
    add_model_options(parser, help="replication, election ..., or a model of your own, FILE.py:MODEL")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--on",
        nargs="+",
        action="extend",
        default=[],
        metavar="FIELD",
        help="project on these fields: zk.controller, brokers[0].doing, 'brokers[*].doing'",
    )
    what.add_argument("--project", metavar="NAME", help="project on the fields of a machine that the system names")
    parser.add_argument(
        "--max-states",
        type=int,
        metavar="N",
        help=f"refuse more states (default {MOST_STATES:,}; {MOST_PROJECTED:,} with --on)",
    )
    parser.add_argument("--dot", metavar="FILE", help="write the graph in Graphviz's language")
    parser.add_argument("--svg", metavar="FILE", help="draw the graph; needs Graphviz's program dot")
    parser.add_argument("--json", action="store_true", help="print the graph as JSON (node-link data)")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Explore the model, and write or print the graph."""
    model, scope = _machine(options) if options.project else the_one(options)
    fields = fields_of(model.state, scope, options.on) if options.on else None
    if options.svg:
        require_dot()
    graph = _graph(model, scope, fields, options.max_states)
    facts = {"system": model.system, "variant": model.variant, "scope": dict(scope)}
    graph.graph = facts | {"on": list(fields.names if fields else ())} | graph.graph
    if options.json:
        print(json.dumps({"format": 1, **networkx.node_link_data(graph, edges="edges")}, indent=2))
    if options.dot or options.svg:
        _write(model, graph, options)
    elif not options.json:
        _print(graph)
    return OK


def _machine(options):
    """The newest variant that declares the projection asked for, with its scope; sets the fields in `options`."""
    models = [model for model, _ in chosen(options)]
    having = [model for model in models if options.project in model.projections]
    if not having:
        known = list(dict.fromkeys(name for model in models for name in model.projections))
        told = (
            f"it has {', '.join(known)}{meant(options.project, known)}"
            if known
            else "it names none; name fields with --on"
        )
        raise UserError(f"{options.system} has no machine {options.project!r}; {told}")
    model = having[-1]
    options.on = list(model.projections[options.project])
    given = {name: value for name, value in given_sizes(options).items() if name in model.scope}
    return model, scope_for(model, options.scope or options.project, given)


def _graph(model, scope, fields, most):
    """The graph of states, or the projection, with numbered nodes and the field names in `values`."""
    if not fields:
        return state_graph(model, scope, MOST_STATES if most is None else most)
    progress = Progress(model.name)
    try:
        graph = projected(model, scope, fields, MOST_PROJECTED if most is None else most, progress)
    finally:
        progress.close()
    for values, node in graph.nodes(data=True):
        node["values"] = dict(zip(fields.names, fields.shown(values)))
    return networkx.convert_node_labels_to_integers(graph)


def _write(model, graph, options):
    faults = {transition.name for transition in model.transitions if transition.kind == FAULT}
    title = _title(graph).replace("): ", ")\n") + (f"; {LEGEND}" if faults else "")
    source = (machine_dot if options.on else states_dot)(graph, title, faults)
    if options.dot:
        Path(options.dot).write_text(source, encoding="utf-8")
    if options.svg:
        Path(options.svg).write_text(drawn(source), encoding="utf-8")
    if not options.json:
        files = " and ".join(filter(None, (options.dot, options.svg)))
        print(f"{len(graph)} nodes, {graph.number_of_edges()} edges in {files}")


def _title(graph):
    facts = graph.graph
    what = f"{', '.join(facts['on'])} in " if facts["on"] else ""
    states = f"{facts.get('distinct', len(graph)):,} states"
    return f"{what}{facts['system']}, variant {facts['variant']} ({scope_text(facts['scope'])}): {states}"


def _print(graph):
    out = console()
    out.print(escape(_title(graph)), soft_wrap=True)
    out.print(_nodes(graph))
    out.print(_edges(graph))


def _nodes(graph):
    on, table = graph.graph["on"], Table(header_style="bold")
    for name in ("", "node", *on, "states") if on else ("", "state", "level", "differs from state 0 in"):
        table.add_column(escape(name), overflow="fold", justify="right" if name == "states" else "left")
    for number, node in graph.nodes(data=True):
        cells = (
            [*map(value_text, node["values"].values()), f"{node['states']:,}"]
            if on
            else [str(node["depth"]), "\n".join(differences_from_first(graph, number))]
        )
        table.add_row("initial" if node["initial"] else "", str(number), *map(escape, cells))
    return table


def _edges(graph):
    on, table = graph.graph["on"], Table("from", "to", header_style="bold")
    for name in ("transition", "steps") if on else ("step",):
        table.add_column(name, overflow="fold", justify="right" if name == "steps" else "left")
    for source, target, edge in graph.edges(data=True):
        ends = [_name(graph, source), _name(graph, target)]
        rows = (
            [(name, f"{count:,}") for name, count in edge["transitions"].items()]
            if on
            else [(text,) for text in edge["steps"]]
        )
        for row in rows:
            table.add_row(*map(escape, (*ends, *row)))
            ends = ["", ""]
    return table


def _name(graph, number):
    """How the table of edges names a node: by its values, or by the number of its state."""
    return ", ".join(map(value_text, graph.nodes[number].get("values", {}).values())) or str(number)
