"""``kafkaproof show``: a counterexample, or a recorded history, as a page, a picture, a graph, text or data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.terminal import columns
from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.check.run import begun, resumed
from kafkaproof.checker.commands.main import OK
from kafkaproof.checker.model.selection import properties_of, scope_for
from kafkaproof.checker.pictures import (
    HistoryError,
    beside_text,
    checked,
    metrics_text,
    path_dot,
    render,
    render_beside,
    to_itf,
    to_svg,
    to_text,
)
from kafkaproof.checker.pictures.histories import HISTORY, history_of
from kafkaproof.checker.pictures.text import ANY_WIDTH, WIDTH, WIDTH_OF_TWO
from kafkaproof.checker.runs.counterexample import (
    Trace,
    TraceError,
    executed,
    in_order_of,
    is_stuck,
    trace_of,
    violates,
)
from kafkaproof.checker.runs.directory import BESIDE, COUNTEREXAMPLE, RunDirectory
from kafkaproof.checker.runs.outcome import Found
from kafkaproof.spec.catalogue import found_again
from kafkaproof.spec.language.model import LIVENESS, Property
from kafkaproof.spec.own import is_own, shown

EXAMPLES = """examples:
  kafkaproof show runs/replication-kip101-20260101-120000-1f2e
  kafkaproof show runs/election-legacy-20260101-120000-1f2e --svg legacy.svg --itf legacy.itf.json
  kafkaproof show recorded.json --beside runs/election-legacy-20260101-120000-1f2e --output both.html

beside what real brokers did along the same counterexample:
  kafkaproof run --from-counterexample runs/election-legacy-20260101-120000-1f2e --kafka 1.1.1 --directory runs/real
  kafkaproof show runs/election-legacy-20260101-120000-1f2e --beside runs/real --svg both.svg
"""

NAMED = {"system": str, "variant": str, "model": str | None, "scope": dict}
"""The fields by which a trace names its model."""


@dataclass(frozen=True)
class Shown:
    """A history; for a counterexample of a model, also its trace and the property it violates."""

    history: dict
    trace: Trace | None = None
    violated: Property | None = None


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "show",
        help="draw a counterexample or a recorded history",
        epilog=EXAMPLES,
        description="Draw a counterexample, step by step, as one HTML page that needs no network, or in the forms that "
        "you ask for.",
    )
    parser.add_argument(
        "target",
        metavar="RUN|TRACE.json",
        help="a run directory of check, a file with a trace, or the directory of real brokers that were driven along one",
    )
    parser.add_argument(
        "--beside",
        metavar="RUN|TRACE.json",
        help="a second one, to compare: equal steps stand in one row, whichever brokers they are of",
    )
    parser.add_argument(
        "--property", metavar="P", help="which violation or goal of a run (default: the shortest violation)"
    )
    parser.add_argument("--text", action="store_true", help="print as text instead of writing a page")
    parser.add_argument("--metrics", action="store_true", help="print what operators would have seen, as a table")
    parser.add_argument("--output", metavar="FILE", help="the page (default: beside what is shown)")
    parser.add_argument("--svg", metavar="FILE", help="the diagram as one picture, for Markdown and slides")
    parser.add_argument("--dot", metavar="FILE", help="the path of states in Graphviz's language")
    parser.add_argument("--itf", metavar="FILE", help="the trace in Apalache's Informal Trace Format (JSON)")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Write the forms asked for (by default the page), and print where they are."""
    files = {name: getattr(options, name) for name in ("svg", "dot", "itf") if getattr(options, name)}
    if options.beside and (alone := [name for name in files if name != "svg"]):
        raise UserError(f"--{alone[0]} shows one history; leave out --beside, or write a page of both")
    shown = [load(options.target, options.property)]
    if options.beside:
        shown = _in_one_order([*shown, load(options.beside, None)])
    text = _printed(shown, options)
    written = {path: _written(name, shown, options.target) for name, path in files.items()}
    if options.output or not (text or files):
        written[options.output or str(_default(options.target, bool(options.beside)))] = _page(shown)
    for path, content in written.items():
        Path(path).write_text(content, encoding="utf-8")
    if text:
        print(text)
    if written:
        steps = " and ".join(counted(one.history["steps"], "step") for one in shown)
        print(f"{steps}; open {', '.join(written)}")
    return OK


def _in_one_order(shown):
    """Two histories, with the steps of a counterexample in the order of the recording beside it, where they commute."""
    for place, (one, other) in enumerate((shown[:], shown[::-1])):
        if one.trace and not other.trace:
            found = in_order_of(one.trace, [step["text"] for step in other.history["steps"]])
            if found is not one.trace:
                history = history_of(found, one.violated)
                told = "Steps that may come in any order come as in the recording beside it."
                shown[place] = Shown({**history, "story": f"{history['story']} {told}".strip()}, found, one.violated)
    return shown


