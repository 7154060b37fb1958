"""What operators ask for: the deletion of a topic."""

from kafkaproof.spec.language.sets import contains, only, union
from kafkaproof.spec.partition.context import Partition
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.znodes import count_request


def ask_for_deletion(s, p: Partition):
    """An operator creates /admin/delete_topics/t, for the topic of a partition.

    Guards:  the topic exists; the marker does not.
    Effects: the marker exists.
    """
    if s.zk.assignments[p].length == 0 or contains(s.zk.deleting, p):
        return False

    s.zk.deleting = union(s.zk.deleting, topics_of(s.zk, only(p)))
    count_request(s.zk)
    return True


def ask_for_unknown_deletion(s):
    """An operator creates /admin/delete_topics/t, for a topic that does not exist.

    Guards:  there is no such marker.
    Effects: there is one.
    """
    if s.zk.stray:
        return False

    s.zk.stray = 1
    count_request(s.zk)
    return True
