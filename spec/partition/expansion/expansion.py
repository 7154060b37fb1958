"""Partitions are added to a topic while the cluster runs: an administrator asks the controller, whose watch on the data
of the topic then fires. The request is no event: another thread of the controller's process reads the topic znode, and
then writes it whole, while events go on. Not modelled: an assignment that the administrator chooses, racks, and an
operator who writes the topic znode.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, OK, Delivery
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, everybody, intersection, is_empty, only
from kafkaproof.spec.partition.context import OFFLINE, Broker, Partition, is_queued
from kafkaproof.spec.partition.creation.creation import Partitions, begin_partition, known_partitions, live_brokers
from kafkaproof.spec.partition.creation.zookeeper import read_topics
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.expansion.state import drop_request
from kafkaproof.spec.partition.expansion.zookeeper import add_partitions as expand_topic
from kafkaproof.spec.partition.expansion.zookeeper import added, checked_restore_topic, has_brokers, in_use, write_topic
from kafkaproof.spec.partition.expansion.zookeeper import is_settled as is_settled_in_zookeeper
from kafkaproof.spec.partition.expansion.zookeeper import read_topic as get_topic
from kafkaproof.spec.partition.progress import at_work, give_up, proceed
from kafkaproof.spec.partition.reassignment.progress import reassigned
from kafkaproof.spec.partition.zookeeper import partitions_of_topics


def is_settled(controller, topic):
    """Whether no partition of a topic is being reassigned, as far as a controller knows."""
    return is_empty(intersection(topic, reassigned(controller)))


def read_topic(s, b: Broker, p: Partition):
    """A controller that is asked for more partitions of a topic reads the topic znode, beside the event in progress.

    Guards:  `b` is controller, and has no other such request; `p` is there; the controller does not know the topic as
             queued for deletion; some partition was never in use.
    Request: OK; EXPIRED.
    Effects: it remembers the assignments that it has read, unless one of the partitions is being reassigned (up to 2.3:
             any partition of any topic, by /admin/reassign_partitions).
    Kafka:   AdminManager.createPartitions, 1.0 to 2.7; ZkAdminManager.createPartitions, 2.8 to 3.9.
    """
    broker = s.brokers[b]
    unused = difference(everybody(len(s.brokers[b].controller.partitions)), in_use(s.zk))
    if broker.controller.epoch == 0 or broker.expansion.of != NOBODY or is_queued(broker.controller, p):
        return False
    if is_empty(unused) or not contains(partitions_of_topics(s.zk), p) or not is_settled_in_zookeeper(s.zk, p):
        return False

    if get_topic(s.zk, b, p, broker.expansion) == OK:
        broker.expansion.of = p
    return True


def write_partitions(s, b: Broker, p: Partition, new: Partitions, start: Broker, delivery: Delivery):
    """The topic znode is written as it was read, with more partitions, whatever has become of it.

    Guards:  that of `p` was read; as many brokers are registered as its partitions have replicas (in Kafka this is asked before);
             no topic has or had the new partitions.
    Request: OK; NONODE; EXPIRED; LOST.
    Effects: the topic has these partitions and those that were read, with the assignments that were read, and none is
             being reassigned; the controller's watch will fire. (Not modelled: after a lost answer the same is written
             again.)
    Kafka:   AdminManager.createPartitions, 1.0 to 2.7; ZkAdminManager.createPartitions, 2.8 to 3.9;
             AdminZkClient.addPartitions, 1.1 to 3.9; KafkaZkClient.setTopicAssignmentRaw, 1.1 to 3.9.
    """
    expansion = s.brokers[b].expansion
    if expansion.of != p or is_empty(new) or not is_empty(intersection(new, in_use(s.zk))):
        return False
    if not has_brokers(s.zk, expansion.assignments[p].length):
        return False

    write_topic(s.zk, b, p, expansion, new, start, delivery)
    drop_request(expansion)
    return True


def add_partitions(s, b: Broker, p: Partition, new: Partitions, start: Broker, delivery: Delivery):
    """A controller adds partitions to the topic of a partition, as an administrator asks: the topic znode is read and
    written at once, between two events (see `read_topic` and `write_partitions`).

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

    expand_topic(s.zk, b, p, new, replicas, start, controller.live, delivery)
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
