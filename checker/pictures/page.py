"""A history, or two beside each other, as one self-contained HTML page."""

import json
import re
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from kafkaproof.checker.basics.printable import printable
from kafkaproof.checker.pictures.aligned import parting, rows_of
from kafkaproof.checker.pictures.changes import ABSENT, differences, path_text
from kafkaproof.checker.pictures.history import checked, loop_text, metric_changes, scope_text, violations
from kafkaproof.checker.pictures.show import show, show_change
from kafkaproof.checker.pictures.strip import strip

HERE = Path(__file__).parent
FOLD_ABOVE = 300
LARGEST_SAFE = 2**53 - 1
ADDRESSES = "step", "beside"
"""The beginnings of the addresses of steps, for each history: ``#step-7``, ``#beside-9``."""


def render(history):
    """The HTML page of a history; raises HistoryError when it is not one."""
    return _page([checked(history)])


def render_beside(left, right):
    """The HTML page of two histories, row by row, marked where they part; raises HistoryError."""
    return _page([checked(left), checked(right)])


def _page(histories):
    rows = rows_of(histories)
    part = parting(histories, rows)
    data = {
        "histories": [_history_data(history, name) for history, name in zip(histories, ADDRESSES)],
        "rows": [row.numbers for row in rows],
        "parting": part,
        "folds": folds_of(histories, rows, part),
    }
    return filled(HERE / "page.html", data)


def filled(template, data):
    """A template filled with the data and with the files that it names, from its own folder or this one."""

    def part(match):
        name = match[1]
        if name == "data":
            return embedded(data)
        file = template.parent / name
        return (file if file.is_file() else HERE / name).read_text(encoding="utf-8")

    return re.sub(r"\{\{([\w.]+)\}\}", part, template.read_text(encoding="utf-8"))


def embedded(data):
    """The data as JSON that can stand inside a script element."""
    text = json.dumps(_exact(data), separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _exact(value):
    """The value with printable text, and with text for integers that JavaScript would round."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {_exact(key): _exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    if isinstance(value, int) and abs(value) > LARGEST_SAFE:
        return str(value)
    return value


def _history_data(history, address):
    names = ("title", "system", "variant", "property", "lanes", "initial")
    data = {name: history[name] for name in names}
    states = [history["initial"], *(step["state"] for step in history["steps"])]
    data["scope"] = scope_text(history)
    data["story"] = history.get("story", "")
    data["violations"] = violations(history)
    data["address"] = address
    drawn = strip(history, address)
    data["strip"] = "" if drawn is None else ElementTree.tostring(drawn, encoding="unicode")
    data["loop"] = history.get("loop")
    data["turn"] = loop_text(history)
    data["reasons"] = history.get("reasons", [])
    data["steps"] = [_step_data(step, before) for step, before in zip(history["steps"], states)]
    for number, step in enumerate(data["steps"], start=1):
        step["metrics"] = ["{} {} → {}".format(*change) for change in metric_changes(history, number)]
    return data


def _step_data(step, before):
    data = {name: step[name] for name in ("text", "lane", "words", "arrows")}
    data |= {"story": step.get("story", ""), "notes": step.get("notes", [])}
    data["marks"] = [step[name] for name in ("time", "zxid") if step.get(name)]
    data["violates"] = step.get("violates", [])
    data["changes"] = [_change_data(*change) for change in differences(before, step["state"])]
    return data


def _change_data(keys, old, new):
    texts = show_change(old, new)
    data = {"path": path_text(keys), "keys": list(keys), "old": texts[0], "new": texts[1]}
    full = show(old), show(new)
    if full != texts:
        data["full"] = full
    if old is ABSENT:
        data["appears"] = True
    if new is not ABSENT:
        data["value"] = new
    return data


def folds_of(histories, rows, part=None):
    """The runs of rows to fold into one: [{"first", "last", "label"}]."""
    if len(rows) - 1 <= FOLD_ABOVE:
        return []
    labels = [_row_label(histories, row, part is not None and place >= part) for place, row in enumerate(rows)]
    folds, place = [], 0
    for (label, *_), run in groupby(labels):
        length = len(list(run))
        if label and length > 1:
            folds.append({"first": place, "last": place + length - 1, "label": label})
        place += length
    return folds


def _row_label(histories, row, is_behind):
    """The label under which a row is folded (empty: never), whether it is after the histories part, and which have it."""
    steps = [history["steps"][number - 1] for history, number in zip(histories, row.numbers) if number]
    groups = list(dict.fromkeys(step.get("group", "") for step in steps))
    folds = steps and all(groups) and not any(step.get("violates") for step in steps)
    return " | ".join(groups) if folds else "", is_behind, *(number is None for number in row.numbers)
