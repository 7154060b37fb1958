"""A broker's side of control requests: fenced by broker epoch, controller epoch, and leader epoch, in this order.

What a request does is written in `kafkaproof.spec.partition`; here it is taken from a channel, and answered. Control
requests have a queue of their own (KIP-291, 2.2+), and one thread handles them under one lock: they do not wait behind
clients' requests, and are handled as they arrive. Not modelled: the version of the state (zkVersion), which can only
make a broker skip what it knows already; isNew, since topics are not created here; topic ids.
"""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.control_requests import KAFKA_STORAGE_ERROR, NONE, STALE_BROKER_EPOCH, STALE_CONTROLLER_EPOCH
from kafkaproof.spec.partition.context import NO_EPOCH, Broker
from kafkaproof.spec.partition.deletion.network import put_stopped
from kafkaproof.spec.partition.deletion.replica import delete_log
from kafkaproof.spec.partition.metadata.cache import learn
from kafkaproof.spec.partition.metadata.halting import stop_error
from kafkaproof.spec.partition.replica import Epoch, become, become_error
from kafkaproof.spec.requests.batch import (
    DELETE,
    DROPPED,
    LEADER_AND_ISR,
    NO_STOP,
    NOT_TOLD,
    STOP_REPLICA,
    UPDATE_METADATA,
)
from kafkaproof.spec.requests.network import (
    ANSWERED,
    Delivery,
    alive_in,
    answer,
    arriving,
    is_current,
    is_led_in,
    isr_in,
    leader_epoch_in,
    leader_in,
    put_error,
    stop_epoch_in,
    stop_in,
    take_request,
    update_in,
)


def may_handle(broker):
    """Whether no other request is handled ahead of a control request that arrives.

    Kafka: SocketServer.controlPlaneRequestChannelOpt, 2.2 to 3.9 (KIP-291).
    """
    return broker.up == 1


def is_former(current):
    """Whether a request was sent to a former registration of this broker (KIP-380, 2.2+).

    Kafka: KafkaApis.handleLeaderAndIsrRequest, 2.2 to 3.9 (isBrokerEpochStale, KIP-380).
    """
    return not current


def fence(s, b, epoch, delivery):
    """The error code for a whole request, NONE when it is accepted."""
    if is_former(is_current(s.network, epoch, b, delivery)):
        return STALE_BROKER_EPOCH
    return STALE_CONTROLLER_EPOCH if is_stale(s.brokers[b], epoch) else NONE


def see(broker, epoch):
    """Remember the controller epoch of a request that is accepted."""
    broker.seen_epoch = epoch


def error_in_leader_and_isr(s, b, epoch, delivery):
    """The error code of a LeaderAndIsr: of the request, else of a partition that it names."""
    error = fence(s, b, epoch, delivery)
    if error == NONE:
        for p in range(len(s.brokers[b].replicas)):
            found = become_error(s.brokers[b].replicas[p], leader_epoch_in(s.network, epoch, b, delivery, p))
            if is_led_in(s.network, epoch, b, delivery, p) and found != NONE:
                error = found
    return error


def obey_leader_and_isr(s, b, epoch, delivery, p):
    """What a broker does with a partition in a LeaderAndIsr that is accepted."""
    error = become_error(s.brokers[b].replicas[p], leader_epoch_in(s.network, epoch, b, delivery, p))
    if error == NONE:
        leader_epoch = leader_epoch_in(s.network, epoch, b, delivery, p)
        become(s, b, p, leader_in(s.network, epoch, b, delivery, p), leader_epoch)
        if s.brokers[b].replicas[p].leader_epoch == leader_epoch:
            s.brokers[b].replicas[p].stopped = 0
    elif error == KAFKA_STORAGE_ERROR and delivery == ANSWERED:
        put_error(s.network, epoch, p, b)


def leader_and_isr(s, b: Broker, epoch: Epoch, delivery: Delivery):
    """A broker receives LeaderAndIsr.

    Guards:  LeaderAndIsr of the term `epoch` arrives; the process lives.
    Request: answered: NONE, also when it does not follow because it does not know the leader as alive;
             STALE_CONTROLLER_EPOCH of the request, or when the leader epoch is not higher;
             STALE_BROKER_EPOCH; KAFKA_STORAGE_ERROR.
    Effects: it leads or follows in the new leader epoch. A log that is missing is created.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, 0.8 to 3.9; makeFollowers, 0.8.1 to 3.9.
    """
    broker = s.brokers[b]
    if not may_handle(broker) or arriving(s.network, epoch, b, delivery) != LEADER_AND_ISR:
        return False

    refusal = fence(s, b, epoch, delivery)
    answer(s.zk, delivery, error_in_leader_and_isr(s, b, epoch, delivery))
    if refusal == NONE:
        see(broker, epoch)
        for p in range(len(broker.replicas)):
            if is_led_in(s.network, epoch, b, delivery, p):
                obey_leader_and_isr(s, b, epoch, delivery, p)
    take_request(s.network, epoch, b, delivery)
    return True


