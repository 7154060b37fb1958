"""Election up to 1.0, as in 0.10.2: a synchronous client that opens a new session on its own.

The client library retries every request until it is answered, even when a session ends and the next one
is opened: a write that began in one session may be applied in another, long after a new controller was
elected. The broker is a candidate before it registers its id. A failed write of the epoch is logged and
swallowed: the broker remains controller in the epoch that it read, which is another's. And resign()
forgets who leads before the deletion event checks it, so after a forced resignation listeners, state
machines and channels live on alongside the next controller.

The sessions are in `zkclient_session`; what is the same in 1.1 is taken from `legacy`.
"""

from kafkaproof.spec.election.broker_state import (
    CHECKING,
    CLEANING,
    CONFIRMING,
    CREATING,
    CREATING_EPOCH,
    DELETING,
    DOWN,
    ELECTING,
    EXPIRED_SESSION,
    FULL,
    IDLE,
    LOADING,
    MOVING,
    RAISING,
    READING_EPOCH,
    begin_term,
    end_election,
    resign,
)
from kafkaproof.spec.election.history.legacy import FIRST_EPOCH, FIRST_VERSION
from kafkaproof.spec.election.history.requests import create_controller, read_owner, set_epoch
from kafkaproof.spec.election.network import Receiver, put_request
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import (
    BADVERSION,
    EXPIRED,
    LOST,
    MINE,
    NODEEXISTS,
    NONODE,
    OK,
    Delivery,
    create_epoch,
    delete_controller,
    delete_notification,
    get_epoch,
    read_controller,
    read_state,
    set_state,
)


def at_work(broker):
    """Whether the listeners of a controller live on this broker and no callback runs."""
    return broker.ruling == FULL and broker.doing == IDLE and broker.session != DOWN


def give_up(broker):
    """resign(): the leader is forgotten, /controller is deleted next, the context stays."""
    broker.active = 0
    end_election(broker, DELETING)


