"""Who is told what by a controller: LeaderAndIsr and StopReplica without delete to replicas, UpdateMetadata to brokers.

UpdateMetadata lists the live brokers, including those that are shutting down. With LeaderAndIsr it goes to all of them
and says who leads that partition, whoever has a replica; a topic that is queued for deletion is to be forgotten (leader
-2). It also goes out alone: when a term begins, when brokers come or go, when an ISR changes or a reassignment ends.

A replica that goes offline on a live broker is told to fetch no more: its broker is shutting down, its log directory has
failed, it is removed, or its topic is deleted. The request is added before the ISR is written, and sent after it.

What is told in one go is a batch, which is sent when all of it is collected (`send_batch`): each of the functions that tell
brokers by themselves is one, and so is the work of a state machine.

Not modelled: offline replicas; topics queued for deletion in requests about other partitions (up to 1.1); changed
endpoints of a broker.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only
from kafkaproof.spec.partition.context import NO_EPOCH, is_known, is_queued, replicas_move
from kafkaproof.spec.partition.network import put_alive, put_halt, put_request, put_update, send_batch
from kafkaproof.spec.partition.zookeeper import known_as_they_are


def tell_leadership(s, b, p, to):
    """LeaderAndIsr of a partition to some brokers, and UpdateMetadata to all that are live.

    Kafka: ControllerBrokerRequestBatch.addLeaderAndIsrRequestForBrokers, 0.8 to 2.2;
           AbstractControllerBrokerRequestBatch.addLeaderAndIsrRequestForBrokers, 2.3 to 3.9.
    """
    send_leadership(s, b, p, to)
    tell_partition(s, b, p, s.brokers[b].controller.live)


def send_leadership(s, b, p, to):
    """LeaderAndIsr of a partition to some brokers."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    receivers = known_as_they_are(s.zk, b, to)
    put_request(s.network, controller.epoch, p, partition.leader, partition.leader_epoch, partition.isr, receivers)


def tell_started(s, b, p, to):
    """Replicas of a partition on some brokers are Online: they are told who leads, if that is known; if there are any,
    all brokers are. A dead state machine tells nobody.

    Kafka: ReplicaStateMachine.handleStateChange, 0.8 to 1.0; doHandleStateChanges, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if is_known(controller.partitions[p]) and replicas_move(controller):
        send_leadership(s, b, p, to)
        if not is_empty(to):
            tell_partition(s, b, p, controller.live)


def tell_partition(s, b, p, to):
    """UpdateMetadata about a partition: its leadership; that it is to be forgotten, where its topic is queued for
    deletion; or only who is live, where nothing is known of it.

    Kafka: ControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers, 0.8 to 2.2;
           AbstractControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    receivers = known_as_they_are(s.zk, b, to)
    if not is_known(partition):
        put_alive(s.network, controller.epoch, controller.live, receivers)
    elif is_queued(controller, p):
        put_update(s.network, controller.epoch, p, NOBODY, NO_EPOCH, 0, controller.live, receivers)
    else:
        send_update(s, b, p, receivers)


def send_update(s, b, p, receivers):
    """UpdateMetadata with the leadership of a partition that a controller knows."""
    controller = s.brokers[b].controller
    known = controller.partitions[p]
    alive = controller.live
    put_update(s.network, controller.epoch, p, known.leader, known.leader_epoch, known.isr, alive, receivers)


def tell_topic(s, b, partitions):
    """UpdateMetadata about the partitions of a topic to every live broker.

    Kafka: TopicDeletionManager.onTopicDeletion, 0.8.1 to 3.9.
    """
    controller = s.brokers[b].controller
    for p in range(len(controller.partitions)):
        if contains(partitions, p):
            tell_partition(s, b, p, controller.live)
    send_batch(s.network, controller.epoch)


def tell_brokers(s, b, to):
    """UpdateMetadata without partitions: who is live.

    Kafka: KafkaController.onControllerFailover, sendUpdateMetadataRequest, 2.2 to 3.9.
    """
    controller = s.brokers[b].controller
    put_alive(s.network, controller.epoch, controller.live, known_as_they_are(s.zk, b, to))
    send_batch(s.network, controller.epoch)


def tell_newcomers(s, b, joined):
    """Brokers have come: the others are told who is live, and those that came who leads each partition, but those of
    topics that are queued for deletion.

    Kafka: KafkaController.onBrokerStartup, ControllerContext.partitionsWithLeaders, 2.7 to 3.9.
    """
    controller = s.brokers[b].controller
    tell_brokers(s, b, difference(controller.live, joined))
    put_alive(s.network, controller.epoch, controller.live, known_as_they_are(s.zk, b, joined))
    for p in range(len(controller.partitions)):
        if not is_queued(controller, p):
            tell_partition(s, b, p, joined)
    send_batch(s.network, controller.epoch)


def stop_fetching(s, b, p, r):
    """StopReplica without delete to the broker of a replica that goes offline, if it is live: in the leader epoch that
    the controller remembers, or in none (-2) where the topic is queued for deletion.

    Kafka: ControllerBrokerRequestBatch.addStopReplicaRequestForBrokers, 0.8 to 2.2;
           AbstractControllerBrokerRequestBatch.addStopReplicaRequestForBrokers, 2.3 to 3.9 (leader epochs: KIP-570, 2.6
           to 3.9).
    """
    controller = s.brokers[b].controller
    leader_epoch = NO_EPOCH if is_queued(controller, p) else controller.partitions[p].leader_epoch
    receivers = known_as_they_are(s.zk, b, intersection(only(r), controller.live))
    put_halt(s.network, controller.epoch, p, leader_epoch, receivers)


def is_failure_told(controller, dead):
    """Whether all are told by themselves that some brokers are dead: no replica of these goes offline, which would tell
    it. (In Kafka nobody is told so if an election has told it.)

    Kafka: KafkaController.onReplicasBecomeOffline, 3.1 to 3.9.
    """
    for p in range(len(controller.partitions)):
        hosting = intersection(replicas_of(controller.partitions[p].assignment), dead)
        if is_known(controller.partitions[p]) and not is_queued(controller, p) and not is_empty(hosting):
            return False
    return True
