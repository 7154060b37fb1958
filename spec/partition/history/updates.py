"""Who was told what of brokers that come and go up to 3.0 (see `kafkaproof.spec.partition.telling`).

Up to 2.6 brokers that come are told of topics that are queued for deletion, too: they are to forget these. Up to 2.1 a
request that names no partition has all of them. Up to 3.0 brokers that have died are not told of while some partition
lacks a leader: it is taken for granted that one is elected, which tells it.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference
from kafkaproof.spec.partition.context import has_leader, is_known, is_queued
from kafkaproof.spec.partition.network import put_alive, send_batch
from kafkaproof.spec.partition.telling import tell_brokers, tell_partition
from kafkaproof.spec.partition.zookeeper import known_as_they_are


def tell_all_partitions(s, b, to):
    """UpdateMetadata that names no partition: it has all whose leadership is known.

    Kafka: KafkaController.sendUpdateMetadataRequest, 0.8 to 2.1.
    """
    controller = s.brokers[b].controller
    for p in range(len(controller.partitions)):
        tell_partition(s, b, p, to)
    send_batch(s.network, controller.epoch)


def tell_newcomers_all(s, b, joined):
    """Brokers have come: the others are told who is live, and those that came of every partition.

    Kafka: KafkaController.onBrokerStartup, 2.2 to 2.6.
    """
    controller = s.brokers[b].controller
    tell_brokers(s, b, difference(controller.live, joined))
    put_alive(s.network, controller.epoch, controller.live, known_as_they_are(s.zk, b, joined))
    for p in range(len(controller.partitions)):
        tell_partition(s, b, p, joined)
    send_batch(s.network, controller.epoch)


def tell_everybody(s, b, joined):
    """Brokers have come: all are told all.

    Kafka: KafkaController.onBrokerStartup, 0.8 to 2.1.
    """
    tell_all_partitions(s, b, s.brokers[b].controller.live)


def is_no_leader_missing(controller, dead):
    """Whether all are told by themselves that some brokers are dead: every partition has a leader.

    Kafka: KafkaController.onReplicasBecomeOffline, 1.0 to 3.0.
    """
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        if is_known(partition) and not is_queued(controller, p) and not has_leader(controller, partition):
            return False
    return True


def is_no_leader_dead(controller, dead):
    """Whether all are told by themselves that some brokers are dead: these led nothing.

    Kafka: KafkaController.onBrokerFailure, 0.8 to 0.11.
    """
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        led = partition.leader != NOBODY and contains(dead, partition.leader)
        if is_known(partition) and not is_queued(controller, p) and led:
            return False
    return True
