"""Partitions are added to a topic while the cluster runs: an administrator asks the controller, whose watch on the data
of the topic then fires. The request is no event: another thread of the controller's process reads the topic znode, and
then writes it whole, while events go on. Not modelled: an assignment that the administrator chooses, racks, and an
operator who writes the topic znode.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, Delivery
from kafkaproof.spec.language.combine import at_once
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty
from kafkaproof.spec.partition.context import Broker, Partition, is_queued
from kafkaproof.spec.partition.creation.creation import Partitions, create_partitions, known_partitions
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.expansion.state import drop_request
from kafkaproof.spec.partition.expansion.zookeeper import added, checked_restore_topic, in_use, write_topic
from kafkaproof.spec.partition.expansion.zookeeper import read_topic as get_topic
from kafkaproof.spec.partition.progress import at_work, give_up


def read_topic(s, b: Broker, p: Partition, new: Partitions, start: Broker):
    """A controller that is asked for more partitions of a topic reads the brokers and the topic znode, beside the event in
    progress.

    Guards:  `b` is controller, and has no other such request; it does not know the topic as queued for deletion; no topic
             has or had the new partitions.
    Request: OK; NONODE; EXPIRED.
    Effects: it remembers the assignments that it has read, and those of the new partitions, on the brokers that it has
             read, with as many replicas as `p`. (In Kafka `p` is the first of the topic: its preferred replica is where
             the assignment starts.) It remembers nothing where one of the topic is being reassigned (up to 2.3: any
             partition of any topic, by /admin/reassign_partitions), or there are fewer brokers than replicas.
    Kafka:   AdminManager.createPartitions, 1.0 to 2.7; ZkAdminManager.createPartitions, 2.8 to 3.9.
    """
    broker = s.brokers[b]
    if broker.controller.epoch == 0 or not is_empty(broker.expansion.new) or is_queued(broker.controller, p):
        return False
    if is_empty(new) or not is_empty(intersection(new, in_use(s.zk))):
        return False

    get_topic(s.zk, b, p, new, start, broker.expansion)
    return True


def write_partitions(s, b: Broker, p: Partition, delivery: Delivery):
    """The topic znode is written as it was read, with more partitions, whatever has become of it.

    Guards:  that of `p` was read; still no topic has or had the new partitions.
    Request: OK; NONODE; EXPIRED; LOST.
    Effects: the topic has these partitions and those that were read, with the assignments that were read, and none is
             being reassigned; the controller's watch will fire. (Not modelled: after a lost answer the same is written
             again.)
    Kafka:   AdminManager.createPartitions, 1.0 to 2.7; ZkAdminManager.createPartitions, 2.8 to 3.9;
             AdminZkClient.addPartitions, 1.1 to 3.9; KafkaZkClient.setTopicAssignmentRaw, 1.1 to 3.9.
    """
    expansion = s.brokers[b].expansion
    if is_empty(expansion.new) or expansion.of != p or not is_empty(intersection(expansion.new, in_use(s.zk))):
        return False

    write_topic(s.zk, b, p, expansion, delivery)
    drop_request(expansion)
    return True


add_partitions = at_once("add_partitions", read_topic, write_partitions)


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

    create_partitions(s, b, new)
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
