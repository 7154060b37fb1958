"""A place as files: a scenario, a trace, a page, and the command that opens it again."""

from __future__ import annotations

import json
import shlex

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.interactive.session import Session
from kafkaproof.checker.pictures import render
from kafkaproof.checker.pictures.histories import history_of
from kafkaproof.checker.runs.counterexample import Trace
from kafkaproof.spec.own import shown
from kafkaproof.spec.running.processes import why_not_run


def scenario_text(session: Session, trace: Trace) -> str:
    """The behaviour as a scenario that ``kafkaproof scenario`` plays."""
    _require_beginning(session)
    model, sizes = trace.model, " ".join(f"{name}={size}" for name, size in trace.scope.items())
    head = [f"title   A path of {model.name}"] + ([] if model.origin else [f"system  {model.system}"])
    lines = [*head, f"scope   {sizes}", f"variant {shown(model.origin) if model.origin else model.variant}", ""]
    for step in session.look(trace)["path"]:
        lines += [step["text"], *(f"violates {name}" for name in step["breaks"])]
    return "\n".join(lines) + "\n"


def trace_text(session: Session, trace: Trace) -> str:
    """The behaviour as a trace that ``show`` draws and ``run --from-counterexample`` drives; it names what its last step
    breaks.
    """
    _require_beginning(session)
    path = session.look(trace)["path"]
    broken = path[-1]["breaks"] if path else []
    model = trace.model
    data = {"system": model.system, "variant": model.variant, "model": model.origin or None, "scope": dict(trace.scope)}
    data |= {"property": broken[0]} if broken else {}
    return json.dumps({**data, "trace": [step["text"] for step in path]}, indent=1) + "\n"


def page_of(session: Session, trace: Trace) -> str:
    """The behaviour as the page that ``show`` writes."""
    history = history_of(trace, None)
    for step, seen in zip(history["steps"], session.look(trace)["path"], strict=True):
        step["violates"] = seen["breaks"]
    return render(history)


def command_of(session: Session, trace: Trace) -> str:
    """The command that opens this place again."""
    model, steps = trace.model, "; ".join(str(step) for step, _, _ in trace.steps)
    initial = session.initial_of(trace)
    chosen = ["--initial", str(initial)] if initial else []
    if session.opened:
        words, there = ["kafkaproof", "explore", *session.opened.command, *chosen], session.opened.paths[initial]
        if not steps and there:
            return shlex.join([*words, "--step", "0"])
        return shlex.join([*words, "--steps", steps] if steps != "; ".join(there) else words)
    named = [shown(model.origin)] if model.origin else [model.system, "--variant", model.variant]
    words = ["kafkaproof", "explore", *named]
    for name, size in trace.scope.items():
        words += [f"--{name.replace('_', '-')}", str(size)]
    words += chosen
    return shlex.join([*words, "--steps", steps] if steps else words)


def live_command(session: Session, file: str) -> str:
    """The command that drives running brokers along a path that was saved as a trace. Raises UserError where none can be."""
    _require_beginning(session)
    model = session.model
    if model.origin:
        raise UserError(f"{shown(model.origin)} is a model of one's own, and nothing runs it")
    if reason := why_not_run(model.system, model.variant):
        raise UserError(reason)
    return shlex.join(["kafkaproof", "run", "--from-counterexample", file])


def _require_beginning(session: Session) -> None:
    """Raise UserError where the path does not begin at an initial state."""
    if session.opened:
        raise UserError("this path begins in a recording, and scenarios, traces and live runs at an initial state")
