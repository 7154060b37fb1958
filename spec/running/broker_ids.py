"""Which broker of Kafka each broker of the specification is: Kafka's ids may be any, and the specification has 0 to N-1.

What is written to ZooKeeper and to the wire has ids, and what transitions see has numbers: the places of the ids in order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from kafkaproof.spec.language.steps import Step

OF_BROKERS = ("b", "r", "sender", "leaver", "follower", "first", "target")
"""The arguments of a cluster's transitions that are brokers."""
OF_COORDINATORS = ("b",)
"""Those of the steps of groups."""


class BrokerIds:
    """The ids of the brokers of a cluster, each once, by their numbers.

    Those of no broker of the cluster have numbers, too, behind those of all that it has, so that what names one is kept as
    it is. What is negative names nobody, and stays. `is_plain`: each id is its number.
    """

    def __init__(self, ids: Iterable[int]):
        self.all = tuple(sorted(ids))
        self.is_plain = self.all == tuple(range(len(self.all)))
        self._numbers = {id: number for number, id in enumerate(self.all)}

    def id(self, number: int) -> int:
        """The id of a broker by its number."""
        if self.is_plain or number < 0:
            return number
        return self.all[number] if number < len(self.all) else number - len(self.all)

    def number(self, id: int) -> int:
        """The number of a broker by its id."""
        if self.is_plain or id < 0:
            return id
        return self._numbers.get(id, id + len(self.all))

    def ids(self, numbers: Iterable[int]) -> list[int]:
        """The ids of some brokers."""
        return [self.id(number) for number in numbers]

    def numbers(self, ids: Iterable[int]) -> list[int]:
        """The numbers of some brokers."""
        return [self.number(id) for id in ids]

    def with_ids(self, step: Step, brokers: Collection[str] = OF_BROKERS) -> Step:
        """A step with ids in place of numbers; `brokers` are the arguments that are some."""
        return _renamed(step, brokers, self.id)

    def with_numbers(self, step: Step, brokers: Collection[str] = OF_BROKERS) -> Step:
        """A step with numbers in place of ids."""
        return _renamed(step, brokers, self.number)


PLAIN = BrokerIds(())
"""Each id is its number."""


def _renamed(step: Step, brokers: Collection[str], name: Callable[[int], int]) -> Step:
    arguments = {each: name(value) if each in brokers else value for each, value in step.arguments.items()}
    return replace(step, arguments=arguments)
