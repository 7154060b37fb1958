"""One history as a column of a standalone SVG: its title, its legend, its lanes, and a row for each step.

Widths of text are estimated, with a little room to spare.
"""

import textwrap
from typing import NamedTuple
from xml.etree import ElementTree

from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.pictures.changes import ABSENT, changes
from kafkaproof.checker.pictures.history import loop_text, metric_changes, scope_text, violations
from kafkaproof.checker.pictures.show import show_change
from kafkaproof.checker.pictures.strip import strip

INK, SOFT, RULE, LANE = "#1b2127", "#55606b", "#e2e4e6", "#c4cad0"
GOOD, BAD, BAD_PAPER, NEW, NEW_INK = "#00705a", "#b3261e", "#fdf1ef", "#fff0b8", "#3d2f00"
SANS = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
MONO = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
ARROWS: dict[str, tuple[str, dict[str, float | str]]] = {
    "request": ("#0b5cad", {"stroke_width": 1.6}),
    "answer": (GOOD, {"stroke_width": 1.6, "stroke_dasharray": "6 4"}),
    "event": ("#8a3f93", {"stroke_width": 2.4, "stroke_dasharray": "0.1 4.5", "stroke_linecap": "round"}),
    "message": ("#46515c", {"stroke_width": 1.2}),
}
MARGIN, NUMBER, MARKED = 24, 44, 84
FIRST, GAP, DOT = 26, 26, 5.5
MONO_WIDTH, SANS_WIDTH = 0.603, 0.54
CHANGE_SIZE, LONGEST = 11.5, 40


class Size(NamedTuple):
    """The distance of lanes and the width of the words beside them, in pixels; how many changes of a step are shown."""

    pitch: int
    words: int
    shown: int


