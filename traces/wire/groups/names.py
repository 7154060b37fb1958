"""The numbers of what a group's requests name: brokers, members, group.instance.ids, protocols."""

from __future__ import annotations

from collections.abc import Iterable

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.wire.groups.calls import JOIN, Call


class Names:
    """The numbers, of all that any request or answer names. Who is given an id in an answer that nobody has seen is
    named by the place of the request.
    """

    def __init__(self, calls: Iterable[Call], brokers: Iterable[int]):
        self.brokers = sorted(brokers)
        self._members: dict[str, int] = {}
        self._instances: dict[str, int] = {}
        self._protocols: dict[str, int] = {}
        for call in calls:
            for name in (call.member, *call.assigned, *self._in_answer(call)):
                if name:
                    self._members.setdefault(name, len(self._members))
            if call.api == JOIN and not call.member:
                self._members.setdefault(_drawn(call), len(self._members))
            if call.instance is not None:
                self._instances.setdefault(call.instance, len(self._instances))
            for name, _ in call.protocols[:2]:
                self._protocols.setdefault(name, len(self._protocols))
        self._ids = list(self._members)

    @staticmethod
    def _in_answer(call: Call) -> Iterable[str]:
        answer = call.answer
        return () if answer is None else (answer.member, *(each.name for each in answer.members or ()))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """How many members, group.instance.ids and protocols there are."""
        return len(self._members), len(self._instances), len(self._protocols)

    def place(self, broker: int) -> int:
        """The number of a broker."""
        return self.brokers.index(broker)

    def number(self, member: str) -> int:
        """The number of a member id."""
        return self._members[member]

    def drawn(self, m: int, call: Call) -> int:
        """The number of the id that is drawn for a join without one."""
        return self._members[_drawn(call)] if call.api == JOIN else NOBODY

    def name(self, number: int) -> str:
        """The member id of a number."""
        return self._ids[number]

    def instance(self, name: str) -> int:
        """The number of a group.instance.id."""
        return self._instances[name]

    def offered(self, call: Call) -> tuple[int, int]:
        """The numbers of the protocols that a join offers: the first, and the second or the first again."""
        own = [self._protocols[name] for name, _ in call.protocols[:2]] or [0]
        return own[0], own[-1]

    def protocol(self, number: int) -> str | None:
        """The protocol of a number."""
        return None if number == NOBODY else list(self._protocols)[number]

    @property
    def protocols(self) -> int:
        """How many protocols there are."""
        return len(self._protocols)


def _drawn(call: Call) -> str:
    """The member id that a join without one is given, as far as that is known."""
    return (call.answer and call.answer.member) or f"a member of {call.exchange.place}"