def _printed(shown, options):
    histories = [one.history for one in shown]
    texts = []
    if options.text and len(histories) == 1:
        texts.append(to_text(histories[0], columns(WIDTH)))
    elif options.text:
        texts.append(beside_text(histories[0], histories[1], columns(WIDTH_OF_TWO)))
    return "\n".join(texts + [metrics_text(history, columns(ANY_WIDTH)) for history in histories if options.metrics])


def _page(shown):
    return render(shown[0].history) if len(shown) == 1 else render_beside(*(one.history for one in shown))


def _written(name, shown, target):
    if name == "svg":
        return to_svg(*(one.history for one in shown))
    if name == "dot":
        return path_dot(shown[0].history)
    if shown[0].trace is None:
        raise UserError(f"{target} is a recorded history; --itf writes counterexamples of a model")
    return json.dumps(to_itf(shown[0].trace, shown[0].violated), indent=1) + "\n"


def _default(target, beside):
    path = Path(target)
    if not path.is_dir():
        return path.with_suffix(".html")
    alone = HISTORY.with_suffix(".html").name if (path / HISTORY).is_file() else COUNTEREXAMPLE
    return path / (BESIDE if beside else alone)


def load(target: str, prop: str | None) -> Shown:
    """Load a run's violation, a trace or history from a file, or the history in a cluster's directory.

    A trace file names ``system``, ``variant``, ``scope`` and ``trace`` (step texts), as an entry of
    ``check --json`` does. Raises UserError.
    """
    if is_own(target) and not Path(target).exists():
        raise UserError(f"{target} is a model; `show` draws a run of it, which is made by: kafkaproof check {target}")
    if Path(target).is_file():
        data = _read(target)
        return _recorded(data, target) if "steps" in data else _from_result(data, prop, target)
    if (recording := Path(target) / HISTORY).is_file():
        return _recorded(_read(recording), recording)
    if recording.parent.is_dir():
        raise UserError(
            f"{target} is the directory of a cluster, and has no {HISTORY}: only real brokers that are driven along a "
            f"counterexample leave one. To draw the first violation or divergence in it, write one with: "
            f"kafkaproof replay {target} --history FILE"
        )
    if "://" not in target and not Path(target).exists():
        raise UserError(
            f"no file or directory {target!r}; name a run (`kafkaproof runs` lists them), or a file with a trace"
        )
    result = RunDirectory(target)
    manifest = result.described()
    found = result.result()
    if found is None:
        raise UserError(f"{target} is not finished; go on with: kafkaproof check --resume {target}")
    prop = _known(manifest, prop, tuple(manifest["properties"]))
    goal = next((goal for goal in found.get("reached", []) if goal["property"] == prop), None)
    if goal:
        return _witness(result, manifest, goal)
    loaded = _from_result({**manifest, **found}, prop, target, tuple(manifest["properties"]))
    if manifest["model"]:
        begun(result)  # a model of one's own changes from day to day: it is refused where it has, since the run
    return loaded


def _known(manifest, name, asked):
    """The name of a property of a run by its name or id, one of the user's own included; raises UserError if it is none."""
    if name is None or name == "deadlock" or name in {each.rpartition(":")[2] for each in asked}:
        return name
    model = found_again(manifest)
    return properties_of(model, model.scope, (name,))[0].name


def _witness(run, manifest, goal):
    """The path to a goal that a run has reached: a shortest one, or that of a walk."""
    if manifest.get("walks"):
        model = found_again(manifest)
        trace, kind = _again(model, scope_for(model, None, manifest["scope"]), goal["trace"]), "a walk"
    else:
        _, kernel, _ = resumed(run)
        trace, kind = trace_of(run, kernel, Found(goal["property"], goal["level"], goal["state"])), "a shortest way"
    history = history_of(trace, None)
    text = next(p.text for p in trace.model.properties if p.name == goal["property"])
    history["title"] += f": {kind} to {goal['property']}"
    if history["steps"]:
        history["steps"][-1]["notes"] = [f"reaches {goal['property']}: {text}"]
    return Shown(history, trace)


def _recorded(data, target):
    """A recorded history; raises UserError if it is not one."""
    try:
        return Shown(checked(data))
    except HistoryError as error:
        raise UserError(f"{target}: {error}") from error


