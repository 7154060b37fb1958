"""The page of machine-made mutants: a table with a row for each variant and seed, and the verdict on each change."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from kafkaproof.checker.mutation.changes import Change
from kafkaproof.checker.mutation.verdicts import COUNTS, NEVER_TAKEN, NOTICED, SILENT, STILLBORN, UNREACHED, Verdict
from kafkaproof.spec.language.model import Model

EQUIVALENT = "equivalent"
HEADER = """# Mutants by machine

`make mutants-random` changes one thing in the transitions of each variant below, or in what they call: it drops a guard, an
assignment, a call, an `else` or one of several conditions, negates a condition, exchanges a comparison, a constant for
another of its kind, a field or an argument for another of its domain, or two arguments. Changes are drawn by a seed;
every transition gets as many. Each is explored at the scope `quick`, and where nothing notices it there, at `standard`,
and at `quick` with one more fault, as far as the model has no more than 1,000,000 states there, and at the other scopes
that have a name, with no more than 200,000. What a composed system does not notice is asked of its parts in the same way:
they run the same text with wider bounds. So what *electing-fenced* does not notice is asked of *election*, whose steps it
takes, and what a slice does not notice, of those below that run its text with more besides. Each text is changed once: of
a variant, only what no variant of its system runs that comes before it, and of *topics* and *requests* nothing that one of
*partition* below runs.
`make mutants-random VARIANT=group/current SEED=2` makes one row anew.

*Stillborn*: the rules of the language refuse it. *Noticed*: a property is violated or no longer violated, a goal is no
longer reached, or a value leaves its range. *Never taken*: only the verdict of `check` notices it, which says that a
transition is never taken that was taken before. *Counts only*: just the numbers of states, steps or cuts differ.
*Not reached*: no step comes to the changed line at these scopes. *Silent*: nothing differs. *Equivalent*: nothing
could ever tell; the reasons are in `unnoticed.py` of each system, as are those for what goes unnoticed. The share is what is
noticed or never taken, of all that is born, reached and not equivalent.

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
