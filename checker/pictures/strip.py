"""The strip of metrics: a row for each metric, a column for each state, as one drawing for pages and pictures.

It is drawn in the colour of its surroundings (currentColor). A number stands where the value changes; the darker a
cell, the closer the value to its maximum. Columns of steps that violate something are marked, and link to the step.
"""

from xml.etree import ElementTree

LABEL, ROW, WIDE, NARROW, MOST = 210, 20, 30, 3, 900
SIZE = 11.5
BAD = "#b3261e"


def strip(history, address="step"):
    """The strip of a checked history as an SVG element, None without metrics; it links to steps as `#address-N`."""
    metrics = history.get("metrics", [])
    if not metrics:
        return None
    states = len(history["steps"]) + 1
    column = max(NARROW, min(WIDE, MOST // states))
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "role": "img",
            "aria-label": "metrics over the steps",
            "class": "strip",
            "width": str(LABEL + column * states),
            "height": str(ROW * (len(metrics) + 1)),
            "fill": "currentColor",
            "font-size": str(SIZE),
        },
    )
    for row, metric in enumerate(metrics):
        _row(root, metric, row, column)
    _feet(root, history, address, ROW * len(metrics), column)
    return root


def _add(parent, tag, text=None, **attributes):
    made = ElementTree.SubElement(parent, tag, {name.replace("_", "-"): str(v) for name, v in attributes.items()})
    made.text = text
    return made


def _row(root, metric, row, column):
    group, top = _add(root, "g"), ROW * row
    _add(group, "title", f"{metric['name']}: {metric['text']}")
    _add(group, "text", metric["name"], x=LABEL - 8, y=top + 14, text_anchor="end")
    greatest = max(1, max(metric["values"]))
    for place, value in enumerate(metric["values"]):
        x = LABEL + column * place
        shade = 0.06 + 0.3 * max(0, value) / greatest
        _add(group, "rect", x=x, y=top + 1, width=column, height=ROW - 2, opacity=f"{shade:.2f}")
        changed = place == 0 or value != metric["values"][place - 1]
        if changed and column >= len(str(value)) * SIZE * 0.62:
            _add(group, "text", str(value), x=x + column / 2, y=top + 14, text_anchor="middle", font_weight=650)


def _feet(root, history, address, top, column):
    """The numbers of the steps, each a link to its step; every tenth if there is no room for more."""
    for number in range(len(history["steps"]) + 1):
        bad = bool(number and history["steps"][number - 1].get("violates"))
        if not bad and column < 18 and number % 10:
            continue
        link = _add(root, "a", href=f"#{address}-{number}")
        x = LABEL + column * (number + 0.5)
        look = {"fill": BAD, "font_weight": 700} if bad else {"opacity": 0.7}
        _add(link, "text", str(number), x=x, y=top + 14, text_anchor="middle", **look)
        if bad:
            frame = {"fill": "none", "stroke": BAD, "stroke_width": 1.5}
            _add(root, "rect", x=x - column / 2, y=0, width=column, height=top, **frame)
