"""Which numbers of the specification the partitions of a topic have, and how those get some that none of our controllers has
created: a broker of ours that finds one takes free numbers, and notes them with the topic's id.

What is noted stands in one znode, which is written on the version that was read: all processes agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, OFFSETS_TOPIC, Places
from kafkaproof.impl.seams.zookeeper.znodes import Given, Topic
from kafkaproof.spec.language.plain import ids_in
from kafkaproof.spec.language.sets import contains, difference, is_empty, with_member


def first_numbers(initial: list[int], topic: Topic, noted: Given) -> list[int]:
    """The numbers that a topic had at first: those from the beginning (`initial`), or those that its id says. The id of a
    topic that none of our controllers has created says any numbers, so that it is noted as foreign.
    """
    is_ours = topic.id not in noted.foreign and is_empty(difference(topic.places, noted.places))
    return initial or (ids_in(topic.places) if is_ours else [])


def numbers_of(initial: list[int], name: str, topic: Topic, noted: Given) -> list[int]:
    """The numbers of a topic's partitions, as far as they have any: those that it had at first, and those added to it. What
    was added before a topic got an id is noted with its name.
    """
    added = noted.added.get(topic.id) or noted.added.get(name, ())
    return [*first_numbers(initial, topic, noted), *added][: len(topic.assignments)]


def with_all(places: Places, topics: Mapping[str, Topic], noted: Given) -> Given | None:
    """What is to be noted so that the partitions of all topics have numbers, None where nothing is. A topic for which there
    are not enough free numbers gets none, and neither does any where only topics of our own get some.
    """
    given, added, foreign = noted.places, dict(noted.added), list(noted.foreign)
    if not places.takes_any:
        return None
    for name, topic in sorted(topics.items()):
        numbers = numbers_of(places.initial(name), name, topic, noted)
        wanted = len(topic.assignments) - len(numbers)
        free = [p for p in range(places.size) if places.is_room(p) and not contains(given, p)]
        if (name == OFFSETS_TOPIC and places.offsets != NONE) or not 0 < wanted <= len(free):
            continue
        first = len(first_numbers(places.initial(name), topic, noted))
        added[topic.id or name] = (*numbers[first:], *free[:wanted])
        if topic.id and first == 0 and topic.id not in foreign:
            foreign.append(topic.id)
        for p in free[:wanted]:
            given = with_member(given, p)
    return None if given == noted.places else replace(noted, places=given, added=added, foreign=tuple(foreign))
