"""The reign of a controller: won and started up in one step, and given up.

onControllerFailover first sends UpdateMetadata without partitions to every live broker: they must know who
lives before they accept to follow. Then the replica state machine sends LeaderAndIsr to every live replica.
The elections of the partition state machine are those of `events.change_leader`.
"""

from kafkaproof.spec.kafka.zookeeper import MINE, OK
from kafkaproof.spec.partition.zookeeper import moved, session_open, vacant
from kafkaproof.spec.requests.context import Broker, forget, live_replicas
from kafkaproof.spec.requests.network import begin_reign, end_reign, fall_silent, open_channels, start_up
from kafkaproof.spec.requests.zookeeper import read_controller, read_own_epoch, register, win_election


def elect(s, b: Broker):
    """Broker `b` becomes the controller, reads what there is, and starts its state machines.

    Guards:  there is no /controller; `b` does not rule.
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
        begin_reign(s.network, b, controller.epoch)
        open_channels(s.network, controller, controller.live)
        start_up(s.network, controller, live_replicas(broker))
    return True


def resign(s, b: Broker):
    """A controller that has been told of a change of /controller looks whose it is.

    Guards:  it rules; its watch has fired.
    Request: OK (another's) or NONODE; EXPIRED.
    Effects: its channels are discarded, and its reign is over.
    Kafka:   KafkaController.maybeResign, onControllerResignation, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.epoch == 0 or not moved(s.zk, b):
        return False

    answer = read_controller(s.zk, b)
    if answer != MINE:
        end_reign(s.network, controller.epoch)
        forget(controller)
    return True


def reopen(s, b: Broker):
    """A broker that has heard of its session's expiry gives up its reign and registers again.

    Guards:  there is a process; its session has expired.
    Request: OK.
    Effects: the reign, and the queue of its events, are gone; the process goes on with its replica, E
             and metadata, under a new broker epoch.
    Kafka:   KafkaController.processExpire, processRegisterBrokerAndReelect, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or session_open(s.zk, b):
        return False

    register(s.zk, b)
    broker.epoch = read_own_epoch(s.zk, b)
    fall_silent(s.network, b)
    forget(broker.controller)
    return True
