"""The table of what is known of every property, as ``docs/proved.md`` has it.

``python -m kafkaproof.checker.prove.table FILE [SYSTEM/VARIANT ...]`` proves the properties, and writes the table to
FILE.

It has a section for each variant that is proved, and one for what is only explored. With names, only those sections are
renewed.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kafkaproof.checker.prove.explored import explored_scopes, in_brackets
from kafkaproof.checker.prove.proof import NOT_DECIDED, PROVED, Proof, prove
from kafkaproof.spec.catalogue import all_models, find
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import SAFETY, Model, Property
from kafkaproof.spec.proofs import PROOFS, false_beyond, plan_of

WORK = 2000.0
"""The work for each variant, in millions of z3's steps: about ten minutes of an idle core."""


class Section(NamedTuple):
    """What a section covers. The bounds in `kept` keep their sizes; `any_size` is for any number of brokers."""

    system: str
    variant: str
    kept: Scope
    any_size: bool


SECTIONS = {
    "/".join(of) + more: Section(*of, kept, any_size)
    for of, plan in PROOFS.items()
    for more, kept, any_size in (
        ("", {}, False),
        (", any number of brokers", {} if plan.any_number else None, True),
        (", undisturbed", plan.undisturbed, False),
    )
    if kept is not None
}
HEADER = """# What is explored, and what is proved

For each variant that has a proof, a section: what is unlimited and what is not (*any epochs; brokers 3*), how many
properties are proved, the scopes that were explored with their states, and a row for each property. `make proofs`
writes this page; [Prove](prove.md#what-a-proof-says) says what a proof is.

- *holds at*: at how many of the explored scopes the property holds, and the largest of these. The numbers of a scope are in
  the order of `kafkaproof list SYSTEM`.
- *fails in*: the other variants that violate it, each with the length of its shortest counterexample in states.
- *proved*: by induction. Otherwise *open*: neither proved nor refuted, with the action after which it may fail from a state
  that may be unreachable. *Not decided*: z3 needs more work. *False*: the variant violates it at a recorded scope with the
  same sizes, or beyond.
- *lemmas*: how many suffice for the proof.

*Seconds* are of processor time and depend on the machine; z3's steps do not. *Undisturbed* means: as long as no session of
a living process is lost, and no answer.

"""
ONLY = "explored only"
COLUMNS = "| property | holds at | fails in | proved | lemmas |\n| --- | --- | --- | --- | ---: |\n"
ONLY_COLUMNS = "| system | property | kind | variants | holds at | fails in |\n| --- | --- | --- | ---: | --- | --- |\n"


def proved_scope(model: Model) -> Scope:
    """The sizes at which a variant is proved: its own, except where these are too large to prove or too small to be
    useful.
    """
    return {**model.scope, **plan_of(model).sizes}


def section(model: Model, proof: Proof, scopes: str) -> str:
    """The table of one variant; `scopes` names those that are explored."""
    endless = proof.relation.variables.endless
    ends = "".join(f", {name} {size}" for name, size in proof.relation.scope.items() if name not in endless)
    done = sum(v.verdict == PROVED for v in proof.verdicts)
    told = (
        f"Any {', '.join(sorted(endless))}{ends.replace(',', ';', 1)}. {done} of {len(proof.verdicts)} proved, "
        f"{sum(v.verdict == PROVED for v in proof.lemmas)} lemmas, {proof.work:.0f} million steps of z3, "
        f"{proof.processor_seconds:.1f} seconds.\n\n"
        f"Explored: {scopes}.\n\n"
    )
    kinds = {p.name: p for p in model.properties}
    fixed = {name: size for name, size in proof.relation.scope.items() if name not in endless}
    rows = [_proved_row(model, kinds.get(verdict.name), verdict, fixed) for verdict in proof.verdicts]
    return told + COLUMNS + "".join(rows)


