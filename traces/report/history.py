"""A replayed log as a history for `kafkaproof show`: the steps that led to the first violation or divergence."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kafkaproof.spec.election import election, faults, session
from kafkaproof.spec.election.active_controller import clean, write_state, write_when_asked
from kafkaproof.spec.election.history import legacy
from kafkaproof.spec.election.model import MODELS
from kafkaproof.spec.language.drawn import words_of
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.steps import names
from kafkaproof.traces.basics.times import time_of_day
from kafkaproof.traces.explain.election.possibilities import Candidate, Shared
from kafkaproof.traces.explain.election.result import Result
from kafkaproof.traces.explain.election.steps import Step

_MOST = 60
_WON = names(election.register, legacy.raise_epoch, election.found_epoch)
_WRITING = names(clean, write_state, write_when_asked)
_OPENING = names(session.start, session.reopen)
_CLOSING = names(faults.stop, session.die)
_EXPIRING = names(faults.expire_session, faults.expire_orphan)
_UNKNOWN = Candidate("unexplained", None)


@dataclass
class _Row:
    """Neighbouring steps that are alike: the first, the last, how many, and what they are in other streams."""

    first: Step
    last: Step
    count: int = 1
    told: set[str] = field(default_factory=set)


def history_of(result: Result, source: str) -> dict | None:
    """The history of the first violation, else of the divergence; None where there is neither."""
    if not result.violations.found and not result.divergence:
        return None
    model = next(model for model in MODELS if model.variant == result.variant)
    steps, name, text = _story(result)
    rows = _rows(steps, result.told)
    chosen = rows[_start(rows, result) :]
    brokers = sorted({step.broker for step in steps if step.broker is not None})
    lanes = ["zookeeper", "operator"] if any(row.first.broker is None for row in chosen) else ["zookeeper"]
    lanes += [f"broker {b}" for b in brokers]
    states = _states(rows, brokers, result.beginning)
    skipped = len(rows) - len(chosen)
    return {
        "format": 1,
        "title": f"a real cluster, held to election, variant {result.variant}",
        "system": "election",
        "variant": result.variant,
        "scope": {"brokers": brokers},
        "property": {"name": name, "text": text},
        "story": f"From {source}. {model.story} Steps that leave no trace in ZooKeeper's log are not drawn.",
        "lanes": lanes,
        "initial": states[skipped],
        "steps": [_drawn(row, state, model, lanes, name) for row, state in zip(chosen, states[skipped + 1 :])],
    }


def _story(result: Result) -> tuple[list[Step], str, str]:
    """The steps up to the end of the first violating run, the property's name and its text."""
    if result.violations.found:
        first, steps, violating = min(result.violations.found.values(), key=lambda each: each.zxid), [], None
        for step in result.steps:
            if violating and step.violates != violating:
                break
            if not violating and first.property in step.violates:
                violating = step.violates
            steps.append(step)
        return steps, first.property, first.text
    if result.divergence is None or result.diverging is None:
        raise ValueError("nothing is violated, and nothing diverges")
    (_, reason), (transaction, broker) = result.divergence, result.diverging
    steps = list(result.steps)
    last = steps[-1].shared if steps else result.beginning
    unexplained = Step(transaction, broker, _UNKNOWN, 0, last, ("conformance",))
    return [*steps, unexplained], "conformance", f"Every record is a step of the specification. {reason}"


def _rows(steps: list[Step], told: Mapping[int, str]) -> list[_Row]:
    """Runs of steps that differ only in the znode that is written, as one row each."""
    rows: list[_Row] = []
    for step in steps:
        if rows and _alike(rows[-1].last, step):
            rows[-1].last = step
            rows[-1].count += 1
        else:
            rows.append(_Row(step, step))
        rows[-1].told |= {told[zxid]} if (zxid := step.transaction.zxid) in told else set()
    return rows


def _alike(one: Step, other: Step) -> bool:
    same = replace(one, transaction=other.transaction) == other
    return same and other.candidate.name in _WRITING


