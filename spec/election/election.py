"""Controller election, 2.1 and later: /controller and the epoch in one transaction.

The controller's event thread makes one ZooKeeper request a step. If the answer is lost, it retries in the
same session; a retry that finds its own /controller recognises it by the epoch.
"""

from kafkaproof.spec.election.broker_state import (
    CHECKING,
    CHECKING_TO_ELECT,
    CONFIRMING,
    CONFIRMING_EPOCH,
    CREATING,
    CREATING_EPOCH,
    ELECTING,
    IDLE,
    OPEN,
    READING_EPOCH,
    begin_term,
    end_election,
    lapse,
    resign,
)
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import (
    BADVERSION,
    CHANGED,
    EXPIRED,
    MINE,
    NODEEXISTS,
    NONODE,
    NOTHING,
    OK,
    Delivery,
    create_controller_and_set_epoch,
    create_epoch,
    get_epoch,
    read_controller,
    take_event,
    waiting,
)


def handle_change(s, b: Broker):
    """The controller thread handles the notification of its watch on /controller.

    Guards:  no event is in progress; the watch has fired.
    Effects: a change is checked against what `b` believes; after a deletion `b` also becomes a candidate.
    Kafka:   KafkaController.ControllerChange, KafkaController.Reelect, 1.1 to 2.2;
             KafkaController.processControllerChange, processReelect, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    event = waiting(s.zk, b)
    if broker.session != OPEN or broker.doing != IDLE or event == NOTHING:
        return False

    take_event(s.zk, b)
    broker.doing = CHECKING if event == CHANGED else CHECKING_TO_ELECT
    return True


def maybe_resign(s, b: Broker):
    """Broker `b` reads /controller again, and gives up its term if it does not own it any more.

    Guards:  an event says so, or a write was refused because the controller has moved.
    Request: MINE; OK (another's) or NONODE; EXPIRED.
    Effects: active as read; a term that is lost is given up; after a deletion `b` becomes a candidate.
    Kafka:   KafkaController.elect, 0.11 to 1.0 (after a refusal); KafkaController.ControllerChange,
             KafkaController.Reelect, 1.1 to 2.0; KafkaController.maybeResign, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != CHECKING and broker.doing != CHECKING_TO_ELECT:
        return False

    answer = read_controller(s.zk, b)
    if answer == EXPIRED:
        lapse(broker)
        return True
    if broker.active and answer != MINE:
        resign(broker)
    broker.active = 1 if answer == MINE else 0
    broker.doing = ELECTING if broker.doing == CHECKING_TO_ELECT else IDLE
    return True


def look_for_controller(s, b: Broker):
    """Broker `b` reads /controller and goes on with the election only if there is none.

    Guards:  `b` is a candidate.
    Request: NONODE; MINE, up to 1.0 perhaps of a former process; OK (another's); EXPIRED.
    Effects: on NONODE it reads the epoch next (up to 2.0 it creates /controller); on MINE it believes that it leads.
    Kafka:   ZookeeperLeaderElector.elect, 0.9 to 0.10.2; KafkaController.elect, 0.11 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != ELECTING:
        return False

    answer = read_controller(s.zk, b)
    if answer == EXPIRED:
        lapse(broker)
        return True
    broker.active = 1 if answer == MINE else 0
    broker.doing = IDLE
    if answer == NONODE:
        read_epoch_next(broker)
    return True


def read_epoch_next(broker):
    """A candidate that has found no /controller reads the epoch next."""
    broker.doing = READING_EPOCH


def learn_epoch(s, b: Broker):
    """Broker `b` reads /controller_epoch.

    Guards:  `b` is a candidate.
    Request: OK; NONODE before the first election ever; EXPIRED.
    Effects: on OK it tries to register next; on NONODE it creates the znode.
    Kafka:   KafkaZkClient.getControllerEpoch, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != READING_EPOCH:
        return False

    answer = get_epoch(s.zk, b, broker)
    if answer == OK:
        broker.doing = CREATING
    elif answer == NONODE:
        broker.doing = CREATING_EPOCH
    elif answer == EXPIRED:
        lapse(broker)
    return True


def found_epoch(s, b: Broker, delivery: Delivery):
    """The first candidate ever creates /controller_epoch with 0.

    Guards:  `b` is a candidate and has found no epoch.
    Request: OK; NODEEXISTS when another was first; EXPIRED; LOST.
    Effects: on OK it goes on with 0; on NODEEXISTS it reads; on LOST it retries.
    Kafka:   KafkaZkClient.maybeCreateControllerEpochZNode, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != CREATING_EPOCH:
        return False

    answer = create_epoch(s.zk, b, 0, delivery)
    if answer == OK:
        broker.doing = CREATING
    elif answer == NODEEXISTS:
        broker.doing = READING_EPOCH
    elif answer == EXPIRED:
        lapse(broker)
    return True


def register(s, b: Broker, delivery: Delivery):
    """Broker `b` creates /controller and raises /controller_epoch in one transaction.

    Guards:  `b` is a candidate and has read the epoch.
    Request: OK; NODEEXISTS or BADVERSION when another won, or itself in a request whose answer was lost;
             EXPIRED; LOST.
    Effects: on OK it is controller in the epoch that it wrote; on LOST it retries; else it checks who won.
    Kafka:   KafkaZkClient.registerControllerAndIncrementControllerEpoch, 2.1 to 3.9 (KAFKA-6082).
    """
    broker = s.brokers[b]
    if broker.doing != CREATING:
        return False

    epoch = broker.read_epoch + 1
    answer = create_controller_and_set_epoch(s.zk, b, epoch, broker.read_version, delivery)
    if answer == OK:
        begin_term(broker, epoch, broker.read_version + 1)
    elif answer == NODEEXISTS or answer == BADVERSION:
        broker.doing = CONFIRMING
    elif answer == EXPIRED:
        lapse(broker)
    return True


def confirm_controller(s, b: Broker):
    """A candidate whose registration was refused checks whether it is the controller itself.

    Guards:  its registration was refused.
    Request: MINE; OK (another's) or NONODE; EXPIRED.
    Effects: on MINE it compares the epoch next; else the controller has moved.
    Kafka:   KafkaZkClient.registerControllerAndIncrementControllerEpoch, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != CONFIRMING:
        return False

    answer = read_controller(s.zk, b)
    if answer == MINE:
        broker.doing = CONFIRMING_EPOCH
    elif answer == EXPIRED:
        lapse(broker)
    else:
        end_election(broker, CHECKING)
    return True


def confirm_epoch(s, b: Broker):
    """A candidate that finds itself in /controller compares the epoch with the one that it wrote.

    Guards:  /controller named `b`.
    Request: OK; EXPIRED.
    Effects: if they are equal its registration had succeeded, and it is controller; else the controller moved.
    Kafka:   KafkaZkClient.registerControllerAndIncrementControllerEpoch, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != CONFIRMING_EPOCH:
        return False

    wanted = broker.read_epoch + 1
    answer = get_epoch(s.zk, b, broker)
    if answer == EXPIRED:
        lapse(broker)
    elif broker.read_epoch == wanted:
        begin_term(broker, wanted, broker.read_version)
    else:
        end_election(broker, CHECKING)
    return True
