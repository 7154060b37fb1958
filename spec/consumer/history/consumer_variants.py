"""The old consumer as it was and as it could have been: the differences from `kafkaproof.spec.consumer`.

Registration up to 0.8.2, a rebalance without a limit on attempts, and a claim before the offset is read, which Kafka
never did.
"""

from kafkaproof.spec.consumer.member import (
    CLAIMING,
    NEW_SESSION,
    READING_OFFSETS,
    REBALANCE,
    START,
    Consumer,
    reset,
    start_fetchers,
)
from kafkaproof.spec.consumer.zookeeper import ARMED, FIRED, create_id
from kafkaproof.spec.kafka.zookeeper import OK


def register_when_free(s, c: Consumer):
    """A consumer registers its id, and waits for a former session to end. After a new session, it clears its registry
    first.

    Guards:  the event thread must register.
    Request: OK; NODEEXISTS if a former session still owns the id; EXPIRED.
    Effects: the registry is cleared; on OK it rebalances next, and in a new session the watches fire. Otherwise it
             registers again, on NODEEXISTS after a session timeout.
    Kafka:   ZkUtils.createEphemeralPathExpectConflictHandleZKBug, 0.8.0 to 0.8.2.
    """
    consumer = s.consumers[c]
    if consumer.callback != START and consumer.callback != NEW_SESSION:
        return False

    answer = create_id(s.zk, c, ARMED if consumer.callback == START else FIRED)
    reset(consumer)
    if answer == OK:
        consumer.callback = REBALANCE
    return True


def never_gives_up(consumer):
    """A failed attempt is followed by another (rebalance.max.retries without limit)."""
    return False


def claim_first(consumer):
    """The assignment is known: partitions are claimed next."""
    consumer.doing = CLAIMING


def then_read_offsets(consumer):
    """Every claim has succeeded: the offsets are read next."""
    consumer.left = consumer.mine
    consumer.doing = READING_OFFSETS


def then_start(consumer):
    """The offsets are known: the fetchers start."""
    start_fetchers(consumer)
