"""ZooKeeper as the creation of a topic under the name of a deleted one uses it: ids, and topics that are gone.

As in `kafkaproof.spec.partition.zookeeper`, a function that answers with a code is one request.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    intersection,
    is_empty,
    only,
    with_member,
    without_member,
)
from kafkaproof.spec.partition.deletion.zookeeper import delete_config as delete_any_config
from kafkaproof.spec.partition.deletion.zookeeper import delete_leftovers as delete_all_leftovers
from kafkaproof.spec.partition.deletion.zookeeper import join_topic as join_any
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.zookeeper import partitions_of_topics
from kafkaproof.spec.partition.zookeeper import read_assignment as read_replicas

KNOWN = ("gone_topics",)


def gone_topics(zk, known):
    """Those of the known partitions whose topic is gone: the watch on /brokers/topics reports them."""
    found = 0
    for p in range(len(zk.assignments)):
        left = intersection(topics_of(zk, only(p)), partitions_of_topics(zk))
        if contains(known, p) and is_empty(left):
            found = with_member(found, p)
    return found


def is_taken(zk, p):
    """Whether there is a topic of that name, or its deletion is asked for.

    Kafka: AdminZkClient.validateTopicCreate, 3.1 to 3.9.
    """
    return zk.assignments[p].length > 0 or contains(zk.deleting, p)


def join_topic(zk, p, other):
    """A partition belongs to the topic of another one, or to a new topic, which gets the next id."""
    join_any(zk, p, other)
    if p == other:
        zk.created += 1
    zk.ids[p] = zk.created if p == other else zk.ids[other]
    zk.configured = with_member(zk.configured, p)
    zk.deleted = without_member(zk.deleted, p)


def delete_config(zk, b, topic, delivery):
    """delete /config/topics/t: OK, EXPIRED or LOST."""
    answer = delete_any_config(zk, b, topic, delivery)
    if answer != EXPIRED and delivery != LOST_DROPPED:
        zk.configured = difference(zk.configured, topics_of(zk, topic))
    return answer


def delete_leftovers(zk, b, unknown, delivery):
    """delete configuration and marker of each topic that is marked and does not exist, and the markers of topics that
    the controller does not know: OK, EXPIRED or LOST.
    """
    left_over = intersection(zk.deleting, zk.deleted)
    answer = delete_all_leftovers(zk, b, unknown, delivery)
    if answer != EXPIRED and delivery != LOST_DROPPED:
        zk.configured = difference(zk.configured, left_over)
    return answer


def read_assignment(zk, p, partition):
    """The assignment of a partition, and the id of its topic, as the topic znode has them."""
    read_replicas(zk, p, partition)
    partition.topic = zk.ids[p] if zk.assignments[p].length > 0 else 0
