"""Liveness by the book, in plain Python on networkx: what the compiled search is tested against."""

from __future__ import annotations

from dataclasses import dataclass, field

import networkx

from kafkaproof.checker.liveness.labels import Labels, belongs, condition_of
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.fairness import AT_LAST, FINITELY, STRONG, WEAK
from kafkaproof.spec.language.model import LIVENESS, Model
from kafkaproof.spec.language.plain import Plain


@dataclass
class Steps:
    """All states of a graph by their keys, with their depths from 1, and the steps from each.

    A step is (transition, arguments, key, whether it spends a budget). One that a bound cuts has the key None; one
    that changes nothing is left out.
    """

    states: dict[tuple, Plain] = field(default_factory=dict)
    depths: dict[tuple, int] = field(default_factory=dict)
    steps: dict[tuple, list] = field(default_factory=dict)


def lassos(model: Model, scope: Scope, found: Steps) -> dict[str, int]:
    """For each violated liveness property, the number of states on a shortest path to a fair loop."""
    lengths = {}
    for prop in model.properties_at(scope):
        if prop.kind not in LIVENESS:
            continue
        labels = Labels(model, scope, (prop,))
        for instance in labels.instances:
            length = _length(labels.actions, instance, found)
            if length is not None:
                lengths[prop.name] = min(length, lengths.get(prop.name, length))
    return lengths


def _length(actions, instance, found):
    prop, distances = instance.prop, _distances(instance, found)
    goal = condition_of(prop.predicate, instance.fixed)
    lasting = [condition_of(a.when, instance.fixed) for a in prop.given if a.kind == AT_LAST]
    calm = {key for key in distances if all(condition.holds(found.states[key]) for condition in lasting)}
    enabled, graph = {}, networkx.MultiDiGraph()
    for key in calm:
        graph.add_node(key)
        enabled[key] = set()
        for transition, arguments, after, spends in found.steps[key]:
            of = {a for a in actions if not spends and belongs(a, found.states[key], transition, arguments)}
            enabled[key] |= of
            if after in calm and not any(a.assumption.kind == FINITELY for a in of):
                graph.add_edge(key, after, of=of)
    missed = {key for key in calm if not goal.holds(found.states[key])}
    fair = _fair(graph, enabled, actions, lambda keys: not instance.question.settles or keys & missed)
    return min((distances[key] for key in fair), default=None)


def _fair(graph, enabled, actions, fails):
    """The states of `graph` that some fair behaviour visits again and again without reaching the goal."""
    fair = set()
    for keys in networkx.strongly_connected_components(graph):
        part = graph.subgraph(keys)
        taken = {action for _, _, of in part.edges(data="of") for action in of}
        starved = [
            a for a in actions if a.assumption.kind == WEAK and a not in taken and all(a in enabled[k] for k in keys)
        ]
        if starved or not fails(keys):
            continue
        refused = {a for a in actions if a.assumption.kind == STRONG and a not in taken}
        rest = {key for key in keys if not refused & enabled[key]}
        fair |= keys if rest == keys else _fair(graph.subgraph(rest), enabled, actions, fails)
    return fair


def _distances(instance, found):
    """The states in which a behaviour may wait for the goal, each with the number of states on a shortest path to it."""
    if instance.question.settles:
        return dict(found.depths)
    goal, after = (f and condition_of(f, instance.fixed) for f in (instance.prop.predicate, instance.prop.after))
    outside = {key for key, state in found.states.items() if not goal.holds(state)}
    begins = {key for key in outside if after is None or after.holds(found.states[key])}
    distances, now = {}, 0
    here = set()
    while here or any(found.depths[key] >= now for key in begins):
        here |= {key for key in begins if found.depths[key] == now} - distances.keys()
        distances |= {key: now for key in here}
        here = {after for key in here for _, _, after, _ in found.steps[key]} & outside - distances.keys()
        now += 1
    return distances