class Column:
    """Draws a checked history downwards: `y` is where the next thing begins, in pixels."""

    def __init__(self, root, history, size, address):
        """`address` is the beginning of the ids of its steps."""
        self.root, self.history, self.lanes, self.address = root, history, history["lanes"], address
        self.pitch, self.words, self.shown = size
        marked = any(step.get("time") or step.get("zxid") for step in history["steps"])
        self.left = MARGIN + (MARKED if marked else NUMBER)
        self.beside = self.left + self.pitch * len(self.lanes) + 20
        self.width, self.y = self.beside + self.words + MARGIN, MARGIN

    def add(self, parent, tag, text=None, **attributes):
        """Append an element; underscores in attribute names stand for hyphens."""
        made = ElementTree.SubElement(parent, tag, {n.replace("_", "-"): str(v) for n, v in attributes.items()})
        if text is not None:
            made.text = _clean(text)
        return made

    def paragraph(self, parent, x, text, size, width, **attributes):
        """Wrapped text, drawn from `self.y` on; the font says whether it is of fixed width."""
        share = MONO_WIDTH if attributes.get("font_family") == MONO else SANS_WIDTH
        for line in textwrap.wrap(_clean(text), int(width / (size * share)), break_on_hyphens=False):
            self.y += round(size * 1.42)
            self.add(parent, "text", line, x=x, y=self.y, font_size=size, **attributes)

    def lane_x(self, lane):
        return self.left + self.pitch * (lane + 0.5)

    def head(self):
        """Title, scope, story, the property, and where it is violated."""
        history, wide = self.history, self.width - 2 * MARGIN
        self.add(self.root, "title", history["title"])
        self.paragraph(self.root, MARGIN, history["title"], 22, wide, font_weight=650)
        facts = ", ".join(filter(None, (history["system"], history["variant"], scope_text(history))))
        self.paragraph(self.root, MARGIN, facts, 13, wide, fill=SOFT)
        if history["property"] or violations(history):
            self.demand(min(wide, 860))
        if history.get("story"):
            self.y += 8
            self.paragraph(self.root, MARGIN, history["story"], 14, min(wide, 860))
        self.y += 14
        self.metrics()

    def metrics(self):
        """The strip of metrics, if there are any."""
        drawn = strip(self.history, self.address)
        if drawn is not None:
            width, height = int(drawn.get("width")), int(drawn.get("height"))
            share = min(1, (self.width - 2 * MARGIN) / width)
            drawn.attrib |= {
                "x": str(MARGIN),
                "y": str(self.y),
                "font-family": MONO,
                "color": INK,
                "viewBox": f"0 0 {width} {height}",
                "width": f"{width * share:.0f}",
                "height": f"{height * share:.0f}",
            }
            self.root.append(drawn)
            self.y += round(height * share) + 10

    def demand(self, wide):
        """The property in words and the verdict, beside a coloured bar."""
        self.y += 14
        top, found, demand = self.y, violations(self.history), self.history["property"]
        if demand:
            self.paragraph(self.root, MARGIN + 14, f"{demand['name']}: {demand['text']}", 14, wide - 14)
        verdicts = [f"✕ {', '.join(self.history['steps'][n - 1]['violates'])} violated at step {n}" for n in found]
        if "loop" in self.history and demand:
            verdicts.append(f"✕ {demand['name']} violated: {loop_text(self.history)}")
        for verdict in verdicts:
            self.paragraph(self.root, MARGIN + 14, verdict, 14, wide - 14, fill=BAD, font_weight=650)
        for reason in self.history.get("reasons", []):
            self.paragraph(self.root, MARGIN + 14, reason, 12, wide - 14, fill=SOFT)
        if not verdicts:
            self.paragraph(self.root, MARGIN + 14, "No step of this history violates it.", 14, wide - 14, fill=GOOD)
        self.y += 8
        colour = BAD if verdicts else GOOD
        self.add(self.root, "rect", x=MARGIN, y=top, width=4, height=self.y - top, fill=colour)

    def legend(self):
        """The kinds of arrows that occur, and the names of the lanes."""
        used = {arrow["kind"] for step in self.history["steps"] for arrow in step["arrows"]}
        x, self.y = MARGIN + 6, self.y + 16
        self.add(self.root, "circle", cx=x, cy=self.y - 4, r=DOT)
        self.add(self.root, "text", "acts", x=x + 12, y=self.y, font_size=12, fill=SOFT)
        x += 62
        for kind in (kind for kind in ARROWS if kind in used):
            self.shaft(self.root, kind, x, x + 42, self.y - 4)
            self.add(self.root, "text", kind, x=x + 50, y=self.y, font_size=12, fill=SOFT)
            x += 120
        self.y += 34
        for lane, name in enumerate(self.lanes):
            size = min(13, (self.pitch - 8) / max(1, len(name)) / 0.6)
            self.add(
                self.root,
                "text",
                name,
                x=self.lane_x(lane),
                y=self.y,
                text_anchor="middle",
                font_size=f"{size:.1f}",
                font_weight=650,
            )
        self.y += 8

    def begin(self):
        """Begin the rows."""
        self.papers = self.add(self.root, "g")
        self.lines = self.add(self.root, "g", stroke=LANE, stroke_width=1.5)
        self.top = self.bottom = self.turned = self.y

    def end_row(self, top, is_violating):
        """End a row that began at `top`, with a coloured background if it violates something."""
        if is_violating:
            self.add(
                self.papers, "rect", x=MARGIN, y=top, width=self.width - 2 * MARGIN, height=self.y - top, fill=BAD_PAPER
            )
        self.bottom = self.y

    def end(self):
        """End the lanes with the last row, and draw the way back of a loop."""
        for lane in range(len(self.lanes)):
            x = self.lane_x(lane)
            self.add(self.lines, "line", x1=x, x2=x, y1=self.top, y2=self.bottom)
        self.y = self.bottom
        if "loop" in self.history:
            self.turn(self.turned)

    def turn(self, top):
        """The way back of a loop, from the end of the last row to where it begins, with a caption."""
        group, x = self.add(self.root, "g", id="turn"), MARGIN - 10
        if self.history["loop"] < len(self.history["steps"]):
            line = f"M{MARGIN + 6} {self.y}H{x + 6}q-6 0 -6 -6V{top + 16}q0 -6 6 -6H{MARGIN}"
            self.add(group, "path", d=line, stroke=BAD, stroke_width=2.4, fill="none")
            self.add(group, "path", d=f"M{MARGIN + 8} {top + 10}l-9 -4.5v9z", fill=BAD)
        self.paragraph(
            group, MARGIN + 12, f"↺ {loop_text(self.history)}", 13, self.width - 2 * MARGIN, fill=BAD, font_weight=650
        )
        self.y += 6

    def row(self, number):
        """A row's group, with its number and the rule above it."""
        group = self.add(self.root, "g")
        self.add(group, "line", x1=MARGIN, x2=self.width - MARGIN, y1=self.y, y2=self.y, stroke=RULE)
        self.add(group, "text", number, x=MARGIN + 8, y=self.y + FIRST + 4, font_size=13, fill=SOFT, font_family=MONO)
        return group

    def fold(self, numbers, label):
        """Steps that the page folds into one row, with how often each lane acts."""
        steps = [self.history["steps"][number - 1] for number in numbers]
        group = self.row("")
        if steps and self.history.get("loop") in (number - 1 for number in numbers):
            self.turned = self.y
        for lane in range(len(self.lanes)):
            count = sum(step["lane"] == lane for step in steps)
            if count:
                self.halo(group, f"×{count}", self.lane_x(lane), self.y + FIRST, SOFT, "#ffffff")
        if steps:
            words = f"{numbers[0]} to {numbers[-1]}: {label}, {counted(steps, 'step')}"
            self.add(group, "text", words, x=self.beside, y=self.y + FIRST + 2, font_size=13, fill=SOFT)
        self.y += 44

    def step(self, number):
        """One step: its picture between the lanes, and beside it text, words and changes."""
        step, top = self.history["steps"][number - 1], self.y
        before = self.history["steps"][number - 2]["state"] if number > 1 else self.history["initial"]
        if self.history.get("loop") == number - 1:
            self.turned = top
        group = self.row(str(number))
        group.set("id", f"{self.address}-{number}")
        self.add(group, "title", step["text"])
        broken = step.get("violates", [])
        self.picture(group, step, top + FIRST, BAD_PAPER if broken else "#ffffff")
        for place, mark in enumerate(filter(None, (step.get("time"), step.get("zxid")))):
            self.add(
                group,
                "text",
                mark,
                x=MARGIN + 8,
                y=top + FIRST + 19 + 13 * place,
                font_size=9.5,
                fill=SOFT,
                font_family=MONO,
            )
        self.y = top + FIRST - 13
        self.paragraph(group, self.beside, step.get("story", ""), 13, self.words, font_style="italic")
        self.paragraph(group, self.beside, step["text"], 12.5, self.words, font_family=MONO, font_weight=600)
        self.paragraph(group, self.beside, step["words"], 13, self.words)
        self.changes(group, changes(before, step["state"]))
        told = ["{} {} → {}".format(*change) for change in metric_changes(self.history, number)]
        for note in (*told, *step.get("notes", [])):
            self.paragraph(group, self.beside, note, 12, self.words, fill=SOFT)
        for name in broken:
            self.paragraph(group, self.beside, f"✕ violates {name}", 13, self.words, fill=BAD, font_weight=650)
        self.y = max(self.y + 12, top + FIRST + GAP * max(0, len(step["arrows"]) - 1) + 20)

    def changes(self, group, found):
        """What changed, one line each, or two if it does not fit; the new value is highlighted."""
        self.y += 3
        most = int(self.words / (CHANGE_SIZE * MONO_WIDTH)) - 1
        for path, old, new in found[: self.shown]:
            before, after = show_change(old, new)
            after = "gone" if new is ABSENT else after
            head = f"{path}: {before} → "
            if len(head) + len(after) > most:
                self.change(group, _cut(f"{path}:", most), "")
                head = f"    {_cut(before, max(6, most - len(after) - 7))} → "
            self.change(group, head, _cut(after, most - len(head)))
        if len(found) > self.shown:
            self.change(group, f"and {len(found) - self.shown} more changes", "")

    def change(self, group, head, after):
        self.y += 18
        x = self.beside + len(head) * CHANGE_SIZE * MONO_WIDTH
        if after:
            wide = len(after) * CHANGE_SIZE * MONO_WIDTH + 6
            self.add(group, "rect", x=f"{x - 3:.1f}", y=self.y - 12, width=f"{wide:.1f}", height=16, rx=2, fill=NEW)
        begin = self.beside + (len(head) - len(head.lstrip(" "))) * CHANGE_SIZE * MONO_WIDTH
        line = self.add(
            group,
            "text",
            head.strip(" "),
            x=f"{begin:.1f}",
            y=self.y,
            font_size=CHANGE_SIZE,
            font_family=MONO,
            fill=SOFT,
        )
        if after:
            self.add(line, "tspan", after, x=f"{x:.1f}", fill=NEW_INK)

    def picture(self, group, step, y, paper):
        """The arrows, one below the other, and the dot of the lane that acts."""
        x, bad = self.lane_x(step["lane"]), bool(step.get("violates"))
        own = [place for place, arrow in enumerate(step["arrows"]) if step["lane"] in (arrow["from"], arrow["to"])]
        if own and own[-1]:
            self.add(
                group,
                "line",
                x1=x,
                x2=x,
                y1=y,
                y2=y + GAP * own[-1],
                stroke=INK,
                stroke_width=4,
                stroke_linecap="round",
                opacity=0.35,
            )
        for place, arrow in enumerate(step["arrows"]):
            self.arrow(group, step, arrow, y + GAP * place, paper, place == 0)
        self.add(group, "circle", cx=x, cy=y, r=9 if bad else DOT, fill=BAD if bad else INK)
        if bad:
            self.add(
                group,
                "path",
                d=f"M{x - 3.5} {y - 3.5}l7 7m0-7l-7 7",
                stroke="#ffffff",
                stroke_width=2,
                stroke_linecap="round",
            )

    def arrow(self, group, step, arrow, y, paper, beside_dot):
        """One message from lane to lane, or a loop to the same lane, with its label above."""
        way = (arrow["to"] > arrow["from"]) - (arrow["to"] < arrow["from"])
        dot = (10 if step.get("violates") else DOT + 1.5) if beside_dot else 2
        clear = {lane: dot if lane == step["lane"] else 2 for lane in (arrow["from"], arrow["to"])}
        start = self.lane_x(arrow["from"]) + way * clear[arrow["from"]]
        end = self.lane_x(arrow["to"]) - way * clear[arrow["to"]]
        made = self.add(group, "g")
        route = f"{self.lanes[arrow['from']]} → {self.lanes[arrow['to']]}"
        self.add(made, "title", f"{arrow['kind']}, {route}: {arrow['label']}")
        self.shaft(made, arrow["kind"], start, end, y)
        label = _cut(arrow["label"], LONGEST)
        half = len(label) * 11.5 * SANS_WIDTH / 2 + 4
        middle = max((start + end) / 2 if way else start + 36, MARGIN + half)
        self.halo(made, label, min(middle, self.beside - half), y - 8, ARROWS[arrow["kind"]][0], paper)

    def shaft(self, parent, kind, start, end, y):
        """The line of an arrow and its head."""
        colour, look = ARROWS[kind]
        way = (end > start) - (end < start)
        line = f"M{start} {y}H{end - way * 7}" if way else f"M{start + 5} {y - 4}h14q6 0 6 6t-6 6h-8"
        head = f"M{end} {y}l{-way * 9}-4.5v9z" if way else f"M{end + 7} {y + 8}l9-4.5v9z"
        self.add(parent, "path", d=line, stroke=colour, fill="none", **look)
        self.add(parent, "path", d=head, fill=colour)

    def halo(self, parent, text, x, y, colour, paper):
        """Text over lines, outlined in the colour of the background."""
        place = {"x": x, "y": y, "font_size": 11.5, "text_anchor": "middle"}
        self.add(
            parent,
            "text",
            text,
            **place,
            fill=paper,
            stroke=paper,
            stroke_width=5,
            stroke_linejoin="round",
            aria_hidden="true",
        )
        self.add(parent, "text", text, **place, fill=colour)


def _cut(text, most):
    """Text cut to so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _clean(text):
    """Text without the characters that XML does not allow."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
