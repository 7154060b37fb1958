"""Messages that an ordered broker has received, and that no order has asked for yet."""

from __future__ import annotations

from collections.abc import Callable

from kafkaproof.impl.seams.between.control_apis import STALE_CONTROLLER
from kafkaproof.impl.seams.between.messages import Message


class Messages:
    """Finds them by what they say, for the steps that handle them."""

    def __init__(self, broker):
        self._messages, self._process = broker.messages, broker.process

    def alike(self, kind: str, sender: int | None, says: dict) -> list[Message]:
        """The messages of a kind, from a sender where one is given, that do not contradict `says`."""
        return [
            each
            for each in self._messages
            if each.kind == kind
            and sender in (None, each.sender)
            and all(each.content.get(key, value) == value for key, value in says.items())
        ]

    def forget(self, messages: list[Message]) -> None:
        """Drop messages that are handled, or never will be."""
        for message in messages:
            self._messages.remove(message)
            message.settle(STALE_CONTROLLER)

    def handle(self, kind: str, sender: int | None, says: dict, act: Callable[[Message], object]) -> bool:
        """Let `act` handle the newest message that fits; returns whether that took a step, which drops the older ones,
        too.
        """
        alike, before = self.alike(kind, sender, says), self._process.number
        if alike:
            act(alike[-1])
        if self._process.number == before:
            return False
        self.forget(alike)
        return True

    def handle_all(self, kind: str, says: dict, act: Callable[[Message], object]) -> bool:
        """Let `act` handle all messages that fit, the oldest first; returns whether that took a step."""
        alike, before = self.alike(kind, None, says), self._process.number
        for message in alike:
            act(message)
        self.forget(alike)
        return self._process.number > before
