"""A broker's session: opened, registered, found to have expired, opened again (1.1 and later).

After an expiry the event in progress ends first (its requests are answered EXPIRED), and the old term is
given up. Only then is a new session opened, so no write of the old session can be sent in the new one.
"""

from kafkaproof.spec.election.broker_state import (
    CHECKING_TO_ELECT,
    DOWN,
    DYING,
    EXPIRED_SESSION,
    IDLE,
    OPEN,
    REGISTERING,
    end_process,
    lapse,
    resign,
)
from kafkaproof.spec.kafka.zookeeper import (
    EXPIRED,
    NODEEXISTS,
    OK,
    create_broker,
    end_session,
    open_session,
    session_open,
)
from kafkaproof.spec.language.domains import Id

Broker = Id("brokers")


def start(s, b: Broker):
    """A process starts and opens a session.

    Guards:  broker `b` has no process.
    Request: OK.
    Effects: it registers its id next.
    Kafka:   KafkaServer.startup, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.session != DOWN:
        return False

    open_session(s.zk, b)
    broker.session = OPEN
    broker.doing = REGISTERING
    return True


def register_broker(s, b: Broker):
    """Broker `b` creates /brokers/ids/`b`, before it takes part in any election.

    Guards:  `b` has opened a session and not yet registered in it.
    Request: OK; NODEEXISTS when a former session of `b` is still open; EXPIRED.
    Effects: on OK it looks for the controller and is a candidate; on NODEEXISTS it dies.
    Kafka:   KafkaZkClient.registerBrokerInZk, 1.1 to 2.0; registerBroker, 2.1 to 3.9 (Startup,
             RegisterBrokerAndReelect).
    """
    broker = s.brokers[b]
    if broker.doing != REGISTERING:
        return False

    answer = create_broker(s.zk, b)
    if answer == OK:
        broker.doing = CHECKING_TO_ELECT
    elif answer == NODEEXISTS:
        broker.doing = DYING
    elif answer == EXPIRED:
        lapse(broker)
    return True


def die(s, b: Broker):
    """A process that could not register closes its session and ends.

    Guards:  its registration was refused.
    Request: OK.
    Effects: no process.
    Kafka:   KafkaServer.startup (fatal error), 0.8 to 3.9.
    """
    broker = s.brokers[b]
    if broker.doing != DYING:
        return False

    end_session(s.zk, b)
    end_process(broker)
    return True


def notice_expiry(s, b: Broker):
    """The client of `b` hears that its session has expired.

    Guards:  the session has ended, and `b` does not know.
    Effects: it knows that; the event in progress goes on until its next request.
    Kafka:   org.I0Itec.zkclient.ZkClient.processStateChanged, 0.8 to 1.0; ZooKeeperClient.ZooKeeperClientWatcher
             (Expired), 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.session != OPEN or session_open(s.zk, b):
        return False

    broker.session = EXPIRED_SESSION
    return True


def reopen(s, b: Broker):
    """The Expire event gives up the term; then a new session is opened.

    Guards:  `b` knows that its session has expired; no event is in progress.
    Request: OK.
    Effects: the term is over, waiting events are dropped, and the id is registered next.
    Kafka:   ZooKeeperClient.reinitialize, 1.1 to 3.9; KafkaController.Expire, 1.1 to 2.2;
             KafkaController.processExpire, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    if broker.session != EXPIRED_SESSION or broker.doing != IDLE:
        return False

    open_session(s.zk, b)
    broker.session = OPEN
    broker.active = 0
    resign(broker)
    broker.doing = REGISTERING
    return True
