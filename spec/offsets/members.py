"""What members do: begin, read, commit, stop, and start again with another configuration."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.offsets.stores import (
    BOTH,
    ZOOKEEPER,
    Member,
    checkpoint_at,
    fetched,
    former,
    leave,
    may_leave_both,
    must_copy,
    put_in_zookeeper,
    succeed,
    target,
)


def begin(s, m: Member):
    """A member takes the partition, and begins at the offset that it fetches.

    Guards:  nobody reads the partition.
    Effects: it reads from there; that offset is its checkpoint of ZooKeeper, too.
    Kafka:   ZookeeperConsumerConnector.fetchOffsets, addPartitionTopicInfo, 0.8.2 to 1.1.
    """
    if s.owner != NOBODY:
        return False

    member = s.members[m]
    s.owner = m
    member.position = fetched(s, member.storage)
    member.checkpoint = checkpoint_at(s, member.position)
    member.uncommitted = 1
    return True


def consume(s, m: Member):
    """A member reads the next record.

    Guards:  it reads the partition, and no commit is under way.
    Effects: its position advances.
    Kafka:   ConsumerIterator.next, 0.8.2 to 1.1.
    """
    if s.owner != m or s.members[m].copying:
        return False

    s.members[m].position += 1
    s.members[m].uncommitted = 1
    return True


def commit_to_zookeeper(s, m: Member):
    """A member that uses ZooKeeper alone commits its position.

    Guards:  it reads the partition, and has not committed its position.
    Effects: the znode is set, unless the member believes that it has this offset.
    Kafka:   ZookeeperConsumerConnector.commitOffsetToZooKeeper, 0.8.2 to 1.1.
    """
    member = s.members[m]
    if s.owner != m or member.storage != ZOOKEEPER or not member.uncommitted:
        return False

    if member.position != member.checkpoint:
        put_in_zookeeper(s, member.position)
    member.checkpoint = member.position
    succeed(s, m, member.position)
    return True


def commit_to_kafka(s, m: Member):
    """A member commits its position to the coordinator, which acknowledges it.

    Guards:  it reads the partition, uses Kafka, and has not committed its position.
    Effects: Kafka has the offset. The commit succeeds, unless it must be copied to ZooKeeper first.
    Kafka:   ZookeeperConsumerConnector.commitOffsets, 0.8.2 to 1.1.
    """
    member = s.members[m]
    if s.owner != m or member.storage == ZOOKEEPER or not member.uncommitted or member.copying:
        return False

    s.kafka = member.position
    if must_copy(member):
        member.copying = 1
    else:
        succeed(s, m, member.position)
    return True


def copy_to_zookeeper(s, m: Member):
    """A member copies to ZooKeeper what Kafka has acknowledged.

    Guards:  a commit must be copied.
    Effects: the znode is set, and the commit succeeds.
    Kafka:   ZookeeperConsumerConnector.commitOffsets, commitOffsetToZooKeeper, 0.8.2 to 1.1.
    """
    member = s.members[m]
    if not member.copying:
        return False

    put_in_zookeeper(s, member.position)
    member.checkpoint = member.position
    succeed(s, m, member.position)
    return True


def stop(s, m: Member):
    """A member leaves the partition after its last commit: it shuts down, or another takes over.

    Guards:  it reads the partition, and has committed its position.
    Effects: nobody reads the partition.
    Kafka:   ZookeeperConsumerConnector.shutdown, closeFetchersForQueues, 0.8.2 to 1.1.
    """
    if s.owner != m or s.members[m].uncommitted:
        return False

    leave(s, m)
    return True


def configure_both(s, m: Member):
    """The first step of the migration: a member is restarted with offsets.storage=kafka and dual.commit.enabled=true.

    Guards:  it does not read, and has the former storage.
    Effects: it commits to both places, and fetches from both.
    """
    if s.owner == m or s.members[m].storage != former():
        return False

    s.members[m].storage = BOTH
    return True


def configure_target(s, m: Member):
    """The second step of the migration: a member is restarted with the new storage alone.

    Guards:  it does not read, and commits to both places; nobody has the former storage, and a commit to both places
             was the last one.
    Effects: it commits and fetches in the new place alone.
    """
    if s.owner == m or s.members[m].storage != BOTH or not may_leave_both(s):
        return False

    s.members[m].storage = target()
    return True


def crash(s, m: Member):
    """A member crashes.

    Guards:  it reads the partition.
    Effects: what it has not committed is read again; a commit that it had to copy stays in Kafka alone.
    """
    if s.owner != m:
        return False

    leave(s, m)
    s.crashes += 1
    return True


def expire_offset(s):
    """Kafka deletes the group's offset, because nobody has committed for offsets.retention.minutes.

    Guards:  nobody reads, and Kafka has an offset.
    Effects: Kafka has none. ZooKeeper keeps its own for ever.
    """
    if s.owner != NOBODY or s.kafka == 0:
        return False

    s.kafka = 0
    s.expirations += 1
    return True
