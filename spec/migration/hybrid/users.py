"""What changes the partition in the log: users and operators, and the quorum's controller when a broker goes.

A change is one record. Unless changes come together, brokers were told of the last one, or the leader that was to tell
them is gone.
"""

from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, only, with_member, without_member
from kafkaproof.spec.migration.hybrid.state import clear, is_same, put


def may_change(s):
    """Whether the next change is a delta of its own: all before it were told, or nobody tells them.

    Kafka: MetadataLoader.handleCommit, 3.4 to 3.9.
    """
    return not s.tells or is_same(s.log, s.told)


def live_member(s, members):
    """A member of a set of brokers that runs, the first; nobody where none does."""
    for b in range(len(s.hosts)):
        if contains(members, b) and s.hosts[b].up:
            return b
    return NOBODY


def next_leader(s, members):
    """Who leads when the ISR becomes `members`: the leader, if it is a member and runs, else another one.

    Kafka: PartitionChangeBuilder.electLeader, 3.4 to 3.9.
    """
    leader = s.log.leader
    if leader != NOBODY and contains(members, leader) and s.hosts[leader].up:
        return leader
    return live_member(s, members)


def create_topic(s, b: Broker):
    """A user creates the topic, with one replica.

    Guards:  there is none; broker `b` runs; the last change was told.
    Effects: one record: it has the next id.
    """
    if s.log.topic != 0 or not s.hosts[b].up or not may_change(s):
        return False

    s.created += 1
    s.changes += 1
    put(s.log, s.created + 1, only(b), b, 0, only(b))
    return True


def delete_topic(s):
    """A user deletes the topic: there is no state in between, as there is with ZooKeeper.

    Guards:  there is one; the last change was told.
    Effects: one record.
    """
    if s.log.topic == 0 or not may_change(s):
        return False

    s.changes += 1
    clear(s.log)
    return True


def add_replica(s, b: Broker):
    """A user begins to reassign the partition: `b` is added to its replicas.

    Guards:  there is a topic; it is no replica; the last change was told.
    Effects: one record, in the same leader epoch.
    Kafka:   ReplicationControlManager.changePartitionReassignment, 3.4 to 3.9;
             PartitionChangeBuilder.triggerLeaderEpochBumpIfNeeded, 3.4 to 3.7;
             PartitionChangeBuilder.triggerLeaderEpochBumpForReplicaReassignmentIfNeeded, 3.8 to 3.9.
    """
    if s.log.topic == 0 or contains(s.log.replicas, b) or not may_change(s):
        return False

    s.changes += 1
    s.log.replicas = with_member(s.log.replicas, b)
    return True


def remove_replica(s, b: Broker):
    """A reassignment ends, and `b` is no replica any more.

    Guards:  it is one, and others in sync run; the last change was told.
    Effects: one record, in the next leader epoch.
    Kafka:   PartitionChangeBuilder.completeReassignmentIfNeeded, 3.4 to 3.9;
             PartitionChangeBuilder.triggerLeaderEpochBumpIfNeeded, 3.4 to 3.7;
             PartitionChangeBuilder.triggerLeaderEpochBumpForReplicaReassignmentIfNeeded, 3.8 to 3.9.
    """
    left = without_member(s.log.isr, b)
    if not contains(s.log.replicas, b) or next_leader(s, left) == NOBODY or not may_change(s):
        return False

    s.changes += 1
    leader = next_leader(s, left)
    put(s.log, s.log.topic, without_member(s.log.replicas, b), leader, s.log.leader_epoch + 1, left)
    return True


def epoch_after_shrink(content, leader):
    """The leader epoch after a member has left the ISR: the next one, also where the leader stays.

    Kafka: PartitionChangeBuilder.triggerLeaderEpochBumpForIsrShrinkIfNeeded, 3.8 to 3.9 (KAFKA-15109);
           PartitionChangeBuilder.triggerLeaderEpochBumpIfNeeded, 3.4 to 3.7.
    """
    return content.leader_epoch + 1


def leave(s, b):
    """A broker that is shut down is taken out of the ISR."""
    left = without_member(s.log.isr, b)
    s.changes += 1
    leader = next_leader(s, left)
    put(s.log, s.log.topic, s.log.replicas, leader, epoch_after_shrink(s.log, leader), left)


def shut_down(s, b: Broker):
    """A broker is shut down in a controlled way: the quorum takes it out of the ISR first.

    Guards:  it runs, and is not the only one in sync that does; the last change was told.
    Effects: one record where it was in sync. Its process ends, and its log stays.
    Kafka:   ReplicationControlManager.handleBrokerInControlledShutdown, 3.4 to 3.9.
    """
    in_sync = contains(s.log.isr, b)
    if not s.hosts[b].up or in_sync and live_member(s, without_member(s.log.isr, b)) == NOBODY:
        return False
    if not may_change(s):
        return False

    s.restarts += 1
    s.hosts[b].up = 0
    if in_sync:
        leave(s, b)
    return True
