"""Election up to 2.0: create /controller first, raise the epoch afterwards, write unchecked.

From 1.1 on sessions and events are as they are now; `zkclient` has those before, and what an answer of EXPIRED and a
failed write of the epoch lead to there. Anything may happen between the creation of /controller and
the write of /controller_epoch: a candidate that paused there resumes, reads the epoch of the controller
elected meanwhile, and raises it once more; brokers then obey the zombie and refuse the owner of
/controller (KAFKA-6082). Writes are at most checked against the version of their own znode, so a deposed
controller's write is applied whenever its successor has not touched that znode. And a broker that resigns
deletes /controller, whoever owns it: a candidate that lost the race for the epoch deletes the winner's.
"""

from kafkaproof.spec.election import active_controller, election
from kafkaproof.spec.election.broker_state import (
    CHECKING,
    CONFIRMING,
    CREATING,
    CREATING_EPOCH,
    DELETING,
    IDLE,
    MOVING,
    NONE,
    RAISING,
    READING_EPOCH,
    begin_term,
    end_election,
    lapse,
    resign,
)
from kafkaproof.spec.election.history.requests import (
    create_controller,
    read_owner,
    set_epoch,
    unchecked_delete_notification,
    unchecked_set_state,
)
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
    checked_delete_notification,
    checked_set_state,
    create_epoch,
    delete_controller,
    get_epoch,
)
from kafkaproof.spec.language.combine import with_callees

FIRST_EPOCH = 1
FIRST_VERSION = 1


def move(broker):
    """triggerControllerMove: resign (the epoch is kept for the record), and delete /controller next."""
    broker.ruling = NONE
    broker.active = 0
    end_election(broker, DELETING)


def create_next(broker):
    """A candidate that has found no /controller creates it next."""
    broker.doing = CREATING


look_for_controller = with_callees(election.look_for_controller, {election.read_epoch_next: create_next})
clean = with_callees(active_controller.clean, {checked_delete_notification: unchecked_delete_notification})
write_state = with_callees(active_controller.write_state, {checked_set_state: unchecked_set_state})


def create(s, b: Broker, delivery: Delivery):
    """Broker `b` creates /controller, and nothing else.

    Guards:  `b` is a candidate.
    Request: OK; NODEEXISTS when another won, or itself in a request whose answer was lost; EXPIRED; LOST.
    Effects: on OK it is active, in no epoch yet; on NODEEXISTS it checks who owns it; on EXPIRED, up to 1.0, it
             resigns.
    Kafka:   ZKCheckedEphemeral.create, 0.9 to 1.0; KafkaZkClient.checkedEphemeralCreate, 1.1 to 2.0.
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
        lapse(broker)
    return True


def confirm_owner(s, b: Broker):
    """A candidate that was refused checks whether its own session owns /controller.

    Guards:  its creation was refused.
    Request: MINE; OK (another session's); NONODE; EXPIRED.
    Effects: on MINE it is active; on NONODE it creates again; else it checks who is controller; on EXPIRED, up to
             1.0, it resigns.
    Kafka:   ZKCheckedEphemeral.getDataCallback, 0.9 to 1.0; KafkaZkClient.CheckedEphemeral.getAfterNodeExists, 1.1
             to 2.0.
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
        lapse(broker)
    else:
        end_election(broker, CHECKING)
    return True


def learn_epoch(s, b: Broker):
    """A new controller reads /controller_epoch.

    Guards:  `b` has created /controller.
    Request: OK; NONODE before the first election ever; EXPIRED.
    Effects: it raises next, from 0 when there was nothing to read.
    Kafka:   KafkaController.readControllerEpochFromZookeeper, 0.9 to 1.0; readControllerEpochFromZooKeeper, 1.1 to
             2.0.
    """
    broker = s.brokers[b]
    if broker.doing != READING_EPOCH:
        return False

    answer = get_epoch(s.zk, b, broker)
    if answer == EXPIRED:
        lapse(broker)
    else:
        broker.doing = RAISING
    return True


def raise_epoch(s, b: Broker, delivery: Delivery):
    """A new controller raises /controller_epoch, if nobody has done so since it read it.

    Guards:  `b` has created /controller and read the epoch; another may own /controller by now.
    Request: OK; BADVERSION; NONODE before the first election ever; EXPIRED; LOST.
    Effects: on OK it is controller; on BADVERSION, perhaps because of its own lost write, it resigns (up to 1.0 it
             is controller in the epoch that it read); on LOST it writes again.
    Kafka:   KafkaController.incrementControllerEpoch, 0.9 to 2.0.
    """
    broker = s.brokers[b]
    if broker.doing != RAISING:
        return False

    epoch = broker.read_epoch + 1
    answer = set_epoch(s.zk, b, epoch, broker.read_version, delivery)
    if answer == OK:
        begin_term(broker, epoch, broker.read_version + 1)
    elif answer == NONODE:
        broker.doing = CREATING_EPOCH
    elif answer == BADVERSION:
        move(broker)
    elif answer == EXPIRED:
        lapse(broker)
    return True


def found_epoch(s, b: Broker, delivery: Delivery):
    """The first controller ever creates /controller_epoch with 1.

    Guards:  `b` has found no epoch to raise.
    Request: OK; NODEEXISTS when another was first; EXPIRED; LOST.
    Effects: on OK it is controller in epoch 1, and takes the version for 1 (it is 0); on NODEEXISTS,
             perhaps because of its own lost write, it resigns.
    Kafka:   KafkaController.incrementControllerEpoch, 0.9 to 2.0.
    """
    broker = s.brokers[b]
    if broker.doing != CREATING_EPOCH:
        return False

    answer = create_epoch(s.zk, b, FIRST_EPOCH, delivery)
    if answer == OK:
        begin_term(broker, FIRST_EPOCH, FIRST_VERSION)
    elif answer == NODEEXISTS:
        move(broker)
    elif answer == EXPIRED:
        lapse(broker)
    return True


def trigger_move(s, b: Broker):
    """A controller that is forced to resign gives up its term, without reading /controller.

    Guards:  an error in its own work forces it.
    Effects: /controller is to be deleted; up to 0.10.2 listeners, state machines and channels stay.
    Kafka:   ZookeeperLeaderElector.resign, 0.9 to 0.10.2; KafkaController.triggerControllerMove, 0.11 to 2.0.
    """
    broker = s.brokers[b]
    if broker.doing != MOVING:
        return False

    move(broker)
    return True


def delete_any_controller(s, b: Broker, delivery: Delivery):
    """A broker that has resigned deletes /controller, whoever owns it.

    Guards:  it failed to raise the epoch, or was forced to resign.
    Request: OK; NONODE; EXPIRED; LOST.
    Effects: on LOST it deletes again, perhaps one of another owner.
    Kafka:   ZookeeperLeaderElector.resign, 0.9 to 0.10.2; KafkaController.triggerControllerMove, 0.11 to 1.0;
             KafkaZkClient.deleteController, 1.1 to 2.0.
    """
    broker = s.brokers[b]
    if broker.doing != DELETING:
        return False

    answer = delete_controller(s.zk, b, broker.epoch, delivery)
    if answer == EXPIRED:
        lapse(broker)
    elif answer != LOST:
        resign(broker)
        broker.doing = IDLE
    return True
