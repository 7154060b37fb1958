"""The term of a controller: it is elected and starts up in one step, and resigns.

onControllerFailover first sends UpdateMetadata without partitions to every live broker: they must know the live brokers
before they can follow. Then the replica state machine sends LeaderAndIsr to every live replica. The elections of the
partition state machine are those of `events.change_leader`.
"""

from kafkaproof.spec.kafka.zookeeper import MINE, OK
from kafkaproof.spec.partition.zookeeper import moved, session_open, vacant
from kafkaproof.spec.requests.context import Broker, forget, live_replicas
from kafkaproof.spec.requests.network import begin_term, end_term, fall_silent, open_channels, start_up
from kafkaproof.spec.requests.zookeeper import read_controller, read_own_epoch, register, win_election


def elect(s, b: Broker):
    """Broker `b` becomes the controller, reads the cluster's state, and starts its state machines.

    Guards:  there is no /controller; `b` is not controller.
    Request: OK; EXPIRED.
    Effects: every live broker is sent UpdateMetadata without partitions; then every live replica
             LeaderAndIsr, and all UpdateMetadata with it.
    Kafka:   KafkaController.onControllerFailover, ReplicaStateMachine.startup, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if not broker.up or controller.epoch > 0 or not vacant(s.zk):
        return False

    answer = win_election(s.zk, b, controller)
    if answer == OK:
        begin_term(s.network, b, controller.epoch)
        open_channels(s.network, controller, controller.live)
        start_up(s.network, controller, live_replicas(broker))
    return True


def resign(s, b: Broker):
    """A controller that is notified of a change of /controller checks who owns it.

    Guards:  it is controller; its watch has fired.
    Request: OK (another's) or NONODE; EXPIRED.
    Effects: its channels are discarded, and its term is over.
    Kafka:   KafkaController.onControllerResignation, 1.1 to 3.9; maybeResign, 2.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.epoch == 0 or not moved(s.zk, b):
        return False

    answer = read_controller(s.zk, b)
    if answer != MINE:
        end_term(s.network, controller.epoch)
        forget(controller)
    return True


def reopen(s, b: Broker):
    """A broker that knows that its session has expired gives up its term and registers again.

    Guards:  there is a process; its session has expired.
    Request: OK.
    Effects: its term and its event queue are gone; the process goes on with its replica, E
             and metadata, under a new broker epoch.
    Kafka:   KafkaController.Expire, KafkaController.RegisterBrokerAndReelect, 1.1 to 2.2;
             KafkaController.processExpire, processRegisterBrokerAndReelect, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or session_open(s.zk, b):
        return False

    register(s.zk, b)
    broker.epoch = read_own_epoch(s.zk, b)
    fall_silent(s.network, b)
    forget(broker.controller)
    return True
