"""Rows of pages that the specification says. ``python -m tests.docs.generated`` (`make pages`) writes them where they stand."""

import re
from collections.abc import Callable
from pathlib import Path

from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.facts import exceptions, rules
from kafkaproof.spec.metrics import names
from kafkaproof.spec.metrics.metric import Metric
from kafkaproof.spec.metrics_catalogue import SYSTEMS
from kafkaproof.traces.metrics.observer import COUNTERS, GAUGES
from tests.docs import reference

DOCS = Path(__file__).parents[2] / "docs"
_OUTSIDE_HEAD = (
    "",
    "## Outside their releases",
    "",
    "A variant runs only functions whose rule all of its releases have. These are the exceptions:",
    "",
    "| function | what some releases have instead |",
    "| --- | --- |",
)
ID = re.compile(r"\b([A-Z]\d{1,2}|O-OFFSET-MONO)\b")


def ids_of_properties() -> list[str]:
    """A row for each id and each sentence that bears it, with the properties that say it."""
    found: dict[tuple[str, str], list[str]] = {}
    for model in all_models():
        for prop in model.properties:
            for bracket in re.findall(r"\(([^()]*)\)", prop.text):
                for name in ID.findall(bracket):
                    named = found.setdefault((name, prop.text), [])
                    if (place := f"`{model.system}` {prop.name}") not in named:
                        named.append(place)
    order = sorted(found, key=lambda each: (each[0][0], int(re.sub(r"\D", "", each[0]) or 99)))
    return [f"| {name} | {', '.join(found[name, text])} | {text.replace('|', '/')} |" for name, text in order]


def metrics() -> list[str]:
    """A row for each metric, with the systems that have it."""
    return [_metric(value) for value in vars(names).values() if isinstance(value, Metric)]


def _metric(metric):
    where = [system for system, measures in SYSTEMS.items() if metric in [measure.metric for measure in measures]]
    where += ["replay"] if metric.name in (*GAUGES, *COUNTERS) else []
    kafka = metric.kafka or "none"
    return f"| `{metric.name}` | {metric.kind} | {metric.text} | {kafka} | {metric.alert} | {', '.join(where)} |"


def rules_by_release() -> list[str]:
    """A row for each function of a rule that changed, oldest first; then one for each that runs outside its releases."""
    changed = [
        f"| `{system}` {rule.present.__name__} | {fact.name} | {', '.join(map(str, fact.releases))} | {_sources(fact)} |"
        for system in dict.fromkeys(model.system for model in all_models())
        for rule in rules(system)
        for fact in rule.facts
    ]
    outside = [f"| `{system}` {function} | {instead} |" for (system, function), instead in exceptions().items()]
    return [*changed, *_OUTSIDE_HEAD, *outside]


def _sources(fact):
    return "; ".join(f"{', '.join(map(str, source.places))}, {source.releases}" for source in fact.sources)


PAGES: dict[str, tuple[re.Pattern, Callable[[], list[str]]]] = {
    "glossary.md": (re.compile(rf"\| {ID.pattern} \|"), ids_of_properties),
    "metrics.md": (re.compile(r"\| `"), metrics),
    "reference.md": (re.compile(r"\| `"), reference.rows),
    "releases.md": (re.compile(r"\| `"), rules_by_release),
}
"""Of each page, how the generated rows begin (they stand together), and what they are."""


def page_with(name: str, text: str) -> str:
    """The text of a page with its generated rows as they are to be."""
    beginning, rows = PAGES[name]
    lines = text.splitlines()
    there = [at for at, line in enumerate(lines) if beginning.match(line)]
    return "\n".join([*lines[: there[0]], *rows(), *lines[there[-1] + 1 :]]) + "\n"


if __name__ == "__main__":
    for page in PAGES:
        (DOCS / page).write_text(page_with(page, (DOCS / page).read_text(encoding="utf-8")), encoding="utf-8")
