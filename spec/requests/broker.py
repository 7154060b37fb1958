"""A broker's side of control requests: fenced by broker epoch, controller epoch, and leader epoch, in this order.

What it knows is kept in memory: a restarted process accepts any controller epoch and any leader epoch, once. Control
requests have a queue of their own (KIP-291, 2.2+), and one thread handles them under one lock: they do not wait behind
clients' requests, and are handled as they arrive. Not modelled: the version of the state (zkVersion), which can only
make a broker skip what it knows already; isNew, since topics are not created here; topic ids.
"""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.requests.batch import DELETE, DROPPING, FULL, LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA
from kafkaproof.spec.requests.context import NO_EPOCH, Broker, ControllerEpoch, forget_replica
from kafkaproof.spec.requests.network import (
    FENCED_LEADER_EPOCH,
    KAFKA_STORAGE_ERROR,
    NONE,
    STALE_BROKER_EPOCH,
    STALE_CONTROLLER_EPOCH,
    UNKNOWN_TOPIC_OR_PARTITION,
    Delivery,
    alive_in,
    answer,
    arriving,
    broker_epoch_in,
    leader_epoch_in,
    leader_in,
    stop_in,
    update_in,
)


def may_handle(broker):
    """Whether no other request is handled ahead of a control request that arrives.

    Kafka: SocketServer.controlPlaneRequestChannelOpt, 2.2 to 3.9 (KIP-291).
    """
    return broker.up == 1


def is_former(broker, broker_epoch):
    """Whether a request was sent to a former registration of this broker (KIP-380, 2.2+).

    Kafka: KafkaApis.handleLeaderAndIsrRequest, 2.2 to 3.9 (isBrokerEpochStale, KIP-380).
    """
    return broker_epoch < broker.epoch


def fence(broker, broker_epoch, epoch):
    """The error code for a whole request, NONE when it is accepted."""
    if is_former(broker, broker_epoch):
        return STALE_BROKER_EPOCH
    return STALE_CONTROLLER_EPOCH if is_stale(broker, epoch) else NONE


def see(broker, epoch):
    """Remember the controller epoch of a request that is accepted."""
    broker.seen_epoch = epoch
    broker.ghosts.applied = epoch


def is_news(replica, leader_epoch):
    """Whether a leader epoch is above the one that the replica has."""
    return leader_epoch > replica.leader_epoch


def become_error(broker, b, leader_epoch):
    """The error code for the partition in LeaderAndIsr."""
    if broker.dir_failed:
        return KAFKA_STORAGE_ERROR
    if not is_news(broker.replica, leader_epoch):
        return STALE_CONTROLLER_EPOCH
    return NONE if contains(replicas_of(broker.assignment), b) else UNKNOWN_TOPIC_OR_PARTITION


def may_become(broker, b, leader):
    """Whether the broker leads, or knows the leader as alive, so that it can follow."""
    return leader != NOBODY and (leader == b or contains(broker.alive, leader))


def leader_and_isr(s, b: Broker, epoch: ControllerEpoch, delivery: Delivery):
    """A broker receives LeaderAndIsr.

    Guards:  LeaderAndIsr of the term `epoch` arrives; the process lives.
    Request: answered: NONE, also when it does not follow because it does not know the leader as alive;
             STALE_CONTROLLER_EPOCH of the request, or when the leader epoch is not higher;
             STALE_BROKER_EPOCH; KAFKA_STORAGE_ERROR; UNKNOWN_TOPIC_OR_PARTITION.
    Effects: it leads or follows in the new leader epoch. A log that is missing is created.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, 0.8 to 3.9; makeFollowers, 0.8.1 to 3.9.
    """
    broker = s.brokers[b]
    if not may_handle(broker) or arriving(s.network, epoch, b, delivery) != LEADER_AND_ISR:
        return False

    leader = leader_in(s.network, epoch, b, delivery)
    leader_epoch = leader_epoch_in(s.network, epoch, b, delivery)
    refusal = fence(broker, broker_epoch_in(s.network, epoch, b, delivery), epoch)
    error = refusal if refusal != NONE else become_error(broker, b, leader_epoch)
    answer(s.network, epoch, b, delivery, error)
    if refusal == NONE:
        see(broker, epoch)
    if error == NONE:
        broker.replica.log = 1
    if error == NONE and may_become(broker, b, leader):
        broker.replica.leader = leader
        broker.replica.leader_epoch = leader_epoch
    return True


