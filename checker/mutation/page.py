"""The page of machine-made mutants: a table with a row for each variant and seed, and the verdict on each change."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from kafkaproof.checker.mutation.changes import Change
from kafkaproof.checker.mutation.verdicts import COUNTS, NEVER_TAKEN, NOTICED, SILENT, STILLBORN, UNREACHED, Verdict
from kafkaproof.spec.language.model import Model

EQUIVALENT = "equivalent"
HEADER = """# Mutants by machine: random changes, and what notices them

`make mutants-random` changes one thing at a time in the transitions of each variant, or in what they call, and explores the
changed model. It drops a guard, an assignment, a call, an `else` or one of several conditions; negates a condition; or
exchanges a comparison, a constant, a field or an argument for another of its kind. A seed draws the changes, and every
transition gets as many. `make mutants-random VARIANT=group/current SEED=2` makes one row anew.

The columns count changes:

* *stillborn*: the rules of the language refuse the change.
* *not reached*: no step comes to the changed line, at the scopes below.
* *equivalent*: nothing could ever tell the change; `unnoticed.py` of each system has the reasons.
* *noticed*: a property is violated or no longer violated, a goal is no longer reached, or a value leaves its range.
* *never taken*: only the verdict of `check` notices it, which says that a transition is never taken that was taken before.
* *counts only*: just the numbers of states, steps or cuts differ.
* *silent*: nothing differs; `unnoticed.py` has the reasons.
* *share*: what is noticed or never taken, of all that is born, reached and not equivalent.

A change is explored at the scope `quick`. What nothing notices there is explored at `standard` and at `quick` with one more
fault (up to 1,000,000 states), and at the other named scopes (up to 500,000). What a composed system or a slice does not
notice is asked of the systems that run the same text with wider bounds, as *election* for *electing-fenced*. Each text is
changed once: of a variant, only what no earlier variant of its system runs, and of *topics* and *requests* nothing that a
variant of *partition* runs.

"""
COLUMNS = (STILLBORN, UNREACHED, EQUIVALENT, NOTICED, NEVER_TAKEN, COUNTS, SILENT)
TABLE = (
    "| "
    + " | ".join(("system/variant", "seed", "mutants", *COLUMNS, "share"))
    + " |\n"
    + "| --- " * (len(COLUMNS) + 4)
    + "|\n"
)


@dataclass(frozen=True)
class Judged:
    """A change of a model with its verdict and, if it is listed as unnoticed, the reason."""

    change: Change
    verdict: Verdict
    kind: str
    reason: str


@dataclass
class Page:
    """The contents of the page: for each title (``group/current | 1`` for seed 1) the row of the table and the lines."""

    rows: dict[str, str] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path | None) -> Page:
        """Read a page; an empty one if there is none. Its titles are those of its rows."""
        page, title = cls(), ""
        for text in file.read_text(encoding="utf-8").splitlines() if file and file.exists() else ():
            if text.startswith("## "):
                title = text[3:].replace(", seed ", " | ")
            elif text.startswith("- "):
                page.parts.setdefault(title, []).append(text)
            elif text.startswith("| ") and text not in TABLE:
                page.rows[_title(text)] = text
        return page

    def put(self, model: Model, seed: int, found: list[Judged]) -> None:
        """Replace the verdicts for a system and a seed."""
        made = row(model, seed, found)
        self.rows[_title(made)] = made
        self.parts[_title(made)] = [line(one) for one in found]

    def table(self) -> str:
        """The table, a row for each variant and seed."""
        return TABLE + "\n".join(self.rows[title] for title in sorted(self.rows)) + "\n"

    def text(self) -> str:
        """The whole page."""
        parts = [
            f"\n## {title.replace(' | ', ', seed ')}\n\n" + "\n".join(self.parts[title]) + "\n"
            for title in sorted(self.parts)
        ]
        return HEADER + self.table() + "".join(parts)


def _title(row):
    return " | ".join(row.strip("| ").split(" | ")[:2])


def row(model: Model, seed: int, found: list[Judged]) -> str:
    """A system's row of the table."""
    kinds = Counter(one.kind for one in found)
    noticed = kinds[NOTICED] + kinds[NEVER_TAKEN]
    asked = noticed + kinds[COUNTS] + kinds[SILENT]
    share = f"{100 * noticed // asked} %" if asked else "-"
    cells = (model.name, seed, len(found), *(kinds[kind] for kind in COLUMNS), share)
    return "| " + " | ".join(map(str, cells)) + " |"


def line(one: Judged) -> str:
    """The verdict on one change, on one line."""
    verdict = one.verdict
    by = f" by {verdict.by}" if verdict.kind == NOTICED else f" ({verdict.by})" if verdict.by else ""
    told = f"{one.kind}{'' if verdict.kind == STILLBORN else by}{f' at {verdict.scope}' if verdict.scope else ''}"
    reason = f": {one.reason}" if one.reason else ""
    return f"- {one.change.place}: `{one.change.text}`: {told}{reason}"
