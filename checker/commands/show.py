"""``kafkaproof show``: a counterexample, or a recorded history, as a page or as text."""

from __future__ import annotations

import json
from pathlib import Path

from checker.commands.main import OK
from checker.counterexample import executed
from checker.errors import UserError
from checker.histories import history_of
from checker.pictures import HistoryError, beside_text, render, render_beside, to_text
from checker.rundir import RunDirectory
from spec.catalogue import find

EXAMPLES = """examples: kafkaproof show runs/replication-kip101-20260101-120000-1f2e;
kafkaproof show recorded.json --beside runs/election-legacy-20260101-120000-1f2e --output both.html"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "show", help="draw a counterexample or a recorded history", epilog=EXAMPLES,
        description="Draw a run's counterexample, or a trace, as one HTML page that needs no network.",
    )
    parser.add_argument("target", metavar="RUN|TRACE.json", help="a run directory, or a file with a trace")
    parser.add_argument("--beside", metavar="RUN|TRACE.json", help="a second history, to compare step by step")
    parser.add_argument("--property", metavar="P", help="which violation of a run (default: the shortest)")
    parser.add_argument("--text", action="store_true", help="print as text instead of writing a page")
    parser.add_argument("--output", metavar="FILE", help="the page (default: beside what is shown)")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Write the page and say where it is, or print the text."""
    try:
        histories = [load(options.target, options.property)]
        if options.beside:
            histories.append(load(options.beside, None))
        if options.text:
            print(beside_text(*histories) if options.beside else to_text(histories[0]))
            return OK
        page = render_beside(*histories) if options.beside else render(histories[0])
    except HistoryError as error:
        raise UserError(f"{options.target}: {error}") from error
    output = Path(options.output or _default(options.target, bool(options.beside)))
    output.write_text(page, encoding="utf-8")
    print(f"{len(histories[0]['steps'])} steps; open {output}")
    return OK


def _default(target, beside):
    name = "beside.html" if beside else "counterexample.html"
    path = Path(target)
    return path / name if path.is_dir() else path.with_suffix(".html")


def load(target: str, prop: str | None) -> dict:
    """The history of a run's violation, of a trace file, or as it stands in a file.

    A trace file names ``system``, ``variant``, ``scope`` and ``trace`` (step texts), as an entry of
    ``check --json`` does. Raises UserError.
    """
    if Path(target).is_file():
        data = _read(target)
        return data if "steps" in data else _from_result(data, prop, target)
    result = RunDirectory(target)
    manifest = result.run()
    found = result.result()
    if found is None:
        raise UserError(f"{target} is not finished; go on with: kafkaproof check --resume {target}")
    return _from_result({**manifest, **found}, prop, target)


def _read(target):
    try:
        data = json.loads(Path(target).read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{target} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise UserError(f"{target} holds neither a history nor a trace")
    runs = data.get("runs")
    return runs[0] if isinstance(runs, list) and runs else data


def _from_result(data, prop, target):
    missing = [name for name in ("system", "variant", "scope") if name not in data]
    if missing:
        raise UserError(f"{target} holds neither a history nor a trace: no {missing[0]!r}")
    if "trace" in data:
        violation = {"property": data.get("property"), "trace": data["trace"]}
    else:
        violation = _chosen(data.get("violations", []), prop, target, data.get("verdict"))
    try:
        model = find(data["system"], data["variant"])[0]
    except LookupError as error:
        raise UserError(f"{target}: {error.args[0]}") from error
    if not isinstance(data["scope"], dict) or data["scope"].keys() != model.scope.keys():
        raise UserError(f"{target}: a scope of {model.system} gives {', '.join(model.scope)}")
    trace = executed(model, data["scope"], violation["trace"])
    violated = next((p for p in model.properties if p.name == violation["property"]), None)
    return history_of(trace, violated)


def _chosen(violations, prop, target, verdict):
    if not violations:
        raise UserError(f"{target}: nothing is violated ({verdict}), so there is no counterexample to show")
    chosen = [v for v in violations if prop in (None, v["property"])]
    if not chosen:
        raise UserError(f"{target}: {prop} is not violated; violated are {', '.join(v['property'] for v in violations)}")
    return chosen[0]
