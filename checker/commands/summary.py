"""What several runs found, in some fifteen lines: a row for each system as soon as it is finished, then what is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.commands.tables import FAILURES, console, verdict_text
from kafkaproof.spec.language.releases import KNOWN

COLUMNS = {"system": 12, "variants": 8, "states": 12, "hold": 6, "too small": 9, "known": 7, "open": 6, "look at": 8}
MEANING = f"""\
hold: every property holds. too small: they hold at this scope, but the variant fails at a larger one.
known: fails as recorded, in earlier releases or in no release. open: fails as recorded, and Kafka {KNOWN[-1]} has it.
look at: fails and is not recorded so, or was not finished."""


class Summary:
    """Prints the row of a system when the last of its runs is done. `systems` are the systems of the runs, in order."""

    def __init__(self, systems: Sequence[str]):
        self._left, self._results = Counter(systems), list[dict]()
        self._out = console()
        runs, of = counted(systems, "run"), counted(self._left, "system")
        self._out.print(f"{runs} of {of}; a row comes when a system is done")
        self._is_wide = self._out.width >= len(_row(COLUMNS))
        if self._is_wide:
            self._out.print(_row(COLUMNS), style="bold")

    def add(self, result: dict) -> None:
        """Add the result of the next run."""
        self._results.append(result)
        system = result["system"]
        self._left[system] -= 1
        if not self._left[system]:
            counts = _counts([each for each in self._results if each["system"] == system])
            self._out.print(_row(counts) if self._is_wide else _named(counts), soft_wrap=not self._is_wide)

    def end(self) -> None:
        """Print what is open and what to look at, and where to go on."""
        self._out.print(MEANING)
        self._list_open()
        for result in filter(_is_unsettled, self._results):
            words, colour = verdict_text(result)
            missed = f", never reached: {', '.join(result['unreached'])}" if result["unreached"] else ""
            self._out.print(f"look at [{colour}]{_name(result)}: {words}{_violated(result)}[/]{missed}", soft_wrap=True)
        failed = next((result for result in reversed(self._results) if result["violated"]), None)
        if failed:
            self._out.print(f"Draw a counterexample: kafkaproof show {failed['run_dir']}", soft_wrap=True)
        self._out.print(
            "More: --verbose has every run as a table, kafkaproof runs lists those that are kept,", soft_wrap=True
        )
        self._out.print("docs/findings.md explains each failure.")

    def _list_open(self) -> None:
        found = [result for result in self._results if result["failure"] == "open"]
        if found:
            self._out.print(f"Open in Kafka {KNOWN[-1]}:", style=FAILURES["open"])
        for system, results in groupby(found, key=lambda result: result["system"]):
            self._out.print(f"  {system}: {', '.join(_by_property(list(results)))}", soft_wrap=True)


def _row(texts):
    cells = [str(text).rjust(COLUMNS[name]) for name, text in zip(COLUMNS, texts, strict=True)]
    return "  ".join([cells[0].strip().ljust(COLUMNS["system"]), *cells[1:]])


def _named(texts):
    """A row for a narrow terminal: each cell that is not 0 with its heading."""
    return "; ".join(f"{name} {text}" for name, text in zip(COLUMNS, texts, strict=True) if text)


def _counts(results):
    """The cells of a system's row."""
    settled = [result for result in results if not _is_unsettled(result)]
    holding = [result for result in settled if result["verdict"] == "holds"]
    small = sum(bool(result["not_shown"]) for result in holding)
    kinds = Counter(result["failure"] for result in settled)
    states = f"{sum(result['distinct'] for result in results):,}"
    rest = len(results) - len(settled)
    return results[0]["system"], len(results), states, len(holding) - small, small, kinds["known"], kinds["open"], rest


def _is_unsettled(result):
    """Whether somebody should look at a result: it is no success, and no failure that is recorded."""
    unreached = result["unreached"] and result["expected"] is None
    return result["failure"] in ("new", "unexpected") or result["verdict"] == "incomplete" or unreached


def _by_property(results):
    """The properties that fail, each with the variants: ``is_served (fenced, rolling)``."""
    where = {}
    for result in results:
        for violation in result["violations"]:
            where.setdefault(violation["property"], []).append(result["variant"])
    return [f"{prop} ({', '.join(variants)})" for prop, variants in where.items()]


def _violated(result):
    names = [violation["property"] for violation in result["violations"]]
    return f" ({', '.join(names)})" if names else ""


def _name(result):
    return f"{result['system']}/{result['variant']}"
