"""The work of a controller: from 2.1 on every write is checked against the epoch's version.

Three kinds of a controller's writes stand for the rest: the partition state (on the version that was
read), the deletion of a notification (unconditional except for the check), and the
deletion of /controller in a forced resignation.
"""

from kafkaproof.spec.election.broker_state import (
    CHECKING,
    CLEANING,
    DELETING,
    FULL,
    IDLE,
    LOADING,
    MOVING,
    NONE,
    lapse,
    resign,
)
from kafkaproof.spec.election.network import Receiver, put_request
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import (
    BADVERSION,
    EXPIRED,
    FENCED,
    LOST,
    MINE,
    OK,
    Delivery,
    checked_delete_controller,
    checked_delete_notification,
    checked_set_state,
    read_controller,
    read_state,
)


def at_work(broker):
    """Whether the controller of this broker has initialised its context and waits for events."""
    return broker.active == 1 and broker.ruling == FULL and broker.doing == IDLE


def clean(s, b: Broker, delivery: Delivery):
    """A controller deletes a notification, at the start of its term or later.

    Guards:  the term of `b` has just begun, or `b` is at work.
    Request: OK; FENCED; EXPIRED; LOST.
    Effects: a new controller reads the partition state next; on FENCED, which is from 2.1 on, it checks who is
             controller.
    Kafka:   ZkUtils.deletePath, 0.9 to 1.0; KafkaZkClient.deleteIsrChangeNotifications, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != CLEANING and not at_work(broker):
        return False

    answer = checked_delete_notification(s.zk, b, broker.epoch, broker.epoch_version, delivery)
    if answer == OK and broker.doing == CLEANING:
        broker.doing = LOADING
    elif answer == FENCED:
        broker.doing = CHECKING
    elif answer == EXPIRED:
        lapse(broker)
    return True


def load(s, b: Broker):
    """A controller reads the partition state and its version.

    Guards:  its term begins, or `b` is at work: a controller reads before it elects a leader.
    Request: OK; NEWER when a controller of a higher epoch wrote it; EXPIRED.
    Effects: it is at work; on NEWER it leaves the partition alone ("went through a soft failure").
    Kafka:   PartitionStateMachine.electLeaderForPartition, 0.9 to 1.0; doElectLeaderForPartitions, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != LOADING and not at_work(broker):
        return False

    answer = read_state(s.zk, b, broker.epoch)
    if answer == EXPIRED:
        lapse(broker)
    else:
        broker.ruling = FULL
        broker.doing = IDLE
    return True


def write_state(s, b: Broker, delivery: Delivery):
    """A controller writes the partition state, on the version that it read.

    Guards:  `b` is at work.
    Request: OK; FENCED; BADVERSION of the state; EXPIRED; LOST.
    Effects: on BADVERSION, perhaps because of its own lost write, it reads again; on FENCED, which is from 2.1 on, it
             checks who is controller.
    Kafka:   ReplicationUtils.updateLeaderAndIsr, 0.9 to 1.0; KafkaZkClient.updateLeaderAndIsr, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if not at_work(broker):
        return False

    answer = checked_set_state(s.zk, b, broker.epoch, broker.epoch_version, delivery)
    if answer == BADVERSION:
        broker.doing = LOADING
    elif answer == FENCED:
        broker.doing = CHECKING
    elif answer == EXPIRED:
        lapse(broker)
    return True


def write_when_asked(s, b: Broker, delivery: Delivery):
    """A controller writes the partition state because a broker has asked for it, and answers that broker: the change of an
    ISR, a controlled shutdown.

    Guards:  `b` is at work.
    Request: OK; FENCED; BADVERSION of the state; EXPIRED; LOST.
    Effects: the broker is answered; on FENCED, too, the term goes on.
    Kafka:   KafkaController.ControlledShutdown, 2.1 to 2.2; KafkaController.processControlledShutdown, 2.3 to 3.9;
             KafkaController.processAlterIsr, 2.7 to 3.1; KafkaController.processAlterPartition, 3.2 to 3.9.
    """
    broker = s.brokers[b]
    if not at_work(broker):
        return False

    answer = checked_set_state(s.zk, b, broker.epoch, broker.epoch_version, delivery)
    if answer == EXPIRED:
        lapse(broker)
    return True


def send(s, b: Broker, to: Receiver):
    """A controller sends a control request, with the epoch of its term.

    Guards:  `b` is at work; whether its session is open does not matter.
    Effects: the request is on its way.
    Kafka:   RequestSendThread.doWork, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if not at_work(broker):
        return False

    put_request(s.network, to, broker.epoch)
    return True


def trigger_move(s, b: Broker):
    """A controller that is forced to resign first checks whether it still is the controller.

    Guards:  an error in its own work forces it (an illegal request batch, a failed failover).
    Request: MINE; OK (another's) or NONODE; EXPIRED.
    Effects: on MINE it gives up its term and deletes /controller next; else `b` is not active, but its
             context stays as it is.
    Kafka:   KafkaController.triggerControllerMove, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != MOVING:
        return False

    answer = read_controller(s.zk, b)
    if answer == EXPIRED:
        lapse(broker)
        return True
    broker.active = 0
    if answer == MINE:
        broker.ruling = NONE
    broker.doing = DELETING if answer == MINE else IDLE
    return True


def delete_own_controller(s, b: Broker, delivery: Delivery):
    """A controller that has given up its term deletes /controller, if nobody has been elected since.

    Guards:  it was forced to resign.
    Request: OK; FENCED; NONODE; EXPIRED; LOST.
    Effects: on LOST it retries; else its epoch is forgotten.
    Kafka:   KafkaZkClient.deleteController, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != DELETING:
        return False

    answer = checked_delete_controller(s.zk, b, broker.epoch, broker.epoch_version, delivery)
    if answer == EXPIRED:
        lapse(broker)
    elif answer != LOST:
        resign(broker)
        broker.doing = IDLE
    return True