def _proved_row(model, prop, verdict, fixed):
    open_after = "not decided" if verdict.verdict == NOT_DECIDED else f"open: {verdict.where}"
    false = violated(model, verdict.name, fixed)
    known = false_beyond(model, verdict.name) or false or open_after
    verdict_text = "proved" if verdict.verdict == PROVED else known
    lemmas = str(len(verdict.lemmas)) if verdict.verdict == PROVED else ""
    holds, fails = (explored(model, prop.name), failing(model, prop.name)) if prop else ("", "")
    return f"| {verdict.name} | {holds} | {fails} | {verdict_text} | {lemmas} |\n"


def violated(model: Model, name: str, fixed: Scope) -> str | None:
    """Where a variant violates a property, at a recorded scope with at least these sizes; None if it does not."""
    for at, found in model.expected.items():
        if name in found and fixed.items() <= at.items():
            return f"false: {found[name]} states at {in_brackets(at)}"
    return None


def explored(model: Model, name: str) -> str:
    """The number of recorded scopes at which a property holds, and the largest of them."""
    kept = [at for at, violated in model.expected.items() if name not in violated and _answers(model, at, name)]
    if not kept:
        return "none"
    largest = max(kept, key=lambda at: (sum(at.values()), *at.values()))
    return f"{len(kept)} of {len(model.expected)}, {in_brackets(largest)}"


def _answers(model, at, name):
    return any(p.name == name for p in model.properties_at(at))


def failing(model: Model, name: str) -> str:
    """The variants of a system that violate a property, with the shortest counterexample."""
    found = []
    for other in find(model.system):
        lengths = [violated[name] for violated in other.expected.values() if name in violated]
        if lengths:
            found.append(f"{other.variant} {min(lengths)}")
    return ", ".join(found)


def only_explored() -> str:
    """The properties in no section: those of other variants, goals, liveness, and composed systems."""
    rows, seen = [], {(s, p.name) for s, v in PROOFS for p in _safety(find(s, v)[0])}
    for model in all_models():
        for prop in model.properties:
            if (model.system, prop.name) not in seen:
                seen.add((model.system, prop.name))
                rows.append(_explored_row(model, prop))
    return ONLY_COLUMNS + "".join(rows)


def _explored_row(model, prop):
    having = [m for m in find(model.system) if any(p.name == prop.name for p in m.properties)]
    where = f"{having[-1].variant}: {explored(having[-1], prop.name)}"
    cells = (model.system, prop.name, prop.kind, len(having), where, failing(model, prop.name))
    return "| " + " | ".join(map(str, cells)) + " |\n"


def _safety(model: Model) -> tuple[Property, ...]:
    return tuple(p for p in model.properties if p.kind in SAFETY)


def sections_of(text: str) -> dict[str, str]:
    """The sections of the file, by title."""
    parts = re.split(r"^## (.*)\n\n", text, flags=re.MULTILINE)[1:]
    return {title: body.rstrip("\n") + "\n" for title, body in zip(parts[::2], parts[1::2])}


def main(arguments: list[str]) -> int:
    """Prove, and write the file; sections that are not named stay as they are. Returns 2 for wrong use."""
    if not arguments or {*arguments[1:]} - {*SECTIONS}:
        print(f"usage: python -m kafkaproof.checker.prove.table FILE [{' | '.join(SECTIONS)} ...]", file=sys.stderr)
        return 2
    file, names = Path(arguments[0]), arguments[1:]
    made = sections_of(file.read_text(encoding="utf-8")) if file.exists() else {}
    scopes_of = cache(lambda *of: explored_scopes(*find(*of)))
    for title, of in SECTIONS.items():
        if not names or title in names:
            (model,) = find(of.system, of.variant)
            scope, lemmas = {**proved_scope(model), **of.kept}, plan_of(model).lemmas
            proof = prove(model, scope, _safety(model), lemmas, WORK, any_size=of.any_size, kept=frozenset(of.kept))
            made[title] = section(model, proof, scopes_of(of.system, of.variant))
            print(f"{title}: {made[title].splitlines()[0]}", flush=True)
            _write(file, made)
    _write(file, made)
    return 0


def _write(file, made):
    sections = {title: body for title, body in made.items() if title in SECTIONS} | {ONLY: only_explored()}
    file.write_text(HEADER + "\n".join(f"## {title}\n\n{body}" for title, body in sections.items()), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
