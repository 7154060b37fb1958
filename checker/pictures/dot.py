"""Graphs and paths in Graphviz's language, and their drawing by its program ``dot``.

Steps of the environment (crashes, expiries and other faults) are grey and dashed, so that the protocol
stands out. A small black dot points at initial states.
"""

from __future__ import annotations

import math
import shutil
import textwrap
from typing import TYPE_CHECKING

import graphviz

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.printable import printable
from kafkaproof.checker.pictures.changes import changes
from kafkaproof.checker.pictures.history import checked, loop_text, scope_text
from kafkaproof.checker.pictures.show import show, show_change

if TYPE_CHECKING:
    import networkx

INK, SOFT, BAD = "#1b2127", "#7a8590", "#b3261e"
SANS, MONO = "Helvetica,Arial,sans-serif", "DejaVu Sans Mono,Menlo,Consolas,monospace"
SHOWN, TITLE, MANY = 12, 100, 4


def require_dot() -> None:
    """Raise UserError, which says how to get it, when the program ``dot`` is missing."""
    if shutil.which("dot") is None:
        raise UserError(
            "drawing a graph needs the program dot of Graphviz (Debian: apt-get install graphviz); "
            "--dot FILE writes the graph without it"
        )


def drawn(source: str) -> str:
    """Text in Graphviz's language as an SVG; raises UserError when ``dot`` is missing."""
    require_dot()
    return graphviz.Source(source).pipe(format="svg", encoding="utf-8", quiet=True)


def machine_dot(graph: networkx.DiGraph, title: str, faults: set[str]) -> str:
    """A projected graph: nodes with `values`, edges with `transitions` and their counts.

    Transitions whose names are in `faults` get edges of their own, grey and dashed. If the same faults lead from many
    nodes to one, there is a single edge from a list of these nodes.
    """
    dot, of_faults = _digraph(title, ranksep="0.45", nodesep="0.25"), {}
    for number, node in graph.nodes(data=True):
        _node(dot, str(number), _values(node), node["initial"])
    for source, target, edge in graph.edges(data=True):
        own = {name: n for name, n in edge["transitions"].items() if name not in faults}
        others = {name: n for name, n in edge["transitions"].items() if name in faults}
        if own:
            _move(dot, source, target, own, False)
        if others:
            of_faults.setdefault((target, *others), []).append((source, others))
    for (target, *names), found in of_faults.items():
        if len(found) >= MANY:
            lines = [", ".join(_values(graph.nodes[source])) for source, _ in found]
            listed = f"{len(found)} to {target} by {', '.join(names)}"
            dot.node(listed, label=_text(lines), style="rounded,dashed", color=SOFT, fontcolor=SOFT, fontsize="9")
            found = [(listed, {name: sum(taken[name] for _, taken in found) for name in names})]
        for source, taken in found:
            _move(dot, source, target, taken, True)
    return dot.source


def _values(node):
    values = {name: value_text(value) for name, value in node["values"].items()}
    return list(values.values()) if len(values) == 1 else [f"{name}: {text}" for name, text in values.items()]


def _move(dot, source, target, taken, of_fault):
    lines = [f"{_short(name)} ×{count:,}" for name, count in taken.items()]
    _edge(dot, source, target, lines, of_fault, sum(taken.values()))


def states_dot(graph: networkx.DiGraph, title: str, faults: set[str]) -> str:
    """A graph of states, numbered; edges with `steps` (texts)."""
    dot = _digraph(title)
    for number, node in graph.nodes(data=True):
        _node(dot, str(number), [f"state {number}", *differences_from_first(graph, number)], node["initial"])
    for source, target, edge in graph.edges(data=True):
        for of_fault in (False, True):
            texts = [text for text in edge["steps"] if (text.partition("(")[0] in faults) == of_fault]
            if texts:
                _edge(dot, source, target, [_short(text) for text in texts], of_fault)
    return dot.source