def update_metadata(s, b: Broker, epoch: ControllerEpoch, delivery: Delivery):
    """A broker receives UpdateMetadata.

    Guards:  UpdateMetadata of the term `epoch` arrives; the process lives.
    Request: answered: NONE; STALE_CONTROLLER_EPOCH; STALE_BROKER_EPOCH.
    Effects: it takes over the list of live brokers and, if the request has it, the partition's leader, whatever the
             leader epoch; leader -2 drops the partition.
    Kafka:   ReplicaManager.maybeUpdateMetadataCache, 0.8.2 to 3.9; MetadataCache.updateCache, 0.8.1.1 to 2.0;
             updateMetadata, 2.1 to 2.7; ZkMetadataCache.updateMetadata, 2.8 to 3.9.
    """
    broker = s.brokers[b]
    if not may_handle(broker) or arriving(s.network, epoch, b, delivery) != UPDATE_METADATA:
        return False

    alive = alive_in(s.network, epoch, b, delivery)
    leader = leader_in(s.network, epoch, b, delivery)
    update = update_in(s.network, epoch, b, delivery)
    error = fence(broker, broker_epoch_in(s.network, epoch, b, delivery), epoch)
    answer(s.network, epoch, b, delivery, error)
    if error == NONE:
        see(broker, epoch)
        broker.alive = alive
        if update == FULL:
            broker.known_leader = leader
        elif update == DROPPING:
            broker.known_leader = NOBODY
    return True


def precedes(replica, leader_epoch, stop):
    """Whether StopReplica was decided in an older leader epoch than the replica has; never for a deletion (2.6+). (Up to
    3.3 Kafka refuses the same leader epoch, too.)

    Kafka: ReplicaManager.stopReplicas, 2.6 to 3.9 (KIP-570).
    """
    return stop != DELETE and leader_epoch < replica.leader_epoch


def stop_error(broker, leader_epoch, stop):
    """The error code for the partition in StopReplica."""
    if broker.dir_failed:
        return KAFKA_STORAGE_ERROR
    hosted = broker.replica.leader_epoch != NO_EPOCH
    return FENCED_LEADER_EPOCH if hosted and precedes(broker.replica, leader_epoch, stop) else NONE


def deletes(stop):
    """Whether StopReplica deletes the log."""
    return stop == DELETE


def stop_replica(s, b: Broker, epoch: ControllerEpoch, delivery: Delivery):
    """A broker receives StopReplica.

    Guards:  StopReplica of the term `epoch` arrives; the process lives.
    Request: answered: NONE; STALE_CONTROLLER_EPOCH; STALE_BROKER_EPOCH; KAFKA_STORAGE_ERROR;
             FENCED_LEADER_EPOCH (2.6+).
    Effects: the replica neither leads nor follows any more; with delete its log is deleted. (In Kafka a replica that is
             stopped without delete keeps its leader epoch, and a leader goes on: see `cluster.halting`.)
    Kafka:   ReplicaManager.stopReplicas, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if not may_handle(broker) or arriving(s.network, epoch, b, delivery) != STOP_REPLICA:
        return False

    leader_epoch = leader_epoch_in(s.network, epoch, b, delivery)
    stop = stop_in(s.network, epoch, b, delivery)
    refusal = fence(broker, broker_epoch_in(s.network, epoch, b, delivery), epoch)
    error = refusal if refusal != NONE else stop_error(broker, leader_epoch, stop)
    answer(s.network, epoch, b, delivery, error)
    if refusal == NONE:
        see(broker, epoch)
    if error == NONE:
        forget_replica(broker.replica)
        if deletes(stop):
            broker.replica.log = 0
    return True


def answer_produce(s, b: Broker):
    """A broker appends what a client produces, and answers with success.

    Guards:  it believes that it leads.
    Effects: none in the model.
    Kafka:   KafkaApis.handleProduceRequest, 2.2 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or broker.replica.leader != b:
        return False

    return True
