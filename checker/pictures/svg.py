"""A history, or two beside each other, as one standalone SVG, for Markdown, slides and print.

It looks like the printed page: a lane for each party, and a row for each step with its arrows, its words and its
changes.
"""

from xml.etree import ElementTree

from kafkaproof.checker.pictures.aligned import parting, rows_of
from kafkaproof.checker.pictures.column import INK, MARGIN, RULE, SANS, Column, Size
from kafkaproof.checker.pictures.history import checked
from kafkaproof.checker.pictures.page import ADDRESSES, folds_of

ALONE, TWO = Size(112, 540, 12), Size(76, 390, 6)
PART = 40


def to_svg(*given):
    """The SVG of a history, or of two beside each other, as text; raises HistoryError if one is invalid."""
    histories = [checked(history) for history in given]
    root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "font-family": SANS, "fill": INK})
    paper = ElementTree.SubElement(root, "rect", {"fill": "#ffffff"})
    columns, width = [], 0
    for history, address in zip(histories, ADDRESSES):
        where = root if len(histories) == 1 else ElementTree.SubElement(root, "g", transform=f"translate({width},0)")
        columns.append(Column(where, history, ALONE if len(histories) == 1 else TWO, address))
        width += columns[-1].width
    for part in (Column.head, Column.legend, Column.begin):
        for column in columns:
            part(column)
        _level(columns)
    top = columns[0].y
    _rows(root, columns, width)
    for column in columns:
        column.end()
    height = _level(columns) + MARGIN
    if len(columns) == 2:
        middle = {"x1": f"{columns[0].width}", "x2": f"{columns[0].width}", "y1": f"{top}", "y2": f"{height - MARGIN}"}
        ElementTree.SubElement(root, "line", middle | {"stroke": RULE})
    paper.attrib |= {"width": f"{width}", "height": f"{height}"}
    root.attrib |= {"width": f"{width}", "height": f"{height}", "viewBox": f"0 0 {width} {height}"}
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _rows(root, columns, width):
    """Draw the rows of all columns, each as high as its highest part."""
    histories = [column.history for column in columns]
    rows = rows_of(histories)
    part = parting(histories, rows)
    folds = {fold["first"]: fold for fold in folds_of(histories, rows, part)}
    place = 1
    while place < len(rows):
        if place == part:
            _part(root, columns, width)
        top, fold = columns[0].y, folds.get(place)
        last = fold["last"] if fold else place
        numbers = [
            [each for row in rows[place : last + 1] if (each := row.numbers[side]) is not None]
            for side in range(len(columns))
        ]
        for column, found in zip(columns, numbers):
            if fold:
                column.fold(found, fold["label"])
            elif found:
                column.step(*found)
        _level(columns)
        for column, found in zip(columns, numbers):
            if found:
                column.end_row(top, any(column.history["steps"][each - 1].get("violates") for each in found))
        place = last + 1


def _part(root, columns, width):
    """Draw a line across where the histories part."""
    y = columns[0].y + PART / 2
    ElementTree.SubElement(
        root,
        "line",
        {"x1": f"{MARGIN}", "x2": f"{width - MARGIN}", "y1": f"{y}", "y2": f"{y}", "stroke": INK, "stroke-width": "2"},
    )
    look = {"x": f"{width / 2}", "y": f"{y + 5}", "font-size": "14", "font-weight": "650", "text-anchor": "middle"}
    halo = look | {"stroke": "#ffffff", "stroke-width": "14", "fill": "#ffffff", "aria-hidden": "true"}
    for each in (halo, look):
        ElementTree.SubElement(root, "text", each).text = "here they part"
    for column in columns:
        column.y += PART


def _level(columns):
    """Continue all columns at the lowest of them; returns where that is."""
    lowest = max(column.y for column in columns)
    for column in columns:
        column.y = lowest
    return lowest
