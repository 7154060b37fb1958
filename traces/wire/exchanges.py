"""A request with its answer, as they passed between a client or broker and a broker."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from kafkaproof.spec.protocol.frames import client_of, fields_of, key_of, name_of, sender_of
from kafkaproof.spec.protocol.passed import ANSWER, REQUEST


class Place(NamedTuple):
    """Where a frame stands: the file, and the number of the frame in it, from 1."""

    file: Path
    number: int

    def __str__(self) -> str:
        return f"{self.file.name}:{self.number}"


@dataclass(eq=False)
class Exchange:
    """A request to a broker, and its answer if that passed; times in ms since 1970.

    `broker`: to whom it went, None where that is not known; `connection`: which one, of its file. `is_lost`: a proxy has
    dropped the request; `answer_lost`: it has dropped the answer, which the broker has given all the same.
    """

    place: Place
    time: int
    broker: int | None
    connection: int
    request: bytes
    is_lost: bool = False
    answer: bytes | None = None
    answered: int | None = None
    answer_lost: bool = False

    @cached_property
    def key(self) -> tuple[int, int]:
        """The key of its API, and the version."""
        return key_of(self.request)

    @property
    def api(self) -> str:
        """What Kafka calls its API."""
        return name_of(self.key[0])

    @property
    def version(self) -> int:
        """The version of its API."""
        return self.key[1]

    @cached_property
    def client(self) -> str:
        """The client id."""
        return client_of(self.request)

    @property
    def sender(self) -> int | None:
        """The broker that sent it, by its client id; None where that is no broker's."""
        return sender_of(self.client)

    @cached_property
    def asked(self) -> dict[str, Any]:
        """The fields of the request, by the names of Kafka's schemas; raises Unreadable."""
        return fields_of(*self.key, self.request, REQUEST)

    @cached_property
    def told(self) -> dict[str, Any] | None:
        """The fields of the answer, None where there is none; raises Unreadable."""
        return None if self.answer is None else fields_of(*self.key, self.answer, ANSWER)
