"""A controller and topics that are deleted, and created again under the same name.

Everything in ZooKeeper, and most of what a controller asks brokers, goes by the name: only LeaderAndIsr has the topic's
id (2.8+). Who creates the topic is `creation.create_topic`.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED
from kafkaproof.spec.language.sets import is_empty
from kafkaproof.spec.partition.context import Broker, Partition
from kafkaproof.spec.partition.context import forget_partition as forget_any
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.creation.zookeeper import read_topics
from kafkaproof.spec.partition.deletion.network import is_of_deletion, stop_arrives
from kafkaproof.spec.partition.deletion.state import forget_topic
from kafkaproof.spec.partition.progress import at_work, give_up
from kafkaproof.spec.partition.recreation.network import identify, late_arrives, put_late
from kafkaproof.spec.partition.recreation.zookeeper import gone_topics
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.partition.telling import send_leadership as send_any


def topic_gone(s, b: Broker):
    """A controller is notified of topics that are gone: another controller has deleted them.

    Guards:  it knows topics that there are no more; `b` is at work.
    Request: OK; EXPIRED.
    Effects: they are forgotten.
    Kafka:   KafkaController.TopicChange, 1.0 to 2.2; KafkaController.processTopicChange, 2.3 to 3.9;
             ControllerContext.removeTopic, 1.0 to 3.9.
    """
    controller = s.brokers[b].controller
    gone = gone_topics(s.zk, known_partitions(controller))
    if not at_work(controller) or is_empty(gone):
        return False

    answer = read_topics(s.zk, b, 0, controller)
    if answer == EXPIRED:
        give_up(s, b, answer)
    else:
        controller.dropping = gone
        forget_topic(controller)
    return True


def send_leadership(s, b, p, to):
    """LeaderAndIsr of a partition to some brokers, with the id of its topic."""
    controller = s.brokers[b].controller
    identify(s.network, controller.epoch, p, controller.partitions[p].topic)
    send_any(s, b, p, to)


def forget_partition(partition):
    """A partition is not in the context any more, nor is the id of its topic."""
    forget_any(partition)
    partition.topic = 0


def send_stop_again(s, b: Broker, epoch: Epoch, p: Partition):
    """StopReplica(delete) of a deletion is late on its way to `b`: the controller has sent it again.

    Guards:  it is on its way, and only once.
    Effects: it arrives twice.
    """
    if not stop_arrives(s.network, epoch, p, b) or late_arrives(s.network, epoch, p, b):
        return False
    if not is_of_deletion(s.network, epoch, p, b):
        return False

    put_late(s.network, epoch, p, b)
    s.zk.faults += 1
    return True
