"""What a result says of each property besides its violations: whether the verdict is the recorded one, what was not
decided or not asked, and which recorded violations of the variant do not show at this scope.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkaproof.checker.model.selection import Check, properties_of
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import LIVENESS, Model
from kafkaproof.spec.language.releases import KNOWN

if TYPE_CHECKING:
    from kafkaproof.checker.compile.kernel import Kernel
    from kafkaproof.checker.liveness.decide import Decided

UNDECIDED = "not decided"
NOT_ASKED = "not asked up to symmetry"
BY_NAME = "asked by name only at this scope"


def as_expected(check: Check, result: dict) -> bool | None:
    """Whether the verdict is the recorded one; None where none is recorded, as of a deadlock or a property of one's own,
    or the run is incomplete.
    """
    recorded = check.model.expectation(check.scope)
    usual = {p.name for p in check.model.properties_at(check.scope)}
    further = check.deadlock or {*result["properties"]} - usual
    if recorded is None or further or result["verdict"] == "incomplete":
        return None
    open_still = {entry["property"] for entry in result["liveness"] if entry["verdict"] == UNDECIDED}
    asked = {name: n for name, n in recorded.items() if name in result["properties"] and name not in open_still}
    found = {v["property"]: v["trace_length"] for v in result["violations"]}
    if not result["complete"]:
        shortest = min(asked.values(), default=None)
        return result["trace_length"] == shortest and all(asked.get(n) == length for n, length in found.items())
    return found == asked and not result["unreached"]


def failure_of(model: Model, result: dict) -> str | None:
    """What kind of failure a result is: ``open`` where releases up to the newest have it, ``known`` where it is recorded
    of earlier releases or of a variant that is no release, ``unexpected`` where another verdict is recorded, and
    ``new`` where none is; None if it is no failure.
    """
    if result["expected"] is False:
        return "unexpected"
    if result["verdict"] != "violated":
        return None
    if result["expected"] is None:
        return "new"
    return "open" if model.releases and KNOWN[-1] in model.releases else "known"


def liveness_of(check: Check, kernel: Kernel, decided: list[Decided] | None) -> list[dict]:
    """The verdict on each liveness property. Without the whole graph, or up to symmetry, nothing is decided."""
    if check.symmetry:
        properties = properties_of(check.model, check.scope, check.properties)
        return [{"property": p.name, "verdict": NOT_ASKED} for p in properties if p.kind in LIVENESS]
    if decided is None:
        return [{"property": p.name, "verdict": UNDECIDED} for p in kernel.liveness]
    return [
        {
            "property": d.prop.name,
            "verdict": "violated" if d.lasso else "holds",
            "waiting": d.waiting,
            "cut": d.cut,
            "beyond": d.beyond,
            "idle": list(d.idle),
            "loop_length": d.lasso and d.lasso.loop_length,
        }
        for d in decided
    ]


def undecided(result: dict, reached: set[str]) -> list[str]:
    """The properties that were asked and not decided, since not every state was seen.

    `reached` are goals that were reached: one state is enough for them.
    """
    violated = {violation["property"] for violation in result["violations"]}
    open_still = {entry["property"] for entry in result["liveness"] if entry["verdict"] == UNDECIDED}
    return [
        name
        for name in result["properties"]
        if name not in violated | reached and (name in open_still or not result["complete"])
    ]


def not_asked(check: Check) -> list[dict]:
    """The properties that were not asked, each with the reason: the scope is too small, or they are asked by name only."""
    if check.properties:
        return []
    asked = check.model.properties_at(check.scope)
    left_out = [(p.name, p.lacking(check.scope)) for p in check.model.properties if p not in asked]
    return [{"property": name, "why": f"needs {', '.join(sizes)}" if sizes else BY_NAME} for name, sizes in left_out]


def not_shown(check: Check, result: dict) -> list[dict]:
    """The violations recorded at other scopes that this scope, explored completely, does not show.

    Each has the length and the scope of its record; of several records, the one whose scope is closest.
    """
    if not result["complete"]:
        return []
    violated = {violation["property"] for violation in result["violations"]}
    asked = [name for name in result["properties"] if name not in violated]
    found = [(name, _nearest(check.model, check.scope, name)) for name in asked]
    return [{"property": name, "trace_length": known[0], "scope": known[1]} for name, known in found if known]


def _nearest(model: Model, scope: Scope, name: str) -> tuple[int, Scope] | None:
    """The length and the scope of the recorded violation of a property that is closest to `scope`; None without one."""
    known = [(lengths[name], dict(at)) for at, lengths in model.expected.items() if name in lengths]
    return min(known, key=lambda each: (*_distance(scope, each[1]), each[0]), default=None)


def _distance(scope: Scope, other: Scope) -> tuple[int, int]:
    """In how many sizes another scope is larger, and in how many it differs."""
    return sum(other[name] > scope[name] for name in scope), sum(other[name] != scope[name] for name in scope)


def differing(scope: Scope, other: Mapping[str, int]) -> Scope:
    """The sizes in which another scope differs from this one, as the other has them."""
    return {name: other[name] for name in scope if other[name] != scope[name]}