def differences_from_first(graph: networkx.DiGraph, number: int) -> list[str]:
    """What differs between a state and state 0, one line each; for state 0, everything that other states change."""
    first = graph.nodes[0]["state"]
    if number:
        return [f"{path}: {show(new)}" for path, _, new in changes(first, graph.nodes[number]["state"])]
    varying = {path: old for _, node in graph.nodes(data=True) for path, old, _ in changes(first, node["state"])}
    return [f"{path}: {show(old)}" for path, old in sorted(varying.items())]


def value_text(value: object) -> str:
    """The value of a field in a picture; None is nobody."""
    return "nobody" if value is None else show(value)


def _short(text):
    """A transition's name, or a step's text, without the module."""
    return text[text.partition("(")[0].rfind(".") + 1 :]


def path_dot(history: dict) -> str:
    """A history as a path: a node for each state, with what changed; raises HistoryError."""
    history = checked(history)
    demand = history["property"]
    title = f"{history['title']} ({scope_text(history)})" + (f"\n{demand['name']}: {demand['text']}" if demand else "")
    dot = _digraph(title, ranksep="0.3")
    _node(dot, "0", ["initial state"], True)
    before, last = history["initial"], len(history["steps"])
    for number, step in enumerate(history["steps"], start=1):
        if number == last and "loop" in history and history["loop"] < last:
            _turn(dot, number - 1, history["loop"], f"{step['text']}, and so on for ever")
            return dot.source
        found = changes(before, step["state"])
        lines = ["{}: {} → {}".format(path, *show_change(old, new)) for path, old, new in found[:SHOWN]]
        more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        broken = [f"violates {name}" for name in step.get("violates", [])]
        _node(dot, str(number), [f"state {number}", *lines, *more, *broken], False, bool(broken))
        _edge(dot, number - 1, number, [step["text"]], False)
        before = step["state"]
    if "loop" in history:
        _turn(dot, last, last, loop_text(history))
    return dot.source


def _turn(dot, source, target, text):
    """The edge that closes a lasso."""
    dot.edge(str(source), str(target), label=_text([f"  {text} "]), color=BAD, fontcolor=BAD, penwidth="2.4")


def _digraph(title, **layout):
    dot = graphviz.Digraph()
    lines = [part for line in title.split("\n") for part in textwrap.wrap(line, TITLE)]
    dot.attr(
        label=_text(lines),
        labelloc="t",
        labeljust="l",
        fontname=SANS,
        fontsize="15",
        fontcolor=INK,
        bgcolor="white",
        pad="0.3",
        **layout,
    )
    dot.attr(
        "node",
        shape="box",
        style="rounded,filled",
        fillcolor="#f5f7f9",
        color=INK,
        fontcolor=INK,
        fontname=MONO,
        fontsize="12",
        margin="0.14,0.07",
    )
    dot.attr("edge", color=INK, fontcolor=INK, fontname=SANS, fontsize="11", arrowsize="0.7")
    return dot


def _node(dot, name, lines, initial, bad=False):
    look = {"color": BAD, "fillcolor": "#fdf1ef", "penwidth": "2"} if bad else {}
    if initial:
        look["penwidth"] = "2.2"
        dot.node(f"to {name}", label="", shape="point", width="0.11", style="filled", fillcolor=INK)
        dot.edge(f"to {name}", name)
    dot.node(name, label=_text(lines), **look)


def _edge(dot, source, target, lines, of_fault, count=1):
    look = {"color": SOFT, "fontcolor": SOFT, "style": "dashed"} if of_fault else {}
    width = f"{0.8 + 0.12 * math.log10(count):.2f}"
    dot.edge(str(source), str(target), label=_text([f"  {line} " for line in lines]), penwidth=width, **look)


def _text(lines):
    """Lines as a label of printable text; several lines are flush left."""
    texts = [graphviz.escape(printable(line)) for line in lines]
    return texts[0] if len(texts) == 1 else "".join(f"{text}\\l" for text in texts)
