"""The local page: a small server on this machine alone, which answers only those who know the token in its address."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.interactive.session import Session
from kafkaproof.checker.interactive.written import command_of, live_command, page_of, scenario_text, trace_text
from kafkaproof.checker.pictures.page import filled
from kafkaproof.checker.runs.counterexample import Trace

LOOPBACK = "127.0.0.1"
LONGEST = 1 << 20
"""The longest question in bytes."""
TEXT, PAGE, JSON = "text/plain", "text/html", "application/json"
WRITTEN: dict[str, tuple[str, Callable[[Session, Trace], str]]] = {
    "scenario": (TEXT, scenario_text),
    "trace": (JSON, trace_text),
    "picture": (PAGE, page_of),
}


class Explored(ThreadingHTTPServer):
    """Serves one session; `begin` is the trace at which the page opens. Raises UserError where the port is taken."""

    daemon_threads = True

    def __init__(self, session: Session, begin: Trace, port: int = 0):
        self.session, self.token, self.lock = session, secrets.token_urlsafe(16), threading.Lock()
        self.begin = {"initial": session.initial_of(begin), "steps": [str(step) for step, _, _ in begin.steps]}
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            raise UserError(f"cannot serve at {LOOPBACK}:{port}: {error}; choose another --port") from error

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{LOOPBACK}:{self.server_port}/{self.token}/"

    def page(self) -> str:
        """The page, with what it needs to know from the start."""
        model, scope = self.session.model, self.session.scope
        sizes = ", ".join(f"{name} {size}" for name, size in scope.items())
        told = self.session.opened.told if self.session.opened else (model.story,)
        data: dict[str, object] = {
            "title": model.name,
            "scope": sizes,
            "story": told,
            "begin": self.begin,
            "live": self._live(),
        }
        if opened := self.session.opened:
            places = zip(opened.labels or ("",), opened.paths)
            data["opened"] = [{"label": label, "steps": list(path)} for label, path in places]
        return filled(Path(__file__).with_name("explore.html"), data)

    def _live(self) -> dict[str, str]:
        """The command that drives brokers along the saved path, or why none does."""
        try:
            return {"command": live_command(self.session, "path.json")}
        except UserError as error:
            return {"why_not": str(error)}

    def answer(self, asked: str, question: dict) -> tuple[str, str]:
        """The answer to a question about a place, with its type. Raises UserError, and KeyError for an unknown one."""
        initial, steps = question.get("initial"), question.get("steps")
        if not isinstance(initial, int) or not isinstance(steps, list) or not all(isinstance(s, str) for s in steps):
            raise UserError("a place is the number of an initial state, and steps as text")
        with self.lock:
            trace = self.session.trace(initial, steps)
            if asked == "look":
                seen = self.session.look(trace)
                more = {"command": command_of(self.session, trace), "initial_states": len(self.session.initial_states)}
                return JSON, json.dumps(seen | more)
            if asked == "why":
                return JSON, json.dumps(self.session.why(trace.last, str(question.get("transition"))))
            kind, written = WRITTEN[asked]
            return kind, written(self.session, trace)


class _Handler(BaseHTTPRequestHandler):
    """Answers requests whose path begins with the token."""

    server: Explored

    def do_GET(self) -> None:
        """The page."""
        if self._asked() == "":
            self._send(HTTPStatus.OK, PAGE, self.server.page())
        else:
            self._send(HTTPStatus.NOT_FOUND, TEXT, "not here")

    def do_POST(self) -> None:
        """A question about a place: `look`, `why`, or what is to be written."""
        asked = self._asked()
        if asked not in ("look", "why", *WRITTEN):
            self._send(HTTPStatus.NOT_FOUND, TEXT, "not here")
            return
        try:
            kind, text = self.server.answer(asked, self._question())
        except UserError as error:
            self._send(HTTPStatus.UNPROCESSABLE_ENTITY, TEXT, str(error))
        else:
            self._send(HTTPStatus.OK, kind, text)

    def _question(self) -> dict:
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= LONGEST:
            raise UserError("the question is too long")
        try:
            question = json.loads(self.rfile.read(length))
        except ValueError as error:
            raise UserError(f"the question is not JSON: {error}") from error
        if not isinstance(question, dict):
            raise UserError("a question is a JSON object")
        return question

    def _asked(self) -> str | None:
        """What stands behind the token in the path; None where the token is wrong, or the request is meant for another
        name than this machine's.
        """
        _, token, *rest = f"{self.path}/".split("/")
        known = secrets.compare_digest(token.encode(), self.server.token.encode())
        here = self.headers.get("Host", "") == f"{LOOPBACK}:{self.server.server_port}"
        return "/".join(rest).strip("/") if known and here else None

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        """Requests are not logged."""