def _start(rows: list[_Row], result: Result) -> int:
    """The row to begin with: the first, the writer's election, the end of its term, or as late as it must be."""
    term = result.controllers.at(rows[-1].first.term)
    zxids = [0] + ([term.zxid, term.ended_zxid or 0] if term else [])
    for zxid in zxids:
        start = next(i for i, row in enumerate(rows) if row.last.transaction.zxid >= zxid)
        if len(rows) - start <= _MOST:
            return start
    return len(rows) - _MOST


def _states(rows: list[_Row], brokers: list[int], beginning: Shared) -> list[dict]:
    """What is known before the first row and after each."""
    unknown = {"session": "unknown", "registered": None, "role": "unknown"}
    nothing = {"session": "none", "registered": False, "role": "not started"}
    beliefs = {f"broker_{b}": nothing if beginning == Shared() else unknown for b in brokers}
    states = [_state(beginning, beliefs)]
    for row in rows:
        if row.last.broker is not None:
            name = f"broker_{row.last.broker}"
            beliefs = {**beliefs, name: beliefs[name] | _belief(row.last)}
        states.append(_state(row.last.shared, beliefs))
    return states


def _state(shared: Shared, beliefs: dict) -> dict:
    controller = None if shared.controller is None else f"broker {shared.controller}"
    return {"controller": controller, "controller_epoch": None if shared.epoch < 0 else shared.epoch, **beliefs}


def _belief(step: Step) -> dict:
    """What its own step tells of a broker: only a record of its own shows that it knows of anything."""
    name, answer = step.candidate.name, step.candidate.answer
    if name in _OPENING:
        return {"session": "open", "role": "no controller"}
    if name in _CLOSING:
        return {"session": "closed", "registered": False, "role": "stopped"}
    if name in _EXPIRING:
        return {"session": "expired", "registered": False}
    if name == session.register_broker.__name__:
        return {"registered": answer == "OK"}
    if name == legacy.create.__name__ and answer == "OK":
        return {"role": "owner of /controller, in no epoch yet"}
    if name in _WON and answer == "OK" and step.shared.epoch > 0:
        return {"role": f"controller of epoch {step.shared.epoch}"}
    if step.term:
        return {"role": f"controller of epoch {step.term}" + (", refused" if answer == "FENCED" else "")}
    return {}


def _drawn(row: _Row, state: dict, model: Model, lanes: list[str], name: str) -> dict:
    """A row as a step of the history."""
    step = row.first
    lane = lanes.index("operator" if step.broker is None else f"broker {step.broker}")
    answer = f" -> {step.candidate.answer}" if step.candidate.answer else ""
    found = [t for t in model.transitions if t.function.__name__ == step.candidate.name]
    argument = "" if step.broker is None else f"b={step.broker}"
    called = f"{found[0].name}({argument})" if found else "no step"
    drawn = {
        "text": f"{called}{answer}" + (f", {row.count} times" if row.count > 1 else ""),
        "lane": lane,
        "words": _words(row, found),
        "arrows": _arrows(step, lane),
        "state": state,
        "zxid": hex(step.transaction.zxid) + (f" to {row.last.transaction.zxid:#x}" if row.count > 1 else ""),
        "time": time_of_day(step.transaction.time),
    }
    return {**drawn, "violates": [name]} if name in step.violates else drawn


def _words(row: _Row, found: list[Transition]) -> str:
    more = f" and {row.count - 1} more" if row.count > 1 else ""
    told = f" ({', '.join(sorted(row.told))})" if row.told else ""
    logged = f"In the log: {row.first.transaction.form()}{more}{told}."
    if not found:
        return f"{logged} No step of the specification makes it."
    step = row.first
    if step.term:
        logged += f" Its writer rules in epoch {step.term}; /controller_epoch is {step.shared.epoch}."
    if step.candidate.name == clean.__name__:
        return f"{logged} (This transition stands for all writes of a controller that depend on no version.)"
    return f"{logged} {words_of(found[0], {} if step.broker is None else {'b': step.broker})}"


def _arrows(step: Step, lane: int) -> list[dict]:
    """The request to ZooKeeper; the end of a session is told by ZooKeeper."""
    if step.candidate.name in _EXPIRING:
        return [{"from": 0, "to": lane, "label": "session over", "kind": "event"}]
    label = step.candidate.answer or step.transaction.form()
    return [{"from": lane, "to": 0, "label": label, "kind": "request"}]