def update_metadata(s, b: Broker, epoch: Epoch, delivery: Delivery):
    """A broker receives UpdateMetadata.

    Guards:  UpdateMetadata of the term `epoch` arrives; the process lives.
    Request: answered: NONE; STALE_CONTROLLER_EPOCH; STALE_BROKER_EPOCH.
    Effects: it takes over the list of live brokers and, of the partitions in the request, who leads them, whatever the
             leader epoch; leader -2 drops a partition.
    Kafka:   ReplicaManager.maybeUpdateMetadataCache, 0.8.2 to 3.9; MetadataCache.updateCache, 0.8.1.1 to 2.0;
             updateMetadata, 2.1 to 2.7; ZkMetadataCache.updateMetadata, 2.8 to 3.9.
    """
    broker = s.brokers[b]
    if not may_handle(broker) or arriving(s.network, epoch, b, delivery) != UPDATE_METADATA:
        return False

    error = fence(s, b, epoch, delivery)
    answer(s.zk, delivery, error)
    if error == NONE:
        see(broker, epoch)
        broker.metadata.alive = alive_in(s.network, epoch, b, delivery)
        for p in range(len(broker.replicas)):
            told = update_in(s.network, epoch, b, delivery, p)
            leader = leader_in(s.network, epoch, b, delivery, p)
            leader_epoch = leader_epoch_in(s.network, epoch, b, delivery, p) if told != DROPPED else NO_EPOCH
            if told != NOT_TOLD:
                learn(broker.metadata.partitions[p], leader, leader_epoch, isr_in(s.network, epoch, b, delivery, p))
    take_request(s.network, epoch, b, delivery)
    return True


def error_in_stop_replica(s, b, epoch, delivery):
    """The error code of a StopReplica: of the request, else of a partition that it names."""
    error = fence(s, b, epoch, delivery)
    if error == NONE:
        for p in range(len(s.brokers[b].replicas)):
            found = stop_error(s.brokers[b].replicas[p], stop_epoch_in(s.network, epoch, b, delivery, p))
            if stop_in(s.network, epoch, b, delivery, p) != NO_STOP and found != NONE:
                error = found
    return error


def deletes(stop):
    """Whether StopReplica deletes the log."""
    return stop == DELETE


def obey_stop_replica(s, b, epoch, delivery, p):
    """What a broker does with a partition in a StopReplica that is accepted. Without delete a leader goes on."""
    replica = s.brokers[b].replicas[p]
    stop = stop_in(s.network, epoch, b, delivery, p)
    error = stop_error(replica, stop_epoch_in(s.network, epoch, b, delivery, p))
    if deletes(stop) and delivery == ANSWERED:
        put_stopped(s.network, epoch, p, b, 1 if error != NONE else 0)
    if deletes(stop) and error == NONE:
        delete_log(s, b, p)
    elif error == NONE and replica.leader != b and replica.leader_epoch != NO_EPOCH:
        replica.stopped = 1


def stop_replica(s, b: Broker, epoch: Epoch, delivery: Delivery):
    """A broker receives StopReplica.

    Guards:  StopReplica of the term `epoch` arrives; the process lives.
    Request: answered: NONE; STALE_CONTROLLER_EPOCH; STALE_BROKER_EPOCH; KAFKA_STORAGE_ERROR;
             FENCED_LEADER_EPOCH (2.6+).
    Effects: a follower fetches no more, and keeps its leader epoch; with delete there is no replica any more, and no
             log.
    Kafka:   ReplicaManager.stopReplicas, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if not may_handle(broker) or arriving(s.network, epoch, b, delivery) != STOP_REPLICA:
        return False

    refusal = fence(s, b, epoch, delivery)
    answer(s.zk, delivery, error_in_stop_replica(s, b, epoch, delivery))
    if refusal == NONE:
        see(broker, epoch)
        for p in range(len(broker.replicas)):
            if stop_in(s.network, epoch, b, delivery, p) != NO_STOP:
                obey_stop_replica(s, b, epoch, delivery, p)
    take_request(s.network, epoch, b, delivery)
    return True


def answer_produce(s, b: Broker):
    """A broker appends what a client produces, and answers with success.

    Guards:  it believes that it leads.
    Effects: none in the model.
    Kafka:   KafkaApis.handleProduceRequest, 2.2 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or not leads_any(broker, b):
        return False

    return True


def leads_any(broker, b):
    """Whether a broker believes that it leads some partition."""
    for replica in broker.replicas:
        if replica.leader == b:
            return True
    return False
