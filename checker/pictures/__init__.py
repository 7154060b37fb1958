"""Pictures of a history: one self-contained HTML page, or plain text for a terminal."""

from checker.pictures.history import HistoryError
from checker.pictures.page import render, render_beside
from checker.pictures.text import beside_text, to_text

__all__ = ["HistoryError", "beside_text", "render", "render_beside", "to_text"]