def data_event(s, b: Broker):
    """The client reads /controller again and calls dataChanged or dataDeleted with its current content.

    Guards:  the watch has fired.
    Request: MINE or OK (another's): changed; NONODE: deleted; EXPIRED.
    Effects: a term that is lost is given up, if `b` still believed that it leads; on NONODE it becomes a
             candidate; on EXPIRED the same again in a new session.
    Kafka:   ZookeeperLeaderElector.LeaderChangeListener, 0.9 to 0.10.2; ControllerChangeListener, 0.11 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != CHECKING:
        return False

    answer = read_controller(s.zk, b)
    if answer == EXPIRED:
        broker.session = EXPIRED_SESSION
        return True
    if broker.active and answer != MINE:
        resign(broker)
    broker.active = 1 if answer == MINE else 0
    broker.doing = ELECTING if answer == NONODE else IDLE
    return True


def look_for_controller(s, b: Broker):
    """Broker `b` reads /controller and goes on with the election only if there is none.

    Guards:  `b` is a candidate.
    Request: NONODE; MINE, perhaps of a former process; OK (another's); EXPIRED.
    Effects: on NONODE it creates /controller next; on MINE it believes that it leads.
    Kafka:   ZookeeperLeaderElector.elect, 0.9 to 0.10.2; KafkaController.elect, 0.11 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != ELECTING:
        return False

    answer = read_controller(s.zk, b)
    if answer == EXPIRED:
        broker.session = EXPIRED_SESSION
        return True
    broker.active = 1 if answer == MINE else 0
    broker.doing = CREATING if answer == NONODE else IDLE
    return True


def create(s, b: Broker, delivery: Delivery):
    """Broker `b` creates /controller, and nothing else.

    Guards:  `b` is a candidate.
    Request: OK; NODEEXISTS when another won, or itself in a request whose answer was lost; EXPIRED; LOST.
    Effects: on OK it is leader, in no epoch yet; on NODEEXISTS it checks who owns it; on EXPIRED it
             resigns.
    Kafka:   ZKCheckedEphemeral.create, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != CREATING:
        return False

    answer = create_controller(s.zk, b, delivery)
    if answer == OK:
        broker.active = 1
        broker.doing = READING_EPOCH
    elif answer == NODEEXISTS:
        broker.doing = CONFIRMING
    elif answer == EXPIRED:
        broker.session = EXPIRED_SESSION
        give_up(broker)
    return True


def confirm_owner(s, b: Broker):
    """A candidate that was refused checks whether its own session owns /controller.

    Guards:  its creation was refused.
    Request: MINE; OK (another session's); NONODE; EXPIRED.
    Effects: on MINE it is leader; on NONODE it creates again; else it reads who leads; on EXPIRED
             it resigns.
    Kafka:   ZKCheckedEphemeral.getDataCallback, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != CONFIRMING:
        return False

    answer = read_owner(s.zk, b)
    if answer == MINE:
        broker.active = 1
        broker.doing = READING_EPOCH
    elif answer == NONODE:
        broker.doing = CREATING
    elif answer == EXPIRED:
        broker.session = EXPIRED_SESSION
        give_up(broker)
    else:
        end_election(broker, CHECKING)
    return True


def learn_epoch(s, b: Broker):
    """A new leader reads /controller_epoch.

    Guards:  `b` has created /controller.
    Request: OK; NONODE before the first election ever; EXPIRED.
    Effects: it raises next; on EXPIRED it reads again in a new session.
    Kafka:   KafkaController.readControllerEpochFromZookeeper, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != READING_EPOCH:
        return False

    answer = get_epoch(s.zk, b, broker)
    if answer == EXPIRED:
        broker.session = EXPIRED_SESSION
    else:
        broker.doing = RAISING
    return True


def raise_epoch(s, b: Broker, delivery: Delivery):
    """A new leader raises /controller_epoch; a failure is logged, and nothing else.

    Guards:  `b` has created /controller and read the epoch; another may own /controller by now.
    Request: OK; BADVERSION; NONODE before the first election ever; EXPIRED; LOST.
    Effects: on OK it is controller; on BADVERSION it is so in the epoch that it read; on EXPIRED and on
             LOST it writes again.
    Kafka:   KafkaController.incrementControllerEpoch, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != RAISING:
        return False

    epoch = broker.read_epoch + 1
    answer = set_epoch(s.zk, b, epoch, broker.read_version, delivery)
    if answer == OK:
        begin_term(broker, epoch, broker.read_version + 1)
    elif answer == BADVERSION:
        begin_term(broker, broker.read_epoch, broker.read_version)
    elif answer == NONODE:
        broker.doing = CREATING_EPOCH
    elif answer == EXPIRED:
        broker.session = EXPIRED_SESSION
    return True


def found_epoch(s, b: Broker, delivery: Delivery):
    """The first leader ever creates /controller_epoch with 1.

    Guards:  `b` has found no epoch to raise.
    Request: OK; NODEEXISTS when another was first; EXPIRED; LOST.
    Effects: on OK it is controller in epoch 1, and takes the version for 1 (it is 0); on NODEEXISTS,
             perhaps because of its own lost write, it resigns.
    Kafka:   KafkaController.incrementControllerEpoch, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != CREATING_EPOCH:
        return False

    answer = create_epoch(s.zk, b, FIRST_EPOCH, delivery)
    if answer == OK:
        begin_term(broker, FIRST_EPOCH, FIRST_VERSION)
    elif answer == NODEEXISTS:
        give_up(broker)
    elif answer == EXPIRED:
        broker.session = EXPIRED_SESSION
    return True


def clean(s, b: Broker, delivery: Delivery):
    """A controller deletes a notification; nothing checks that it still is the controller.

    Guards:  the term of `b` has just begun, or its listeners live.
    Request: OK; EXPIRED; LOST.
    Effects: a new controller reads the partition state next; on EXPIRED again in a new session.
    Kafka:   ZkUtils.deletePath, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != CLEANING and not at_work(broker):
        return False

    answer = delete_notification(s.zk, b, broker.epoch, delivery)
    if answer == OK and broker.doing == CLEANING:
        broker.doing = LOADING
    elif answer == EXPIRED:
        broker.session = EXPIRED_SESSION
    return True


def load(s, b: Broker):
    """A controller reads the partition state and its version.

    Guards:  its term begins, or `b` is at work: a controller reads before it elects a leader.
    Request: OK; NEWER when a controller of a higher epoch wrote it; EXPIRED.
    Effects: it is at work; on NEWER it leaves the partition alone; on EXPIRED it reads again.
    Kafka:   PartitionStateMachine.electLeaderForPartition, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != LOADING and not at_work(broker):
        return False

    answer = read_state(s.zk, b, broker.epoch)
    if answer == EXPIRED:
        broker.session = EXPIRED_SESSION
    else:
        broker.ruling = FULL
        broker.doing = IDLE
    return True


def write_state(s, b: Broker, delivery: Delivery):
    """A controller writes the partition state, checked only against the version that it read.

    Guards:  the listeners of a controller live on `b`, whoever leads.
    Request: OK; BADVERSION; EXPIRED; LOST.
    Effects: on BADVERSION it reads again; on EXPIRED it may write again in a new session.
    Kafka:   ReplicationUtils.updateLeaderAndIsr, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if not at_work(broker):
        return False

    answer = set_state(s.zk, b, broker.epoch, delivery)
    if answer == BADVERSION:
        broker.doing = LOADING
    elif answer == EXPIRED:
        broker.session = EXPIRED_SESSION
    return True


def send(s, b: Broker, to: Receiver):
    """A controller sends a control request, with the epoch of its term.

    Guards:  the listeners and channels of a controller live on `b`, whoever leads.
    Effects: the request is on its way.
    Kafka:   RequestSendThread.doWork, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if not at_work(broker):
        return False

    put_request(s.network, to, broker.epoch)
    return True


def forced_resign(s, b: Broker):
    """A controller that is forced to resign forgets that it leads, but keeps its listeners and channels.

    Guards:  an error in its own work forces it.
    Effects: /controller is to be deleted; listeners, state machines and channels stay.
    Kafka:   ZookeeperLeaderElector.resign, 0.9 to 0.10.2; KafkaController.triggerControllerMove, 0.11 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != MOVING:
        return False

    give_up(broker)
    return True


def delete_any_controller(s, b: Broker, delivery: Delivery):
    """A broker that has resigned deletes /controller, whoever owns it, in whatever session.

    Guards:  its election failed, or it was forced to resign.
    Request: OK; NONODE; EXPIRED; LOST.
    Effects: on LOST and on EXPIRED it deletes again, perhaps one of another owner.
    Kafka:   ZookeeperLeaderElector.resign, 0.9 to 0.10.2; KafkaController.triggerControllerMove, 0.11 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != DELETING:
        return False

    answer = delete_controller(s.zk, b, broker.epoch, delivery)
    if answer == EXPIRED:
        broker.session = EXPIRED_SESSION
    elif answer != LOST:
        broker.doing = IDLE
    return True
