"""A history as plain text for a terminal."""

import textwrap
from itertools import zip_longest

from kafkaproof.checker.pictures.aligned import parting, renamed, rows_of
from kafkaproof.checker.pictures.changes import changes
from kafkaproof.checker.pictures.history import checked, loop_text, metric_changes, scope_text, violations
from kafkaproof.checker.pictures.show import show_change

WIDTH, WIDTH_OF_TWO, ANY_WIDTH = 100, 117, 100_000
"""How many columns a text has, one of two histories, and a table that may be as wide as it is."""
_BETWEEN = " | "


def to_text(history, width=WIDTH):
    """The history as text of at most so many columns; raises HistoryError."""
    history = checked(history)
    lines = [*_head(history, width), ""]
    for number in range(1, len(history["steps"]) + 1):
        lines += [*_turn(history, number, width), *_step(history, number, width), ""]
    return "\n".join([*lines, *_verdict(history, width)]) + "\n"


def metrics_text(history, width=ANY_WIDTH):
    """The metrics of a history as a table: a column for each state in which one changes; raises HistoryError.

    Where they are too many for the width, the table goes on below itself.
    """
    history = checked(history)
    metrics = history.get("metrics", [])
    if not metrics:
        return "no metric changes\n"
    states = [n for n in range(len(history["steps"]) + 1) if not n or metric_changes(history, n)]
    rows = [["step", *map(str, states)]]
    rows += [[metric["name"], *(str(metric["values"][n]) for n in states)] for metric in metrics]
    name = max(len(row[0]) for row in rows)
    number = max(len(cell) for row in rows for cell in row[1:]) + 2
    at_once = max(1, (width - name) // number)
    parts = [[[row[0], *row[first : first + at_once]] for row in rows] for first in range(1, len(rows[0]), at_once)]
    lines = [[row[0].ljust(name) + "".join(cell.rjust(number) for cell in row[1:]) for row in part] for part in parts]
    return "\n\n".join("\n".join(part) for part in lines) + "\n"


def beside_text(left, right, width=WIDTH_OF_TWO):
    """Two histories in two columns, of so many columns together, row by row; raises HistoryError.

    Before they part, a row that is the same in both, but for what ids are called, is one line, as on the left.
    """
    both, half = [checked(left), checked(right)], (width - len(_BETWEEN)) // 2
    rows = rows_of(both)
    part, (same, names) = parting(both, rows), renamed(both, rows)
    lines, brief = _columns(half, *(_head(history, half) for history in both)), False
    lines += ["", *_wrapped(f"left and right: {', '.join(names)}", width, "")] if names else []
    for place, row in enumerate(rows[1:], 1):
        one = [] if part is not None and place >= part or place not in same else _in_one(both, row, width)
        if place == part:
            lines += ["", " here they part ".center(width, "-")]
        if not (one and brief):
            lines += ["", *(["both:"] if one else [])]
        brief = bool(one)
        lines += one or _columns(half, *(_step(*each, half) for each in zip(both, row.numbers)))
    return "\n".join([*lines, "", *_columns(half, *(_verdict(history, half) for history in both))]) + "\n"


def _in_one(histories, row, width):
    """The lines of a row that is the same in both histories; none where there is more to tell of it."""
    steps = [history["steps"][number - 1] for history, number in zip(histories, row.numbers)]
    if any(step.get("notes") or step.get("violates") for step in steps):
        return []
    return _wrapped(f"{row.numbers[0]:>4}  {steps[0]['text']}", width, "", " " * 8)


def _head(history, width):
    lines = _wrapped(history["title"], width, "")
    facts = [history["system"], history["variant"], scope_text(history)]
    lines += _wrapped("; ".join(filter(None, facts)), width, "")
    if history["property"]:
        lines += _wrapped(f"property {history['property']['name']}: {history['property']['text']}", width, "")
    if history.get("story"):
        lines += ["", *_wrapped(history["story"], width, "")]
    return lines


def _turn(history, number, width):
    """The line above the first step of a loop."""
    return [" from here on for ever ".center(width, "-"), ""] if history.get("loop") == number - 1 else []


def _step(history, number, width):
    if number is None:
        return []
    step = history["steps"][number - 1]
    lanes = history["lanes"]
    before = history["steps"][number - 2]["state"] if number > 1 else history["initial"]
    marks = [mark for mark in (step.get("zxid"), step.get("time")) if mark]
    title = f"{number:>4}  {step['text']}  [{', '.join([lanes[step['lane']], *marks])}]"
    lines = _wrapped(step["story"], width, "# ") + [""] if step.get("story") else []
    lines += _wrapped(title, width, "", " " * 8)
    lines += _wrapped(step["words"], width, " " * 6)
    for arrow in step["arrows"]:
        route = f"{lanes[arrow['from']]} -> {lanes[arrow['to']]}"
        lines += _wrapped(f"{arrow['kind']} {route}: {arrow['label']}", width, " " * 6, " " * 10)
    for path, old, new in changes(before, step["state"]):
        lines += _wrapped("{}: {} -> {}".format(path, *show_change(old, new)), width, " " * 8, " " * 12)
    for metric in metric_changes(history, number):
        lines += _wrapped("{} {} -> {}".format(*metric), width, " " * 8)
    for note in step.get("notes", []):
        lines += _wrapped(note, width, " " * 6)
    if step.get("violates"):
        lines += _wrapped(f"** violates {', '.join(step['violates'])} **", width, " " * 6)
    return lines


def _verdict(history, width):
    lines = []
    for number in violations(history):
        names = ", ".join(history["steps"][number - 1]["violates"])
        lines += _wrapped(f"VIOLATED at step {number}: {names}", width, "", "  ")
    if "loop" in history:
        name = history["property"]["name"] if history["property"] else "nothing"
        lines += _wrapped(f"VIOLATED: {name}; {loop_text(history)}", width, "", "  ")
        lines += [line for reason in history.get("reasons", []) for line in _wrapped(reason, width, "  ", "    ")]
    return lines or _wrapped("no step violates anything", width, "")


def _columns(width, left, right):
    pairs = zip_longest(left, right, fillvalue="")
    return [f"{one:<{width}}{_BETWEEN}{other}".rstrip() for one, other in pairs]


def _wrapped(text, width, indent, hanging=None):
    hanging = indent if hanging is None else hanging
    return textwrap.wrap(_clean(text), width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False)


def _clean(text):
    return "".join(sign if sign.isprintable() else " " for sign in text)
