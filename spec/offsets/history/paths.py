"""Other ways, and other places: a group that goes back to ZooKeeper, one that skips a step, and the brokers of 1.1.0."""

from kafkaproof.spec.offsets.stores import KAFKA, ZOOKEEPER, Member, former, target


def from_kafka():
    """The group leaves Kafka."""
    return KAFKA


def to_zookeeper():
    """The group moves to ZooKeeper."""
    return ZOOKEEPER


def configure_at_once(s, m: Member):
    """A member is restarted with the new storage alone, and nothing was ever committed to both places.

    Guards:  it does not read, and has the former storage.
    Effects: it commits and fetches in the new place alone.
    """
    if s.owner == m or s.members[m].storage != former():
        return False

    s.members[m].storage = target()
    return True


def offset_misplaced(s):
    """The offset that a client gets from a broker of 1.1.0 by version 0 of OffsetFetch.

    Kafka: ConsumerOffset.path, 1.1.0 (`/consumers/<group>/offset/`; with `offsets` again in 1.1.1).
    """
    return s.misplaced


def put_misplaced(s, offset):
    """Where a broker of 1.1.0 puts what version 0 of OffsetCommit tells it.

    Kafka: ConsumerOffset.path, 1.1.0.
    """
    s.misplaced = offset


def checkpoint_in_zookeeper(s, position):
    """The offset that ZooKeeper has: no release reads it for this."""
    return s.zookeeper
