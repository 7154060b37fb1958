"""Which numbers of the specification the partitions of a topic have: those from the beginning, and those that are noted for it.

A controller of ours notes the numbers of a topic before it creates it; whoever of ours finds a topic that a tool or another
controller has created takes numbers for it. What is noted stands in one znode, which is written on the version that was
read: all processes agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count, islice

from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, OFFSETS_TOPIC, Places
from kafkaproof.impl.seams.zookeeper.znodes import Given, Topic
from kafkaproof.spec.language.sets import contains, with_member


def noted_for(name: str, topic: Topic, noted: Given) -> tuple[int, ...]:
    """The numbers that are noted for a topic: by its id or, where it had none then, by its name."""
    return noted.numbers.get(topic.id) or noted.numbers.get(name, ())


def numbers_of(initial: list[int], name: str, topic: Topic, noted: Given) -> list[int]:
    """The numbers of a topic's partitions, as far as they have any: those from the beginning, and those that are noted."""
    return [*initial, *noted_for(name, topic, noted)][: len(topic.assignments)]


def free_in(places: Places, given: int) -> Iterator[int]:
    """The numbers that are not given, without an end."""
    return (p for p in count(places.further) if not contains(given, p))


def with_all(places: Places, topics: Mapping[str, Topic], noted: Given) -> Given | None:
    """What is to be noted so that the partitions of all topics have numbers, None where nothing is, or only the topics from
    the beginning have some. What is noted by the name of a topic goes to its id when it has got one: another topic may have
    its name later.
    """
    if places.further == NONE:
        return None
    given, numbers = noted.places, dict(noted.numbers)
    for name, topic in sorted(topics.items()):
        if topic.id and name in numbers and topic.id not in numbers:
            numbers[topic.id] = numbers.pop(name)
        wanted = len(topic.assignments) - len(numbers_of(places.initial(name), name, topic, noted))
        if wanted <= 0 or (name == OFFSETS_TOPIC and places.offsets != NONE):
            continue
        more = tuple(islice(free_in(places, given), wanted))
        numbers[topic.id or name] = (*noted_for(name, topic, noted), *more)
        for p in more:
            given = with_member(given, p)
    if (given, numbers) == (noted.places, noted.numbers):
        return None
    return replace(noted, places=given, numbers=numbers)


def without_deleted(noted: Given, topics: Mapping[str, str]) -> Given:
    """What is noted of the topics that there are (their ids by their names) alone; the numbers of the others stay given."""
    there = {*topics, *topics.values()}
    return replace(noted, numbers={key: numbers for key, numbers in noted.numbers.items() if key in there})
