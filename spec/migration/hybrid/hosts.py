"""What a broker that runs with ZooKeeper makes of the quorum's LeaderAndIsr, UpdateMetadata and StopReplica."""

from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, with_member
from kafkaproof.spec.migration.hybrid.state import clear, put
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.metadata.halting import is_in_time
from kafkaproof.spec.partition.recreation.replica import is_of_another


def start(s, b: Broker):
    """A broker starts, and registers with the quorum.

    Guards:  it does not run.
    Effects: it has its log, and knows nothing else.
    Kafka:   KafkaServer.startup, 3.4 to 3.9; BrokerLifecycleManager.StartupEvent, 3.4 to 3.9.
    """
    host = s.hosts[b]
    if host.up:
        return False

    put(host, host.topic, 0, NOBODY, NO_EPOCH, 0)
    host.up = 1
    host.new = 1
    host.stopped = 0
    host.cached = 0
    return True


def may_obey(host, leader_epoch):
    """Whether LeaderAndIsr of the quorum is of no lower leader epoch than the replica has.

    Kafka: ReplicaManager.becomeLeaderOrFollower, 3.6.2 to 3.9 (KAFKA-16121).
    """
    return leader_epoch >= host.leader_epoch


def lead_or_follow(host, b, content):
    """A broker handles LeaderAndIsr: it makes a log, and leads or follows.

    Refused where its log is of another topic of that name (INCONSISTENT_TOPIC_ID), or its leader epoch higher.

    Kafka: ReplicaManager.becomeLeaderOrFollower, 3.4 to 3.9; LogManager.getOrCreateLog, 3.4 to 3.9.
    """
    if not is_of_another(host, content.topic) and may_obey(host, content.leader_epoch):
        put(host, content.topic, 0, content.leader, content.leader_epoch, 0)
        host.stopped = 0
        if content.leader == b:
            host.replicas = content.replicas
            host.isr = content.isr


def leads_or_follows(host, b, content):
    """LeaderAndIsr goes to the replicas."""
    if content.topic != 0 and contains(content.replicas, b):
        lead_or_follow(host, b, content)


def lose_log(host):
    """A broker has no log any more, and no replica."""
    clear(host)
    host.stopped = 0


def stop(host, b, leader_epoch, deletes):
    """A broker handles StopReplica: with delete its log goes, without it fetches no more; none of a lower leader epoch.

    Kafka: ReplicaManager.stopReplicas, 3.4 to 3.9.
    """
    if is_in_time(host, leader_epoch):
        if deletes:
            lose_log(host)
        elif host.topic != 0 and host.leader != b:
            host.stopped = 1


def learn_topic(host, content):
    """A broker handles UpdateMetadata about the topics that there are: its cache has the id that it is told.

    Kafka: ZkMetadataCache.updateMetadata, 3.4 to 3.9.
    """
    if content.topic != 0:
        host.cached = content.topic


def learn_change(host, content):
    """A broker handles UpdateMetadata about a change: a topic that is deleted goes from the cache.

    Kafka: ZkMetadataCache.updateMetadata, 3.4 to 3.9.
    """
    host.cached = content.topic


def learn_all(host, content):
    """A broker handles a full UpdateMetadata: what is not in it goes from the cache.

    Kafka: ZkMetadataCache.transformKRaftControllerFullMetadataRequest, 3.6.2 to 3.9 (KAFKA-15799).
    """
    host.cached = content.topic


def obey_full(host, b, content):
    """A broker handles a full LeaderAndIsr. First a log that is not in it, or is of another id, is moved aside.

    There are other partitions, so that each broker is sent one.

    Kafka: LogManager.findStrayReplicas, 3.6.2 to 3.9 (KAFKA-16180); ReplicaManager.updateStrayLogs, 3.6.1 to 3.9.
    """
    if content.topic != host.topic or not contains(content.replicas, b):
        lose_log(host)
    leads_or_follows(host, b, content)


def is_current(s, leader):
    """Whether a leader knows the partition as it is: what it proposes is not refused for its version."""
    host = s.hosts[leader]
    known = host.topic == s.log.topic and host.leader == leader and host.leader_epoch == s.log.leader_epoch
    return host.up == 1 and known and host.isr == s.log.isr and host.replicas == s.log.replicas


def follows(s, b):
    """Whether a broker fetches from the leader of the partition, in its leader epoch."""
    host = s.hosts[b]
    fetches = host.up == 1 and not host.stopped and host.topic == s.log.topic
    return fetches and host.leader == s.log.leader and host.leader_epoch == s.log.leader_epoch


def expand_isr(s, b: Broker):
    """A follower is in sync, and the leader takes it into the ISR: it asks the quorum, and learns from the answer.

    Guards:  the leader knows the partition as it is, and `b` as a replica; it follows, and is not in the ISR.
    Effects: one record, in the same leader epoch.
    Kafka:   Partition.maybeExpandIsr, 3.4 to 3.9; ReplicationControlManager.alterPartition, 3.4 to 3.9.
    """
    leader = s.log.leader
    if s.log.topic == 0 or leader == NOBODY or contains(s.log.isr, b) or not contains(s.log.replicas, b):
        return False
    if not is_current(s, leader) or not follows(s, b):
        return False

    s.log.isr = with_member(s.log.isr, b)
    s.hosts[leader].isr = s.log.isr
    return True
