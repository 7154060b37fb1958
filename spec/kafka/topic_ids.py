"""Ids of topics that a running cluster creates: they say which partitions of the specification a topic has.

A topic id (2.8 and later) is 128 bits, in base64 of the URL alphabet. Here the last 64 are a set of partitions.
"""

import base64

CHANCE = SET = 8


def topic_id(members: int, chance: bytes) -> str:
    """The id of a topic that has the partitions of a set, lowest first; `chance`: 8 random bytes."""
    return base64.urlsafe_b64encode(chance + members.to_bytes(SET, "big")).decode().rstrip("=")


def members_in(id: str) -> int:
    """The partitions of a topic, as a set; raises ValueError for a text that is no id."""
    return int.from_bytes(base64.urlsafe_b64decode(id + "==")[CHANCE:], "big")
