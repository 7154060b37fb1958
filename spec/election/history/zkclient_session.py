"""Sessions up to 1.0: the client library opens a new one by itself, whatever the broker is doing.

Then its callbacks run in the order in which they were subscribed: the controller's, which resigns and
becomes a candidate again; the registration of the broker's id; and an event for every path that is watched.
"""

from kafkaproof.spec.election.broker_state import (
    BROKER,
    CHECKING,
    DOWN,
    DYING,
    ELECTING,
    EXPIRED_SESSION,
    IDLE,
    OPEN,
    REGISTERING,
    resign,
    state_of,
)
from kafkaproof.spec.election.broker_state import end_process as end_any_process
from kafkaproof.spec.election.history.requests import reopen_session
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import (
    EXPIRED,
    MINE,
    NODEEXISTS,
    NOTHING,
    OK,
    create_broker,
    open_session,
    read_controller,
    take_event,
    waiting,
)
from kafkaproof.spec.language.domains import Flag

STATE = state_of(
    BROKER.extended(
        to_register=(Flag(), "must still create /brokers/ids/b in this session"),
        new_session=(Flag(), "the callback for a new session waits"),
    )
)


def end_process(broker):
    """The process is gone with all that it knew."""
    end_any_process(broker)
    broker.to_register = 0
    broker.new_session = 0


def start(s, b: Broker):
    """A process starts, opens a session, and is a candidate before it registers its id.

    Guards:  broker `b` has no process.
    Request: OK.
    Effects: it looks for the controller next.
    Kafka:   KafkaServer.startup, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.session != DOWN:
        return False

    open_session(s.zk, b)
    broker.session = OPEN
    broker.doing = ELECTING
    broker.to_register = 1
    return True


def register_broker(s, b: Broker):
    """Broker `b` creates /brokers/ids/`b`, after its first election.

    Guards:  it has not done so yet, and no callback runs.
    Request: OK; NODEEXISTS when a former session of `b` is still open; EXPIRED.
    Effects: on NODEEXISTS it dies.
    Kafka:   KafkaHealthcheck.register, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != IDLE or not broker.to_register or broker.new_session or broker.session != OPEN:
        return False

    answer = create_broker(s.zk, b)
    if answer == OK:
        broker.to_register = 0
    elif answer == NODEEXISTS:
        broker.doing = DYING
        broker.to_register = 0
    elif answer == EXPIRED:
        broker.session = EXPIRED_SESSION
    return True


def reopen(s, b: Broker):
    """The client library opens a new session; the callback in progress goes on in it.

    Guards:  the client knows that its session has expired.
    Request: OK; the watch on /controller is treated as fired.
    Effects: the callback for a new session waits.
    Kafka:   org.I0Itec.zkclient.ZkClient.reconnect, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    if broker.session != EXPIRED_SESSION:
        return False

    reopen_session(s.zk, b)
    broker.session = OPEN
    if broker.doing == DYING:
        return True
    broker.new_session = 1
    return True


def handle_new_session(s, b: Broker):
    """The callback for a new session begins.

    Guards:  it waits, and no other runs.
    Effects: it reads /controller next.
    Kafka:   KafkaController.SessionExpirationListener.handleNewSession, 0.9 to 0.10.2;
             SessionExpirationListener.handleNewSession, KafkaController.Reelect, 0.11 to 1.0.
    """
    broker = s.brokers[b]
    if not broker.new_session or broker.doing != IDLE or broker.session != OPEN:
        return False

    broker.new_session = 0
    broker.to_register = 1
    broker.doing = REGISTERING
    return True


def new_session(s, b: Broker):
    """In a new session `b` resigns and becomes a candidate again, unless /controller names it.

    Guards:  the callback runs.
    Request: MINE; OK (another's) or NONODE; EXPIRED.
    Effects: on MINE nothing: `b` assumes that an earlier callback has elected it already.
    Kafka:   KafkaController.SessionExpirationListener.handleNewSession, 0.9 to 0.10.2;
             SessionExpirationListener.handleNewSession, KafkaController.Reelect, 0.11 to 1.0.
    """
    broker = s.brokers[b]
    if broker.doing != REGISTERING:
        return False

    answer = read_controller(s.zk, b)
    if answer == EXPIRED:
        broker.session = EXPIRED_SESSION
    elif answer == MINE:
        broker.doing = IDLE
    else:
        resign(broker)
        broker.doing = ELECTING
    return True


def handle_change(s, b: Broker):
    """The client library handles the notification of the watch on /controller.

    Guards:  no callback runs; none for a new session waits; the watch has fired.
    Effects: /controller is read next.
    Kafka:   org.I0Itec.zkclient.ZkClient.fireDataChangedEvents, 0.9 to 1.0.
    """
    broker = s.brokers[b]
    event = waiting(s.zk, b)
    if broker.session != OPEN or broker.doing != IDLE or broker.new_session or event == NOTHING:
        return False

    take_event(s.zk, b)
    broker.doing = CHECKING
    return True
