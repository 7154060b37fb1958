"""One attempt of a rebalance: stop, release, read, assign, claim; or fail and try again.

Each step sends one request. The client library repeats it until it is answered, in the next session if need be: on
EXPIRED and on LOST a transition changes nothing, and is taken again.
"""

from kafkaproof.spec.consumer.member import (
    CLAIMING,
    FAILED,
    LISTING,
    LOOKING,
    READING_IDS,
    READING_OFFSETS,
    READING_TOPIC,
    RELEASING,
    UNDOING,
    Consumer,
    Partition,
    after_members,
    after_offsets,
    after_topic,
    begin_release,
    end_claims,
    end_rebalance,
    end_release,
    fail,
    gives_up,
    is_committed,
    stop_fetchers,
    thread_for,
)
from kafkaproof.spec.consumer.zookeeper import (
    NOBROKERS,
    create_owner,
    delete_owner,
    get_offset,
    list_members,
    look_around,
    read_ids,
    read_topic,
)
from kafkaproof.spec.kafka.zookeeper import MINE, NODEEXISTS, NONODE, OK, Delivery
from kafkaproof.spec.language.sets import contains, is_empty, with_member, without_member


def look(s, c: Consumer):
    """An attempt begins: the consumer reads its own id and the brokers.

    Guards:  it holds the lock, at the beginning of an attempt.
    Request: OK; NONODE if its id is not registered; NOBROKERS; EXPIRED.
    Effects: on OK fetchers are stopped, and it releases next; on NONODE the attempt fails; on NOBROKERS the rebalance
             ends and changes nothing, until a broker comes.
    Kafka:   ZKRebalancerListener.rebalance, closeFetchers, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != LOOKING:
        return False

    answer = look_around(s.zk, c)
    if answer == OK:
        stop_fetchers(consumer)
        begin_release(consumer, c)
    elif answer == NONODE:
        fail(consumer)
    elif answer == NOBROKERS:
        end_rebalance(consumer)
    return True


def release(s, c: Consumer, p: Partition, delivery: Delivery):
    """A consumer deletes the owner node of a partition that it believes it owns.

    Guards:  fetchers are stopped, and what they have read is committed; `p` was in the registry.
    Request: OK or NONODE; EXPIRED; LOST.
    Effects: after the last one the registry is empty, and it lists the members next.
    Kafka:   ZKRebalancerListener.releasePartitionOwnership, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != RELEASING or not contains(consumer.left, p) or not is_committed(consumer):
        return False

    answer = delete_owner(s.zk, c, p, delivery)
    if answer == OK or answer == NONODE:
        consumer.left = without_member(consumer.left, p)
        if is_empty(consumer.left):
            end_release(consumer, c)
    return True


def list_group(s, c: Consumer):
    """A consumer lists the ids of the group.

    Guards:  it has released everything.
    Request: OK; EXPIRED.
    Effects: it reads each id next; if its own is not among them, the attempt fails.
    Kafka:   ZkUtils.getConsumersPerTopic, getConsumersInGroup, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != LISTING:
        return False

    answer = list_members(s.zk, c, consumer)
    if answer == OK and contains(consumer.members, c):
        consumer.doing = READING_IDS
    elif answer == OK:
        fail(consumer)
    return True


def read_subscriptions(s, c: Consumer):
    """A consumer reads what every member that it has listed subscribes to.

    Guards:  it has listed the members.
    Request: OK; NONODE if one of them is gone; EXPIRED.
    Effects: on OK it reads the topic next; on NONODE the attempt fails.
    Kafka:   TopicCount.constructTopicCount, 0.8 to 1.1 (before the topic from 0.10.2 on: AssignmentContext).
    """
    consumer = s.consumers[c]
    if consumer.doing != READING_IDS:
        return False

    answer = read_ids(s.zk, c, consumer.members)
    if answer == OK:
        after_members(consumer, c)
    elif answer == NONODE:
        fail(consumer)
    return True


def read_partitions(s, c: Consumer):
    """A consumer reads the topic's partitions, and computes the assignment.

    Guards:  it has read the members.
    Request: OK; EXPIRED.
    Effects: it reads the offsets of its own partitions next; if it has none, the rebalance is over.
    Kafka:   ZkUtils.getPartitionsForTopics, 0.8 to 1.1; kafka.consumer.RangeAssignor.assign, 0.8.2 to 1.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != READING_TOPIC:
        return False

    answer = read_topic(s.zk, c, consumer)
    if answer == OK:
        after_topic(consumer, c)
    return True


def read_offset(s, c: Consumer, p: Partition):
    """A consumer reads where to begin in a partition of its own, before it claims the partition.

    Guards:  the assignment is known, and the offset is not.
    Request: OK; EXPIRED.
    Effects: after the last one it claims its partitions.
    Kafka:   ZKRebalancerListener.addPartitionTopicInfo, 0.8 to 1.1; ZookeeperConsumerConnector.fetchOffsets, 0.8.2 to
             1.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != READING_OFFSETS or not contains(consumer.left, p):
        return False

    answer = get_offset(s.zk, c, p, consumer)
    if answer == OK:
        consumer.left = without_member(consumer.left, p)
        if is_empty(consumer.left):
            after_offsets(consumer)
    return True


def claim(s, c: Consumer, p: Partition, delivery: Delivery):
    """A consumer creates the owner node of a partition that the assignment gives to one of its threads.

    Guards:  its offset is known, and it is not yet claimed.
    Request: OK; MINE if the node names that thread, in whichever session; NODEEXISTS; EXPIRED; LOST.
    Effects: OK and MINE are successes. After the last claim the threads read; but if a claim has failed, the others are
             undone.
    Kafka:   ZKRebalancerListener.reflectPartitionOwnershipDecision, ZkUtils.createEphemeralPathExpectConflict, 0.8 to
             1.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != CLAIMING or not contains(consumer.left, p):
        return False

    answer = create_owner(s.zk, c, p, thread_for(consumer, p), delivery)
    if answer == NODEEXISTS:
        consumer.conflict = 1
    elif answer == OK or answer == MINE:
        consumer.claimed = with_member(consumer.claimed, p)
    else:
        return True
    consumer.left = without_member(consumer.left, p)
    if is_empty(consumer.left):
        end_claims(consumer)
    return True


def undo(s, c: Consumer, p: Partition, delivery: Delivery):
    """After a conflict, a consumer deletes the owner nodes that it has created in this attempt.

    Guards:  all claims were tried, and some have failed, but not that of `p`.
    Request: OK or NONODE; EXPIRED; LOST.
    Effects: after the last one the attempt has failed.
    Kafka:   ZKRebalancerListener.reflectPartitionOwnershipDecision, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != UNDOING or not contains(consumer.left, p):
        return False

    answer = delete_owner(s.zk, c, p, delivery)
    if answer == OK or answer == NONODE:
        consumer.left = without_member(consumer.left, p)
        if is_empty(consumer.left):
            fail(consumer)
    return True


def retry(s, c: Consumer):
    """After rebalance.backoff.ms a consumer tries again, or gives up until the next change.

    Guards:  an attempt has failed; what was read is committed.
    Effects: another attempt begins; after the last (rebalance.max.retries) the rebalance is over, without
             partitions and without fetchers.
    Kafka:   ZKRebalancerListener.syncedRebalance, ConsumerRebalanceFailedException, 0.8 to 1.1.
    """
    consumer = s.consumers[c]
    if consumer.doing != FAILED or not is_committed(consumer):
        return False

    if gives_up(consumer):
        end_rebalance(consumer)
    else:
        consumer.doing = LOOKING
    return True
