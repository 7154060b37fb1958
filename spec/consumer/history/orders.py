"""In which order earlier releases read the group, stopped and released.

Until 0.8.1 a consumer read everything first, and stopped and released afterwards. From 0.8.2 it stops and releases
first, and then reads: the topic before the members until 0.10.1, after them from 0.10.2 on.
"""

from kafkaproof.spec.consumer.member import (
    LISTING,
    LOOKING,
    READING_IDS,
    READING_TOPIC,
    Consumer,
    begin_release,
    decide,
    end_rebalance,
    fail,
    stop_fetchers,
)
from kafkaproof.spec.consumer.zookeeper import NOBROKERS, list_members, read_ids, session_open
from kafkaproof.spec.kafka.zookeeper import ABSENT, EXPIRED, NONODE, OK
from kafkaproof.spec.language.sets import contains


def then_read_topic(consumer, c):
    """Everything is released: the topic is read next."""
    consumer.doing = READING_TOPIC


def then_list(consumer, c):
    """The partitions are known: the members are listed next."""
    consumer.doing = LISTING


def then_decide(consumer, c):
    """The members are known, and so is the assignment."""
    decide(consumer, c)


def read_own_id(zk, c):
    """getData of its own id: OK, NONODE or EXPIRED."""
    if not session_open(zk, c):
        return EXPIRED
    return NONODE if zk.clients[c].registered == ABSENT else OK


def read_ids_and_brokers(zk, c, members):
    """getData of the id of every member, then getChildren of /brokers/ids: OK, NONODE, NOBROKERS or EXPIRED.

    Both are one step: what comes between them comes as if after them.
    """
    answer = read_ids(zk, c, members)
    if answer == OK and zk.brokerless:
        zk.clients[c].brokers_watched = 1
        return NOBROKERS
    return answer


def look_for_itself(s, c: Consumer):
    """An attempt begins: the consumer reads its own id, and reads on.

    Guards:  it holds the lock, at the beginning of an attempt.
    Request: OK; NONODE if its id is not registered; EXPIRED.
    Effects: on OK it lists the members next; on NONODE the attempt fails.
    Kafka:   ZKRebalancerListener.rebalance, 0.8.0 to 0.8.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != LOOKING:
        return False

    answer = read_own_id(s.zk, c)
    if answer == OK:
        consumer.doing = LISTING
    elif answer == NONODE:
        fail(consumer)
    return True


def list_all(s, c: Consumer):
    """A consumer lists the ids of the group while its threads read.

    Guards:  it has read its own id.
    Request: OK; EXPIRED.
    Effects: it reads each id next.
    Kafka:   ZkUtils.getConsumersPerTopic, 0.8.0 to 0.8.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != LISTING:
        return False

    answer = list_members(s.zk, c, consumer)
    if answer == OK:
        consumer.doing = READING_IDS
    return True


def read_members(s, c: Consumer):
    """A consumer reads what every member that it has listed subscribes to, then the brokers.

    Guards:  it has listed the members.
    Request: OK; NONODE if a member is gone; NOBROKERS; EXPIRED.
    Effects: on OK it reads the topic next; on NONODE the attempt fails and its partitions stay claimed; on NOBROKERS the
             rebalance ends and changes nothing, until a broker comes.
    Kafka:   ZKRebalancerListener.rebalance, 0.8.0 to 0.8.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != READING_IDS:
        return False

    answer = read_ids_and_brokers(s.zk, c, consumer.members)
    if answer == OK:
        consumer.doing = READING_TOPIC
    elif answer == NONODE:
        fail(consumer)
    elif answer == NOBROKERS:
        end_rebalance(consumer)
    return True


def then_stop(consumer, c):
    """Everything is read: fetchers are stopped, and partitions are released next."""
    stop_fetchers(consumer)
    begin_release(consumer, c)


def then_decide_if_listed(consumer, c):
    """Everything is released: the assignment is computed. The attempt fails if the consumer was not listed."""
    if contains(consumer.members, c):
        decide(consumer, c)
    else:
        fail(consumer)
