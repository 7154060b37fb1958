"""When partitions may be added to a topic, up to 2.3: no reassignment of any partition is asked for."""

from kafkaproof.spec.language.sets import is_empty
from kafkaproof.spec.partition.expansion import zookeeper
from kafkaproof.spec.partition.zookeeper import listed


def nothing_is_listed(zk, p):
    """Whether there is no /admin/reassign_partitions.

    Kafka: AdminManager.createPartitions, 1.0 to 2.3.
    """
    return is_empty(listed(zk))


def keep_lists(zk, q):
    """The topic znode says nothing of reassignments."""
    return 0


UP_TO_2_3 = {zookeeper.is_settled: nothing_is_listed, zookeeper.forget_reassignment: keep_lists}
