"""The numbers by which requests and answers find each other: correlation ids."""

from collections.abc import Iterable


def missing_in(numbers: Iterable[int]) -> list[int]:
    """The numbers that lack between the first and the last request of a connection between brokers.

    Each number is given to the next request, and a client of a broker has one connection at a time.

    Kafka: NetworkClient.newClientRequest, 1.1 to 3.9.
    """
    known = set(numbers)
    return [each for each in range(min(known), max(known)) if each not in known] if known else []
