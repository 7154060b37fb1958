"""A replayed recording as a history for `kafkaproof show`: the last steps up to the divergence, or the first violation.

The states are the specification's. In the row of the divergence stands what was recorded beside what was allowed.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkaproof.spec.language.domains import Record, record_of, values
from kafkaproof.spec.language.drawn import words_of
from kafkaproof.spec.language.plain import Plain, to_json
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.running.broker_ids import BrokerIds
from kafkaproof.spec.running.processes import ELECTION, PARTITION
from kafkaproof.traces.processes.recorded.order import Occurrence, in_order
from kafkaproof.traces.processes.recorded.reading import Cluster
from kafkaproof.traces.processes.replay import Follower
from kafkaproof.traces.processes.state.messages import Sent
from kafkaproof.traces.processes.state.result import Divergence, Result
from kafkaproof.traces.processes.state.world import GIVEN, World

STEPS = 10
LEFT_OUT = ("ghosts", "waiting", "required")
"""What a running broker has no field for."""
CHOSEN = ("b", "p", "r", "follower", "sender", "leaver", "epoch")
"""Arguments that are tried where is asked what was allowed; a step that has others is not tried."""
ALLOWED = 12
"""How many steps that were allowed are told."""


def history_of(cluster: Cluster, result: Result) -> dict | None:
    """The history of the divergence, else of the first violation; None where there is neither."""
    if result.at is None:
        return None
    follower, order = Follower(cluster, result.variant), in_order(cluster)
    begin = max(0, result.at + 1 - STEPS)
    for occurrence in order[:begin]:
        follower.follow(occurrence)
    lanes = ["zookeeper", "operator", *(f"broker {id}" for id in cluster.brokers.all)]
    initial = _state(follower.world)
    steps = [_drawn(follower, occurrence, lanes) for occurrence in order[begin : result.at + 1]]
    name, text = ("conformance", ": ".join(result.divergence)) if result.divergence else _first(result)
    steps[-1]["violates"] = [name]
    return {
        "format": 1,
        "title": f"a recorded cluster, held to {result.variant}",
        "system": PARTITION,
        "variant": result.variant,
        "scope": dict(cluster.sizes),
        "property": {"name": name, "text": text},
        "story": f"From {cluster.directory}: the last {len(steps)} of {result.at + 1:,} steps. The states are those of "
        f"the specification; logs are shown by their lengths.{_numbered(cluster.brokers)}",
        "lanes": lanes,
        "initial": initial,
        "steps": steps,
    }


def _numbered(brokers: BrokerIds) -> str:
    """Which number of the states is which broker, where that is not its id."""
    ids = ", ".join(map(str, brokers.all))
    return "" if brokers.is_plain else f" In them brokers are numbered from 0 on, in the order of their ids: {ids}."


def _first(result: Result) -> tuple[str, str]:
    violation = next(iter(result.violations.values()))
    return violation.id, violation.text


def _state(world: World) -> dict:
    """What ZooKeeper holds and what each broker knows, with names for codes."""
    elected, partition = (world.cluster.model(part).state for part in (ELECTION, PARTITION))
    zookeeper = _fields(world, ELECTION, record_of(elected, "zk"), world.states[ELECTION].zk, ("controller", "epoch"))
    zookeeper |= _fields(world, PARTITION, record_of(partition, "zk"), world.states[PARTITION].zk, ("partitions",))
    found = {"zookeeper": zookeeper}
    for b in range(len(world.states[ELECTION].brokers)):
        knows = {
            part: to_json(record_of(state, "brokers"), world.record(b)[number], world.scopes[part])
            for number, (part, state) in enumerate(((ELECTION, elected), (PARTITION, partition)))
        }
        replicas = [_replica(world, record_of(record_of(partition, "planes"), "brokers"), r) for r in world.replicas(b)]
        found[f"broker_{b}"] = knows | ({"replicas": replicas} if replicas else {})
    return found


def _fields(world: World, part: str, record: Record, value: Plain, names: Iterable[str]) -> dict[str, object]:
    """Some fields of a record, as JSON."""
    return {name: to_json(record.fields[name].domain, getattr(value, name), world.scopes[part]) for name in names}


def _replica(world: World, record: Record, replica: Plain) -> dict[str, object]:
    """A replica with the length of its log."""
    shown = _fields(world, PARTITION, record, replica, [name for name in record.fields if name not in LEFT_OUT])
    return shown | ({"log": replica.log.length} if "log" in shown else {})


def _drawn(follower: Follower, occurrence: Occurrence, lanes: list[str]) -> dict:
    """Take a step, and draw it."""
    line, transaction = occurrence.line, occurrence.transaction
    broker = line.broker if line else occurrence.crash if occurrence.crash is not None else occurrence.closes
    broker = occurrence.stray if broker is None else broker
    lane = lanes.index("operator" if broker is None else f"broker {follower.cluster.brokers.id(broker)}")
    took = follower.on_its_way(line.took) if line and line.took else None
    allowed = _allowed(follower.world, line.broker, follower.cluster.brokers) if line and line.step else []
    notes = []
    try:
        follower.follow(occurrence)
    except Divergence as divergence:
        notes = [f"Recorded: {divergence.where or _recorded(occurrence)}.", f"What does not fit: {divergence}."]
        if allowed and "not enabled" in str(divergence):
            notes.append(f"Enabled without a message: {', '.join(allowed)}.")
    ids = (*line.sent, line.sends) if line else ()
    sent = [message for id in ids if id and (message := follower.on_its_way(id))]
    drawn = {
        "text": occurrence.title,
        "lane": lane,
        "words": _words(follower.world, occurrence),
        "arrows": _arrows(lane, occurrence, took, sent),
        "state": _state(follower.world),
    }
    zxid = transaction.zxid if transaction else line.zxids[-1] if line and line.zxids else None
    return drawn | ({"zxid": hex(zxid)} if zxid else {}) | ({"notes": notes} if notes else {})


def _recorded(occurrence: Occurrence) -> str:
    line = occurrence.line
    changed = ", ".join(f"{name} = {value}" for name, value in line.changed.items()) if line else ""
    return occurrence.title + (f"; changed: {changed}" if changed else "")


def _words(world: World, occurrence: Occurrence) -> str:
    line = occurrence.line
    if line is None:
        logged = occurrence.transaction
        return "Nobody recorded it: " + (f"ZooKeeper logged {logged.form()}." if logged else "the process ended.")
    if line.sends:
        return "A message that is no step of its sender."
    found = [t for t in world.cluster.model(line.part).transitions if t.function.__name__ == line.name]
    asked = "It was asked for, and its answer was not recorded. " if line.asks else ""
    return asked + (words_of(found[0], line.taken.arguments) if found else "The specification has no such step.")


def _arrows(lane: int, occurrence: Occurrence, took: Sent | None, sent: list[Sent]) -> list[dict]:
    """What it took from others, what it wrote to ZooKeeper, and what it sent."""
    line, found = occurrence.line, []
    if took:
        found.append({"from": 2 + took.sender, "to": lane, "label": took.kind, "kind": "message"})
    if line and line.zxids:
        found.append({"from": lane, "to": 0, "label": line.taken.answer or "", "kind": "request"})
    elif occurrence.transaction:
        found.append({"from": lane, "to": 0, "label": occurrence.transaction.form(), "kind": "request"})
    found += [
        {"from": lane, "to": 2 + each.receiver, "label": each.kind, "kind": "message"}
        for each in sent
        if each.receiver is not None
    ]
    return [arrow for arrow in found if arrow["from"] != arrow["to"]]


def _allowed(world: World, broker: int, brokers: BrokerIds) -> list[str]:
    """Steps of a broker that are enabled now without a message of another."""
    found = []
    for part in (ELECTION, PARTITION):
        for transition in world.cluster.model(part).transitions:
            wanted = transition.arguments.keys() - GIVEN
            if "b" not in wanted or not wanted <= set(CHOSEN):
                continue
            for choice in _choices(transition, world.scopes[part], broker):
                if world.enabled(part, transition.function.__name__, **choice):
                    found.append(str(brokers.with_ids(Step(transition.name, choice))))
                    break
    return [*found[:ALLOWED], f"and {len(found) - ALLOWED} more"] if len(found) > ALLOWED else found


def _choices(transition, scope, broker):
    choices = [{"b": broker}]
    for name in transition.arguments:
        if name in CHOSEN[1:]:
            choices = [
                choice | {name: value} for choice in choices for value in values(transition.arguments[name], scope)
            ]
    return choices
