"""Exhibits of the findings: steps in a document that are executed, and end where their property says so."""

import re
from pathlib import Path
from typing import NamedTuple

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.language.model import Model

FINDINGS = Path(__file__).parents[2] / "docs" / "findings"
EXHIBIT = re.compile(r"^`([\w-]+)` \(([\d, ]+)\), `(\w+)`, (\d+) states\n\n((?:    .+\n)+)", re.M)


class Exhibit(NamedTuple):
    """Steps of a variant at a scope, the property that they violate or the goal that they reach, and how many states."""

    variant: str
    sizes: dict[str, int]
    name: str
    states: int
    steps: list[str]


def exhibits_of(system: str, sizes) -> list[Exhibit]:
    """The exhibits in the findings of a system; `sizes`: the names of the numbers of a scope, in their order."""
    text = (FINDINGS / f"{system}.md").read_text(encoding="utf-8")
    return [
        Exhibit(
            variant,
            dict(zip(sizes, map(int, numbers.split(",")))),
            name,
            int(states),
            [line.strip() for line in steps.splitlines()],
        )
        for variant, numbers, name, states, steps in EXHIBIT.findall(text)
    ]


def require_exhibit(model: Model, exhibit: Exhibit) -> None:
    """Execute an exhibit: its last step, and not the one before, does what it says."""
    trace = executed(model, exhibit.sizes, exhibit.steps)
    assert trace.states == exhibit.states
    assert said_at_the_end(trace, exhibit.name)
    assert not said_at_the_end(executed(model, exhibit.sizes, exhibit.steps[:-1]), exhibit.name)


def said_at_the_end(trace, name: str) -> bool:
    """Whether a property is violated, or a goal reached, in the last state of a trace or by its last step."""
    states = [trace.initial, *(state for _, _, state in trace.steps)]
    prop = next(p for p in trace.model.properties if p.name == name)
    if prop.kind != "step":
        return bool(prop.predicate(states[-1])) == (prop.kind == "sometimes")
    step, transition, _ = trace.steps[-1]
    arguments = tuple(step.arguments.values())
    return name in Execution(trace.model, trace.scope).broken_by_step(states[-2], transition, arguments, states[-1])
