"""Ids of topics (2.8 and later): 128 bits, as texts in base64 of the URL alphabet."""

import base64

SIZE = 16
ZERO, ONE = (number.to_bytes(SIZE, "big") for number in (0, 1))
RESERVED = (ZERO, ONE)


def may_be_given(id: bytes) -> bool:
    """Whether a new topic may get an id: some are reserved, and none begins with a dash, which tools take for an option.

    Kafka: Uuid.randomUuid, 2.8 to 3.9 (a dash may come first up to 3.1).
    """
    return id not in RESERVED and not text_of(id).startswith("-")


def members_in(id: str) -> int:
    """The partitions of a topic as a set, which the last 64 bits of its id were in recordings up to format 9; raises ValueError
    for a text that is no id.
    """
    return int.from_bytes(bytes_of(id)[8:], "big")


def text_of(id: bytes) -> str:
    """An id as ZooKeeper has it."""
    return base64.urlsafe_b64encode(id).decode().rstrip("=")


def bytes_of(id: str) -> bytes:
    """The bytes of an id; raises ValueError for a text that is no id."""
    return base64.urlsafe_b64decode(id + "==")
