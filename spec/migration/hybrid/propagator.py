"""What the quorum's leader tells brokers that run with ZooKeeper: everything when it begins, then what has changed."""

from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.migration.hybrid.hosts import (
    leads_or_follows,
    learn_all,
    learn_change,
    learn_topic,
    obey_full,
    stop,
)
from kafkaproof.spec.migration.hybrid.state import clear, copy, is_same


def obey_all(s, b):
    """A broker handles what it is told of everything: UpdateMetadata, and then full LeaderAndIsr and UpdateMetadata."""
    host = s.hosts[b]
    learn_topic(host, s.log)
    obey_full(host, b, s.log)
    learn_all(host, s.log)
    host.new = 0


def tell_all(s):
    """The leader's driver tells all brokers everything.

    Guards:  it has not yet, since it leads.
    Effects: brokers that run have handled it. From now on it tells what changes.
    Kafka:   MigrationPropagator.sendRPCsToBrokersFromMetadataImage, 3.4 to 3.9.
    """
    if s.tells:
        return False

    for b in range(len(s.hosts)):
        if s.hosts[b].up:
            obey_all(s, b)
    copy(s.log, s.told)
    s.tells = 1
    return True


def is_gone(s):
    """Whether the topic that brokers were told of is deleted."""
    return s.told.topic != 0 and s.told.topic != s.log.topic


def deletes_removed():
    """Whether a broker that is no replica any more is told to delete its log.

    Kafka: MigrationPropagator.sendRPCsToBrokersFromMetadataDelta, 3.6.2 to 3.9 (KAFKA-16120).
    """
    return True


def stop_former(s, b):
    """StopReplica goes to who was a replica, in the leader epoch of the partition of that name, -1 where there is none.

    Kafka: MigrationPropagator.sendRPCsToBrokersFromMetadataDelta, 3.4 to 3.9; MigrationControllerChannelContext.leaderEpoch,
           3.4 to 3.9.
    """
    if contains(s.told.replicas, b) and is_gone(s):
        stop(s.hosts[b], b, s.log.leader_epoch, True)
    elif contains(s.told.replicas, b) and not contains(s.log.replicas, b):
        stop(s.hosts[b], b, s.log.leader_epoch, deletes_removed())


def obey_change(s, b):
    """A broker handles what it is told of a change: LeaderAndIsr, UpdateMetadata and StopReplica, in this order.

    Kafka: AbstractControllerBrokerRequestBatch.sendRequestsToBrokers, 3.4 to 3.9.
    """
    leads_or_follows(s.hosts[b], b, s.log)
    learn_change(s.hosts[b], s.log)
    stop_former(s, b)


def tell_change(s):
    """The leader's driver tells the brokers what has changed.

    Guards:  it has told everything before; something has changed.
    Effects: brokers that run have handled it.
    Kafka:   MigrationPropagator.sendRPCsToBrokersFromMetadataDelta, 3.4 to 3.9.
    """
    if not s.tells or is_same(s.log, s.told):
        return False

    for b in range(len(s.hosts)):
        if s.hosts[b].up and not s.hosts[b].new:
            obey_change(s, b)
    copy(s.log, s.told)
    return True


def obey_first(host, b, content):
    """A broker that has registered handles what it is told first: all topics, and whom to follow, as any news."""
    learn_topic(host, content)
    leads_or_follows(host, b, content)


def tell_newcomer(s, b: Broker):
    """The leader's driver tells a broker that has registered about all topics, and to lead or follow: not in full requests.

    Guards:  it has told the others; the broker has registered.
    Effects: the broker has handled it.
    Kafka:   MigrationPropagator.sendRPCsToBrokersFromMetadataDelta, 3.4 to 3.9.
    """
    host = s.hosts[b]
    if not s.tells or not host.up or not host.new:
        return False

    obey_first(host, b, s.told)
    host.new = 0
    return True


def fail_over(s):
    """The quorum has another leader: it will tell everything.

    Guards:  the present one has told everything.
    Effects: what the former one was about to tell is not told.
    Kafka:   KRaftMigrationDriver.KRaftLeaderEvent, 3.4 to 3.9.
    """
    if not s.tells:
        return False

    s.failovers += 1
    s.tells = 0
    clear(s.told)
    return True
