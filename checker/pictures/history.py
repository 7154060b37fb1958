"""A history: what happened, step by step, with the state after each step.

A history is JSON, whether of a counterexample of a model or of a recorded cluster:

    {"format": 1,
     "title": "replication, variant kip101",
     "system": "replication",
     "variant": "kip101",
     "scope": {"brokers": 3},                      any plain values
     "property": {"name": "strong_isr",            or null
                  "text": "what it demands, in words"},
     "story": "a few sentences",                   optional
     "lanes": ["controller", "broker 0", "ZooKeeper"],
     "metrics": [{"name": "offline_partitions",    optional: metrics over time
                  "text": "what it counts",
                  "values": [0, 0, 1]}],           one for each state, the initial one first
     "initial": {...},                             the state before the first step
     "steps": [
       {"text": "replication.become_leader(request=0)",
        "lane": 1,                                 who acts: a place in lanes
        "words": "one sentence: what it does",
        "arrows": [{"from": 0, "to": 1,            places in lanes
                    "label": "LeaderAndIsr epoch 0",
                    "kind": "request"}],           request, answer, event or message
        "state": {...},                            the state after the step
        "zxid": "0x9b",                            optional
        "time": "03:24:44.356",                    optional
        "violates": ["strong_isr"],                optional: names of what it violates
        "story": "a sentence",                     optional: what is told before it
        "notes": ["a sentence"],                   optional: what is told after it
        "group": "fetch rounds"}],                 optional: see below
     "loop": 7,                                    optional: the steps behind this one are repeated for ever
     "reasons": ["weak fairness of ..."]}          optional: why that may be, a line each

With `loop`, the last state is the state after that step. If no step follows it, nothing more happens.
A state is an object of nested objects, lists, strings, numbers, booleans and nulls.
Steps are numbered from 1; step 0 is the initial state. In a history of more than 300
steps, neighbouring steps of the same group are shown folded into one row. Fields other
than these are refused, so that a misspelt `violates` is not lost silently.
"""

import json

KINDS = ("request", "answer", "event", "message")

HISTORY = {
    "format": int,
    "title": str,
    "system": str,
    "variant": str,
    "scope": dict,
    "property": (dict, type(None)),
    "lanes": list,
    "initial": dict,
    "steps": list,
}
PROPERTY = {"name": str, "text": str}
STEP = {"text": str, "lane": int, "words": str, "arrows": list, "state": dict}
STEP_OPTIONAL = {"zxid": str, "time": str, "violates": list, "story": str, "notes": list, "group": str}
METRIC = {"name": str, "text": str, "values": list}
ARROW = {"from": int, "to": int, "label": str, "kind": str}

KIND_NAMES = {
    int: "a whole number",
    str: "a string",
    list: "a list",
    dict: "an object",
    (dict, type(None)): "an object or null",
}


class HistoryError(ValueError):
    """A history that cannot be shown; the message is one line that names what is wrong."""


def checked(history):
    """A copy of the history as plain JSON; raises HistoryError when it is not a history."""
    try:
        text = json.dumps(history, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise HistoryError(f"history: not plain JSON: {error}") from None
    history = json.loads(text)
    _fields("history", history, HISTORY, {"story": str, "metrics": list, "loop": int, "reasons": list})
    if history["format"] != 1:
        raise HistoryError(f"history: format {history['format']} is not known, only 1")
    if history["property"] is not None:
        _fields("property", history["property"], PROPERTY, {})
    _strings("history", "lanes", history["lanes"])
    if not history["lanes"]:
        raise HistoryError('history: "lanes" is empty')
    for number, step in enumerate(history["steps"], start=1):
        _check_step(f"step {number}", step, len(history["lanes"]))
    for metric in history.get("metrics", []):
        _check_metric(metric, len(history["steps"]) + 1)
    _strings("history", "reasons", history.get("reasons", []))
    _check_loop(history)
    return history


def _check_metric(metric, states):
    _fields("metric", metric, METRIC, {})
    if len(metric["values"]) != states or not all(type(value) is int for value in metric["values"]):
        raise HistoryError(f'metric {metric["name"]}: "values" must be {states} whole numbers, one for each state')


def _check_loop(history):
    states = [history["initial"], *(step["state"] for step in history["steps"])]
    loop = history.get("loop", len(states) - 1)
    if not 0 <= loop < len(states) or states[loop] != states[-1]:
        raise HistoryError(f'history: "loop" is {loop}, but the last state is not the one after that step')


def _check_step(where, step, lanes):
    _fields(where, step, STEP, STEP_OPTIONAL)
    _lane(where, "lane", step["lane"], lanes)
    for name in ("violates", "notes"):
        _strings(where, name, step.get(name, []))
    for number, arrow in enumerate(step["arrows"], start=1):
        here = f"{where}, arrow {number}"
        _fields(here, arrow, ARROW, {})
        _lane(here, "from", arrow["from"], lanes)
        _lane(here, "to", arrow["to"], lanes)
        if arrow["kind"] not in KINDS:
            raise HistoryError(f'{here}: "kind" must be one of {", ".join(KINDS)}')


def _fields(where, value, required, optional):
    if not isinstance(value, dict):
        raise HistoryError(f"{where}: must be an object")
    for name in required:
        if name not in value:
            raise HistoryError(f'{where}: "{name}" is missing')
    for name, item in value.items():
        kind = required.get(name) or optional.get(name)
        if kind is None:
            raise HistoryError(f"{where}: {json.dumps(name)} is not a known field")
        if not isinstance(item, kind) or isinstance(item, bool):
            raise HistoryError(f'{where}: "{name}" must be {KIND_NAMES[kind]}')


def _strings(where, name, items):
    if not all(isinstance(item, str) for item in items):
        raise HistoryError(f'{where}: "{name}" must be a list of strings')


def _lane(where, name, lane, lanes):
    if not 0 <= lane < lanes:
        raise HistoryError(f'{where}: "{name}" is {lane}, but the lanes are 0 to {lanes - 1}')


def violations(history):
    """The numbers of the steps that violate something."""
    return [number for number, step in enumerate(history["steps"], start=1) if step.get("violates")]


def metric_changes(history, number):
    """The metrics that step `number` changed, as (name, old, new)."""
    both = [(metric["name"], *metric["values"][number - 1 : number + 1]) for metric in history.get("metrics", [])]
    return [(name, old, new) for name, old, new in both if old != new]


def loop_text(history):
    """What is repeated for ever, in words; empty without a loop."""
    loop, last = history.get("loop"), len(history["steps"])
    if loop is None:
        return ""
    if loop == last:
        return "the system may stay in this state for ever"
    which = f"steps {loop + 1} to {last} are" if last > loop + 1 else f"step {last} is"
    return f"{which} repeated for ever"


def scope_text(history):
    """The scope in one line: `brokers 3, partitions 1`."""
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in history["scope"].items())
