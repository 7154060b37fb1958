"""What the answers of a replica are called on the wire."""

from kafkaproof.spec.replica.storage import NO_EPOCH
from kafkaproof.spec.replica.zookeeper import (
    FENCED_LEADER_EPOCH,
    NOT_ENOUGH_REPLICAS,
    NOT_LEADER,
    OK,
    UNKNOWN_LEADER_EPOCH,
)

TAKEN = "NONE"
"""No error."""
UNKNOWN_TOPICS = ("UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "INCONSISTENT_TOPIC_ID")
"""Answers of a broker to which no UpdateMetadata has told of a topic yet."""
_NAMES = {
    OK: (TAKEN,),
    NOT_LEADER: ("NOT_LEADER_OR_FOLLOWER",),
    FENCED_LEADER_EPOCH: ("FENCED_LEADER_EPOCH",),
    UNKNOWN_LEADER_EPOCH: ("UNKNOWN_LEADER_EPOCH",),
    NOT_ENOUGH_REPLICAS: ("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
}
KNOWN = frozenset(name for names in _NAMES.values() for name in names) - {TAKEN}
"""The errors that transitions give."""


def names_of(answer: int, epoch: int) -> tuple[str, ...]:
    """The errors by which a broker in a leader epoch may give an answer: without a replica it may not know the topic.

    Kafka: ReplicaManager.getPartitionOrException, 2.1 to 2.3; getPartitionOrError, 2.4 to 3.9.
    """
    return _NAMES[answer] + (UNKNOWN_TOPICS if answer == NOT_LEADER and epoch == NO_EPOCH else ())
