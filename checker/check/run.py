"""One check from start to verdict: begin or resume a run, explore, and make the result."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import llvmlite

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.check.answers import as_expected, failure_of, liveness_of, not_asked, not_shown, undecided
from kafkaproof.checker.compile.kernel import Kernel, count_steps
from kafkaproof.checker.explore.explorer import Explorer, Limits
from kafkaproof.checker.explore.progress import Progress
from kafkaproof.checker.liveness.decide import Decided, decide
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.model.selection import Check, properties_of, scope_for
from kafkaproof.checker.runs.counterexample import Trace, require_no_fault, trace_of
from kafkaproof.checker.runs.directory import RunDirectory, RunError
from kafkaproof.checker.runs.table import STEP_BITS
from kafkaproof.spec.catalogue import found_again
from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.model import LIVENESS
from kafkaproof.spec.own import absolute

FURTHER = 250_000
"""After a violation a run goes on to the end, unless it has more states: then what else is violated stays open."""


def begin(
    check: Check, kernel: Kernel, run: RunDirectory, partitions: int, walks: dict[str, int] | None = None
) -> None:
    """Write ``run.json`` for a new run: a search, or random `walks` with their seed and length."""
    symmetry = {"sorts": list(check.model.interchangeable), "renamings": kernel.symmetry.count}
    run.create(
        {
            "system": check.model.system,
            "variant": check.model.variant,
            "model": check.model.origin or None,
            "scope": dict(check.scope),
            "properties": [absolute(name) for name in check.properties],
            "keep_going": check.keep_going,
            "deadlock": check.deadlock,
            "symmetry": symmetry if check.symmetry else None,
            "partitions": partitions,
            "walks": walks,
            "source": source_of(kernel),
            "command": sys.argv[1:],
            "created": datetime.now().isoformat(timespec="seconds"),
            "versions": versions(),
        }
    )


def resumed(run: RunDirectory) -> tuple[Check, Kernel, int]:
    """The check, kernel and number of partitions of an earlier run.

    Raises RunError when the model has changed since, or when a level is damaged.
    """
    found = begun(run)
    run.verify()
    return found


def begun(run: RunDirectory) -> tuple[Check, Kernel, int]:
    """The check, kernel and number of partitions of an earlier run; raises RunError when the model has changed since."""
    manifest = run.described()
    if manifest.get("walks"):
        raise RunError(f"{run.uri} has random walks, which are not resumed; walk again with another --seed")
    try:
        model = found_again(manifest)
        if manifest["scope"].keys() != model.scope.keys():
            raise UserError(f"a scope of {model.system} gives {', '.join(model.scope)}")
        check = Check(
            model,
            scope_for(model, None, manifest["scope"]),
            tuple(manifest["properties"]),
            manifest["keep_going"],
            manifest["deadlock"],
            manifest["symmetry"] is not None,
        )
        require_possible(check)
        kernel = kernel_of(check)
    except (LookupError, UserError) as error:
        raise RunError(f"{run.uri} cannot be resumed: {error}") from error
    if source_of(kernel) != manifest["source"]:
        raise RunError(f"{run.uri} was made by another version of {model.name}; begin a new run")
    return check, kernel, manifest["partitions"]


def source_of(kernel: Kernel) -> str:
    """A hash of what the levels of a run depend on: the compiled text, the names in it, and the initial states."""
    compiled = kernel.compiled
    initial = [kernel.packing.pack(state).tolist() for state in Execution(kernel.model, kernel.scope).initial_states()]
    asked = [(p.name, p.kind, p.of) for p in kernel.state_properties + kernel.step_properties + kernel.liveness]
    text = repr((compiled.entry, compiled.transition_names, compiled.bounds, asked, initial))
    return hashlib.sha256(text.encode()).hexdigest()


def versions() -> dict[str, str]:
    """The versions of the software that a result depends on."""
    return {
        "kafkaproof": importlib.metadata.version("kafkaproof"),
        "python": platform.python_version(),
        "llvmlite": llvmlite.__version__,
        "numba": importlib.metadata.version("numba"),
        "pyspark": importlib.metadata.version("pyspark"),
    }


def require_possible(check: Check) -> None:
    """Look at what is asked before its kernel is made, which takes longer. With symmetry, the model is proved to be symmetric.

    Raises UserError for a scope with too many steps, or for a liveness property that is asked for by name together with
    symmetry; AsymmetryError for a model that is not symmetric; RuleError for what is one's own and not of the language.
    """
    properties = properties_of(check.model, check.scope, check.properties)
    endless = [p.name for p in properties if p.kind in LIVENESS]
    if check.symmetry and check.properties and endless:
        raise UserError(f"{check.model.system}: {endless[0]} is a liveness property; check it without --symmetry")
    if check.model.origin or check.properties:
        require_accepted(replace(check.model, properties=properties), check.scope)
    steps = count_steps(check.model, check.scope)
    if steps >= 1 << STEP_BITS:
        raise UserError(f"{check.model.system}: the scope has {steps} steps, more than {1 << STEP_BITS}")
    if check.symmetry:
        from kafkaproof.checker.prove.interchangeable import require_symmetry  # z3 is needed only here

        require_symmetry(check.model, check.scope, properties)


def kernel_of(check: Check) -> Kernel:
    """The kernel of a check, not yet compiled."""
    properties = properties_of(check.model, check.scope, check.properties)
    return Kernel(check.model, check.scope, properties, check.symmetry)


def perform(
    check: Check,
    kernel: Kernel,
    run: RunDirectory,
    context,
    partitions: int,
    limits: Limits,
    memory: int | None,
    startup: float,
    place: str = "",
) -> dict:
    """Explore, and return the result in the form of ``check --json``. The run directory keeps it too.

    Tables of seen states take at most `memory` bytes, if it is given.
    `startup` is the time spent before, in seconds; `place` says in the progress which run of several it is.
    """
    began = time.monotonic()
    progress = Progress(f"{place}{check.model.name}")
    explorer = Explorer(
        run,
        kernel,
        context,
        partitions,
        keep_going=check.keep_going,
        further=FURTHER,
        deadlock=check.deadlock,
        limits=limits,
        memory=memory,
        progress=progress,
    )
    exploring = time.monotonic()
    try:
        explorer.explore()
        seconds = time.monotonic() - exploring
        decided = None
        if explorer.outcome.finished and not explorer.outcome.fault:
            decided = decide(run, kernel, progress.note, context, partitions)
    finally:
        progress.close()
    result = result_of(check, kernel, run, explorer, decided)
    deciding = time.monotonic() - exploring - seconds
    result |= {
        "seconds": round(seconds, 3),
        "startup_seconds": round(startup + exploring - began, 3),
        "liveness_seconds": round(deciding, 3),
    }
    run.write_result(result)
    return result


def result_of(
    check: Check, kernel: Kernel, run: RunDirectory, explorer: Explorer, decided: list[Decided] | None
) -> dict:
    """The outcome of an exploration as one entry of ``check --json``; raises UserError for a faulty model.

    `decided` has the verdicts on liveness; it is None when the exploration is not complete.
    """
    outcome = explorer.outcome
    require_no_fault(run, kernel, outcome)
    violations = [violation_of(trace_of(run, kernel, found), found.name) for found in outcome.violations]
    violations += [violation_of(d.lasso, d.prop.name, d.reasons) for d in decided or () if d.lasso]
    violations.sort(key=lambda violation: violation["trace_length"])
    vacuous = {d.prop.name for d in decided or () if d.vacuous}
    goals = [p.name for p in kernel.state_properties if p.kind == "sometimes"]
    incomplete = explorer.stopped_by is not None
    verdict = "violated" if violations else "incomplete" if incomplete else "holds"
    result = {
        "system": check.model.system,
        "variant": check.model.variant,
        "model": check.model.origin or None,
        "scope": dict(check.scope),
        "properties": [p.name for p in kernel.state_properties + kernel.step_properties + kernel.liveness],
        "verdict": verdict,
        "expected": None,
        "violated": violations[0]["property"] if violations else None,
        "trace_length": violations[0]["trace_length"] if violations else None,
        "violations": violations,
        "liveness": liveness_of(check, kernel, decided),
        "reached": [_witness(found) for found in outcome.goals.values()],
        "unreached": sorted(set(goals) - outcome.reached | vacuous) if outcome.finished else [],
        "distinct": outcome.distinct,
        "generated": outcome.generated,
        "depth": outcome.depth,
        "complete": outcome.finished,
        "stopped_by": explorer.stopped_by,
        "cuts": dict(outcome.cuts),
        "run_dir": run.uri,
        "coverage": dict(outcome.coverage),
        "never_enabled": sorted(n for n, c in outcome.coverage.items() if c == 0) if outcome.finished else [],
        "bytes": outcome.bytes,
        "memory": outcome.memory,
        "older": outcome.older,
        "symmetry": run.run()["symmetry"],
    }
    result["expected"] = as_expected(check, result)
    return result | {
        "failure": failure_of(check.model, result),
        "undecided": undecided(result, outcome.reached),
        "not_asked": not_asked(check),
        "not_shown": not_shown(check, result),
    }


def _witness(found):
    """A goal with the length of a shortest path to it, and the state by which `show` finds that path again."""
    return {"property": found.name, "trace_length": found.trace_length, "level": found.level, "state": found.state}


def violation_of(trace: Trace, name: str, reasons: Sequence[str] = ()) -> dict:
    """A trace that violates a property, or leads to a goal, as an entry of ``check --json``."""
    violation = {"property": name, "trace_length": trace.states, "trace": [str(step) for step, _, _ in trace.steps]}
    return violation if trace.loop is None else violation | {"loop": trace.loop, "reasons": list(reasons)}
