"""What earlier releases told brokers that run with ZooKeeper, and what these made of it."""

from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.migration.hybrid.hosts import leads_or_follows, lose_log


def drop_by_name(host, b, content):
    """A broker handles a full LeaderAndIsr. At its end a log is moved aside whose name is not in it, whatever its id.

    Kafka: ReplicaManager.findStrayPartitionsFromLeaderAndIsr, 3.6.1 (KAFKA-16180).
    """
    leads_or_follows(host, b, content)
    if content.topic == 0 or not contains(content.replicas, b):
        lose_log(host)


def obey_as_any(host, b, content):
    """A broker handles LeaderAndIsr about everything like any other: a log that is not in it stays.

    Kafka: ReplicaManager.becomeLeaderOrFollower, 3.4 to 3.6.0 (KAFKA-15605).
    """
    leads_or_follows(host, b, content)


def learn_as_any(host, content):
    """A broker handles UpdateMetadata about everything like any other: a topic that is not in it stays in the cache.

    Kafka: ZkMetadataCache.updateMetadata, 3.4 to 3.6.0 (KAFKA-15799).
    """
    if content.topic != 0:
        host.cached = content.topic


def keep_removed():
    """A broker that is no replica any more is told to stop, and keeps its log.

    Kafka: MigrationPropagator.sendRPCsToBrokersFromMetadataDelta, 3.4 to 3.6.1 (KAFKA-16120).
    """
    return False


def keep_epoch(content, leader):
    """The leader epoch after a member has left the ISR: the next one only with another leader (KAFKA-15021, KAFKA-15109)."""
    return content.leader_epoch if leader == content.leader else content.leader_epoch + 1
