"""Ids of topics as texts, and those that a running cluster gives: they say which partitions of the specification a topic has.

A topic id (2.8 and later) is 128 bits, in base64 of the URL alphabet. Here the last 64 are a set of partitions.
"""

import base64

CHANCE = SET = 8


def topic_id(members: int, chance: bytes) -> str:
    """The id of a topic that has the partitions of a set, lowest first; `chance`: 8 random bytes."""
    return text_of(chance + members.to_bytes(SET, "big"))


def foreign_id(chance: bytes) -> str:
    """An id for a topic that was created without one; `chance`: 16 random bytes. It says a partition that no such topic
    has, the first one of all, and so none that count.

    Kafka: KafkaController.processTopicIds, KafkaZkClient.setTopicIds, 2.8 to 3.9.
    """
    return text_of(chance[:-1] + bytes([chance[-1] | 1]))


def members_in(id: str) -> int:
    """The partitions of a topic, as a set; raises ValueError for a text that is no id."""
    return int.from_bytes(bytes_of(id)[CHANCE:], "big")


def text_of(id: bytes) -> str:
    """An id as ZooKeeper has it."""
    return base64.urlsafe_b64encode(id).decode().rstrip("=")


def bytes_of(id: str) -> bytes:
    """The bytes of an id; raises ValueError for a text that is no id."""
    return base64.urlsafe_b64decode(id + "==")
