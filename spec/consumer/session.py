"""A consumer's process and sessions: it starts, registers, gets a new session, and begins to rebalance."""

from kafkaproof.spec.consumer.member import (
    IDLE,
    LOOKING,
    NEW_SESSION,
    NONE,
    REBALANCE,
    START,
    Consumer,
    end_process,
    reset,
)
from kafkaproof.spec.consumer.zookeeper import (
    ARMED,
    FIRED,
    create_id,
    end_session,
    fire_all,
    has_fired,
    open_session,
    session_open,
    take_event,
)
from kafkaproof.spec.kafka.zookeeper import NODEEXISTS, OK


def start(s, c: Consumer):
    """A consumer starts and opens a session.

    Guards:  it has no process.
    Request: OK.
    Effects: it registers its id next.
    Kafka:   ZookeeperConsumerConnector.connectZk, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if consumer.up:
        return False

    open_session(s.zk, c)
    consumer.up = 1
    consumer.callback = START
    return True


def reopen(s, c: Consumer):
    """The client library learns that the session has expired, and opens another, whatever the consumer is doing.

    Guards:  the session is over.
    Request: OK.
    Effects: the callback for the new session is due; a request in progress is sent again in the new session.
    Kafka:   org.I0Itec.zkclient.ZkClient.reconnect, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if not consumer.up or session_open(s.zk, c):
        return False

    open_session(s.zk, c)
    if consumer.callback != START:
        consumer.callback = NEW_SESSION
    return True


def register(s, c: Consumer):
    """A consumer registers its id. After a new session, it clears its registry first.

    Guards:  the event thread must register.
    Request: OK; NODEEXISTS if a former session still owns the id; EXPIRED.
    Effects: the registry is cleared; on OK it rebalances next, and in a new session the watches fire. On NODEEXISTS the
             callback fails: a process that is starting exits, any other goes on unregistered. On EXPIRED it registers
             again.
    Kafka:   ZookeeperConsumerConnector.registerConsumerInZK, ZKCheckedEphemeral.create, 0.9 to 1.1.
    """
    consumer = s.consumers[c]
    if consumer.callback != START and consumer.callback != NEW_SESSION:
        return False

    starts = consumer.callback == START
    answer = create_id(s.zk, c, ARMED if starts else FIRED)
    reset(consumer)
    if answer == OK:
        consumer.callback = REBALANCE
    elif answer == NODEEXISTS and starts:
        end_session(s.zk, c)
        end_process(consumer)
    elif answer == NODEEXISTS:
        consumer.callback = NONE
        fire_all(s.zk, c)
    return True


def rebalance_registered(s, c: Consumer):
    """The thread that has registered the id begins a rebalance.

    Guards:  the id is registered; the lock is free.
    Effects: the first attempt begins.
    Kafka:   ZKSessionExpireListener.handleNewSession, ZookeeperConsumerConnector.reinitializeConsumer, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if consumer.callback != REBALANCE or consumer.doing != IDLE:
        return False

    consumer.callback = NONE
    consumer.doing = LOOKING
    return True


def rebalance_changed(s, c: Consumer):
    """The watcher executor begins a rebalance.

    Guards:  a watch has fired; the lock is free.
    Effects: later changes are another event; the first attempt begins.
    Kafka:   ZKRebalancerListener.watcherExecutorThread, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if not consumer.up or consumer.doing != IDLE or not has_fired(s.zk, c):
        return False

    take_event(s.zk, c)
    consumer.doing = LOOKING
    return True
