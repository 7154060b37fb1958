"""The chain of a log, record by record: what has been linked is not linked again."""

from __future__ import annotations

from collections.abc import Sequence

from kafkaproof.spec.language.digest import EMPTY, link
from kafkaproof.spec.language.plain import Plain


class Chain:
    """The chain of one log, each record named as `names` has it, which only grows.

    `forget` is to be told of each place that is written to.
    """

    def __init__(self, names: Sequence[int]):
        self._names, self._links = names, [EMPTY]

    def forget(self, place: int) -> None:
        """A place was written to: what is linked behind it is not known."""
        del self._links[place + 1 :]

    def of(self, log: Plain) -> str:
        """The chain of the log's records up to its length."""
        for place in range(len(self._links) - 1, log.length):
            entry = log.slots[place]
            self._links.append(link(self._links[place], entry.epoch, self._names[entry.id]))
        return self._links[log.length]
