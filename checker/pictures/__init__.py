"""Pictures of a history (an HTML page, an SVG, a path of states, plain text), and of graphs.

A counterexample of a model can also be written as data for other tools.
"""

from kafkaproof.checker.pictures.dot import path_dot
from kafkaproof.checker.pictures.history import HistoryError, checked
from kafkaproof.checker.pictures.itf import to_itf
from kafkaproof.checker.pictures.page import render, render_beside
from kafkaproof.checker.pictures.svg import to_svg
from kafkaproof.checker.pictures.text import beside_text, metrics_text, to_text

__all__ = [
    "HistoryError",
    "beside_text",
    "checked",
    "metrics_text",
    "path_dot",
    "render",
    "render_beside",
    "to_itf",
    "to_svg",
    "to_text",
]
