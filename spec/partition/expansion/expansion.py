"""Partitions are added to a topic while the cluster runs: an administrator asks the controller, whose watch on the data
of the topic then fires. Not modelled: an assignment that the administrator chooses, racks, and an operator who writes
the topic znode.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, Delivery
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only
from kafkaproof.spec.partition.context import OFFLINE, Broker, Partition, is_queued
from kafkaproof.spec.partition.creation.creation import Partitions, begin_partition, known_partitions, live_brokers
from kafkaproof.spec.partition.creation.zookeeper import read_topics
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.expansion.zookeeper import add_partitions as write_partitions
from kafkaproof.spec.partition.expansion.zookeeper import added, checked_restore_topic, in_use
from kafkaproof.spec.partition.progress import at_work, give_up, proceed
from kafkaproof.spec.partition.reassignment.progress import reassigned


def is_settled(controller, topic):
    """Whether no partition of a topic is being reassigned, as far as a controller knows (in Kafka: as the topic znode
    says, which is read first; up to 2.3 no partition may be listed in /admin/reassign_partitions).
    """
    return is_empty(intersection(topic, reassigned(controller)))


def add_partitions(s, b: Broker, p: Partition, new: Partitions, start: Broker, delivery: Delivery):
    """A controller adds partitions to the topic of a partition, as an administrator asks.

    Guards:  `b` is at work, and knows `p`, and as many live brokers as it has replicas; the topic is not queued for
             deletion, and not being reassigned; no topic has or had the new partitions.
    Request: OK; NONODE; EXPIRED; LOST.
    Effects: the topic has them, with as many replicas as `p`, and the controller's watch will fire. (In Kafka `p` is
             the first of the topic: its preferred replica is where the assignment starts.)
    Kafka:   AdminManager.createPartitions, 1.0 to 2.7; ZkAdminManager.createPartitions, 2.8 to 3.9;
             AdminZkClient.addPartitions, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    replicas = controller.partitions[p].assignment.length
    if not at_work(controller) or replicas == 0 or replicas > live_brokers(controller) or is_queued(controller, p):
        return False
    if (
        is_empty(new)
        or not is_empty(intersection(new, in_use(s.zk)))
        or not is_settled(controller, topics_of(s.zk, only(p)))
    ):
        return False

    write_partitions(s.zk, b, p, new, replicas, start, controller.live, delivery)
    return True


def new_partitions(s, b: Broker):
    """A controller is notified that topics have changed, and reads them: partitions that it does not know are new.

    Guards:  topics that are not queued for deletion have partitions that it does not know; `b` is at work.
    Request: OK; EXPIRED.
    Effects: they are New, as are their replicas, and to be elected.
    Kafka:   KafkaController.PartitionModifications, 1.1 to 2.2; KafkaController.processPartitionModifications, 2.3 to
             3.9.
    """
    controller = s.brokers[b].controller
    known = known_partitions(controller)
    new = difference(added(s.zk, known), topics_of(s.zk, controller.deleting))
    if not at_work(controller) or is_empty(new):
        return False

    answer = read_topics(s.zk, b, new, controller)
    if answer == EXPIRED:
        give_up(s, b, answer)
    else:
        for p in range(len(controller.partitions)):
            if contains(new, p):
                begin_partition(controller, p)
        controller.strategy = OFFLINE
        controller.todo = new
        proceed(controller)
    return True


def restore_partitions(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller writes the topic znode of a topic that is queued for deletion without the partitions that were added.

    Guards:  the topic has partitions that it does not know; `p` is one that it knows; `b` is at work.
    Request: OK; NONODE; FENCED; EXPIRED; LOST.
    Effects: the partitions that have a znode in /brokers/topics/t/partitions stay, also if they are known and have
             none; on LOST it is notified again, if nothing was written; on FENCED the term is over.
    Kafka:   KafkaController.restorePartitionReplicaAssignment, 2.0 to 3.9; KafkaController.PartitionModifications, 2.0
             to 2.2; KafkaController.processPartitionModifications, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    known = known_partitions(controller)
    strange = added(s.zk, intersection(known, controller.deleting))
    if not at_work(controller) or not contains(intersection(controller.deleting, topics_of(s.zk, strange)), p):
        return False

    answer = checked_restore_topic(s.zk, b, p, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    return True
