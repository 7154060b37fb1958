"""``kafkaproof list``: the systems, variants, bounds, properties and metrics there are."""

from __future__ import annotations

import json
from importlib import import_module

from rich.table import Table

from kafkaproof import spec
from kafkaproof.checker.commands.describe import described, print_description, releases_text
from kafkaproof.checker.commands.main import OK
from kafkaproof.checker.commands.models import found, names_one
from kafkaproof.checker.commands.tables import console, scope_text
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.metrics_catalogue import metrics_of

EXAMPLES = """examples:
  kafkaproof list
  kafkaproof list partition
  kafkaproof list partition --variant legacy
  kafkaproof list lock.py:MODEL
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "list",
        help="systems, variants, bounds, properties and metrics",
        description="List what there is to check. Of one variant (--variant), or of a model of your own, list what "
        "it consists of: its state, its transitions, the functions that it has in place of others (with their releases "
        "of Kafka), its sizes, properties and metrics.",
        epilog=EXAMPLES,
    )
    parser.add_argument("system", nargs="?", help="only this one; or a model of your own, FILE.py:MODEL")
    parser.add_argument("--variant", metavar="V", help="what this variant of the system consists of")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Print the catalogue, or one variant."""
    models = found(options)
    entries = [_entry(model) for model in models]
    if options.json:
        more = [described(model) for model in models] if names_one(options) else [{} for _ in models]
        print(json.dumps({"format": 1, "models": [one | two for one, two in zip(entries, more)]}, indent=2))
        return OK
    out = console()
    if names_one(options):
        for model in models:
            print_description(out, model)
        _print_asked(out, entries)
        return OK
    if options.system:
        _print_catalogue(out, models, entries)
    elif not options.variant:
        _print_systems(out, models)
    return OK


def _print_catalogue(out, models, entries):
    """Print what there is of each model, and what their scopes, sizes and properties mean."""
    table = Table("variant", "releases", "what it is", header_style="bold")
    for model in models:
        table.add_row(model.variant, releases_text(model), model.story)
    out.print(table)
    out.print(_scopes(entries))
    _print_asked(out, entries)


def _print_asked(out, entries):
    """Print what sizes, properties and metrics of models mean."""
    out.print(_sizes(entries))
    properties = Table("property", "kind", "in words", header_style="bold")
    for prop in {p["name"]: p for entry in entries for p in entry["properties"]}.values():
        properties.add_row(prop["name"], prop["kind"], prop["text"])
    out.print(properties)
    if any(prop["given"] for entry in entries for prop in entry["properties"]):
        out.print("the fairness that each liveness property assumes: see --json", soft_wrap=True)
    if any(entry["metrics"] for entry in entries):
        out.print(_metrics(entries))


def _print_systems(out, models):
    """A row for each system: what it is, and its variants."""
    table = Table(header_style="bold")
    table.add_column("system", no_wrap=True)
    for name in ("what it is", "variants"):
        table.add_column(name)
    for system in dict.fromkeys(model.system for model in models):
        package = import_module(f"{spec.__name__}.{system.replace('-', '_')}")
        variants = ", ".join(model.variant for model in models if model.system == system)
        table.add_row(system, first_paragraph(package), variants)
    out.print(table)
    out.print("kafkaproof list SYSTEM tells of its variants, releases, sizes and properties", soft_wrap=True)


def _scopes(models):
    table = Table("system", "scope", "sizes and bounds", header_style="bold")
    variants = {}
    for entry in models:
        for name, scope in entry["scopes"].items():
            variants.setdefault((entry["system"], name), {}).setdefault(scope_text(scope), []).append(entry["variant"])
    for (system, name), scopes in variants.items():
        for text, of in scopes.items():
            table.add_row(system if len(scopes) == 1 else f"{system} ({', '.join(of)})", name, text)
    return table


def _metrics(models):
    rows = dict.fromkeys(
        (m["name"], m["kind"], m["text"], m["alert"], m["kafka"]) for e in models for m in e["metrics"]
    )
    names = ("metric", "kind", "in words", "worry when", "Kafka")
    shown = [i for i in range(len(names)) if any(row[i] for row in rows)]
    table = Table(*(names[i] for i in shown), header_style="bold")
    for row in rows:
        table.add_row(*(row[i] for i in shown))
    return table


def _sizes(models):
    table = Table("system", "size", "what it says", header_style="bold")
    for system, entry in {entry["system"]: entry for entry in models}.items():
        for name, meaning in entry["sizes"].items():
            table.add_row(system, f"--{name.replace('_', '-')}", meaning)
    return table


def _entry(model):
    return {
        "system": model.system,
        "variant": model.variant,
        "releases": model.releases and model.releases.ends,
        "story": model.story,
        "scope": dict(model.scope),
        "scopes": {name: dict(scope) for name, scope in model.scopes.items()},
        "sizes": dict(model.sizes),
        "largest": dict(model.largest),
        "properties": [
            {"name": p.name, "kind": p.kind, "text": p.text, "given": [a.text for a in p.given]}
            for p in model.properties
        ],
        "metrics": [
            {"name": m.name, "kind": m.kind, "text": m.text, "kafka": m.kafka, "alert": m.alert}
            for m in (measure.metric for measure in metrics_of(model))
        ],
        "transitions": [
            {"name": t.name, "arguments": list(t.arguments), "kind": t.kind, "text": t.words} for t in model.transitions
        ],
        "recorded_verdicts": [
            {"scope": dict(scope), "violated": dict(lengths)} for scope, lengths in model.expected.items()
        ],
    }