def _read(target):
    try:
        data = json.loads(Path(target).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{target} is not JSON: {error}") from error
    runs = data.get("runs") if isinstance(data, dict) else None
    data = runs[0] if isinstance(runs, list) and runs else data
    if not isinstance(data, dict):
        raise UserError(f"{target} holds neither a history nor a trace")
    return data


def _from_result(data, prop, target, asked=()):
    missing = [name for name, kind in NAMED.items() if not isinstance(data.get(name), kind)]
    if missing:
        raise UserError(f"{target} holds neither a history nor a trace: no {missing[0]!r}")
    violation = data if "trace" in data else _chosen(data, prop, target)
    if not _is_texts(violation.get("trace")):
        raise UserError(f"{target}: a trace is a list of steps as text")
    try:
        model = found_again(data)
    except LookupError as error:
        raise UserError(f"{target}: {error.args[0]}") from error
    if data["scope"].keys() != model.scope.keys():
        raise UserError(f"{target}: a scope of {model.system} gives {', '.join(model.scope)}")
    if not all(type(size) is int for size in data["scope"].values()):
        raise UserError(f"{target}: the numbers of a scope are whole")
    scope = scope_for(model, None, data["scope"])
    trace = _again(model, scope, violation["trace"])
    trace.loop = violation.get("loop")
    name = violation.get("property")
    violated = _judged(model, trace, name, _named(model, scope, name, asked), target)
    return Shown(history_of(trace, violated), trace, violated)


def _again(model, scope, texts):
    """The behaviour that a trace is; raises UserError, and where a model of one's own is another now, says so."""
    try:
        return executed(model, scope, texts)
    except TraceError as error:
        if model.origin:
            raise UserError(f"{error}: {shown(model.origin)} has changed since; check it again") from error
        raise


def _named(model, scope, name, asked):
    """The property of this name: the model's, or a user's own that a run has `asked` by its file; None for neither."""
    own = next((each for each in asked if each.endswith(f".py:{name}")), None)
    return (
        properties_of(model, scope, (own,))[0] if own else next((p for p in model.properties if p.name == name), None)
    )


def _judged(model, trace, name, violated, target):
    """The property that a trace violates, found by its `name`; None if it names none. Raises UserError."""
    if trace.loop is not None and (violated is None or trace.loop not in range(len(trace.steps) + 1)):
        told = f"a loop is a number of steps of the trace, and violates a property of {model.system}"
        raise UserError(f"{target}: {told}")
    if (name == "deadlock" and not is_stuck(trace)) or (
        violated and violated.kind not in LIVENESS and not violates(trace, violated)
    ):
        raise UserError(f"{target}: {name} is not violated at the end of this trace")
    if violated and violated.kind in LIVENESS and trace.loop is None:
        raise UserError(f"{target}: {name} is violated by a loop; the trace has no 'loop'")
    return violated


def _chosen(data, prop, target):
    """The violation asked for, by default the shortest; raises UserError, with the property's verdict, if there is
    none.
    """
    violations = data.get("violations", [])
    readable = isinstance(violations, list) and all(isinstance(v, dict) for v in violations)
    if not readable or not _is_texts([v.get("property") for v in violations]):
        raise UserError(f"{target}: violations are a list of objects, each with a property")
    if not all(_is_texts(data.get(name, [])) for name in ("undecided", "properties")):
        raise UserError(f"{target}: properties are a list of names")
    chosen = [v for v in violations if prop in (None, v["property"])]
    if chosen:
        return chosen[0]
    known = f"violated are {', '.join(v['property'] for v in violations)}" if violations else "nothing is violated"
    named = shown(data["model"]) if data.get("model") else f"{data['system']} --variant {data['variant']}"
    check = f"kafkaproof check {named} {_sizes(data['scope'])}"
    if prop is not None and data.get("walks") and prop in data["properties"]:
        raise UserError(
            f"{target}: no walk violated {prop}, which does not mean that it holds; decide it with: {check} --property {prop}"
        )
    went_on = f"go on with: kafkaproof check --resume {data.get('run_dir')}"
    if prop in data.get("undecided", []):
        why = (
            f"at --{data['stopped_by']}; {went_on}"
            if data.get("stopped_by")
            else (f"at the violation of {data.get('violated')}; decide it with: {check} --property {prop}")
        )
        raise UserError(f"{target}: {prop} was not decided, the run stopped {why}")
    if prop is not None and prop not in data.get("properties", [prop]):
        raise UserError(f"{target}: {prop} was not asked in this run; ask it with: {check} --property {prop}")
    if prop is not None:
        raise UserError(f"{target}: {prop} is not violated at this scope; {known}")
    told = (
        f"so far; {went_on}"
        if data.get("verdict") == "incomplete"
        else (f"({data.get('verdict')}), so there is no counterexample to show")
    )
    raise UserError(f"{target}: nothing is violated {told}")


def _is_texts(value):
    """Whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _sizes(scope):
    """A scope as options of the command line."""
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in scope.items())
