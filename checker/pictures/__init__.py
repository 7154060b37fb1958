"""Pictures of a history (an HTML page, an SVG, a path of states, plain text), and of graphs.

A counterexample of a model can also be written as data for other tools.
"""

from checker.pictures.dot import path_dot
from checker.pictures.history import HistoryError, checked
from checker.pictures.itf import to_itf
from checker.pictures.page import render, render_beside
from checker.pictures.svg import to_svg
from checker.pictures.text import beside_text, metrics_text, to_text

__all__ = [
    "HistoryError", "beside_text", "checked", "metrics_text", "path_dot", "render", "render_beside", "to_itf", "to_svg",
    "to_text",
]
