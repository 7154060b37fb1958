"""Topics up to 3.0: their names alone, and no ids, say which is which (up to 2.7), and one may be created while the deletion
of its namesake is not over.
"""


def is_of_no_other(replica, topic):
    """Whether a broker refuses LeaderAndIsr, since it has the log of another topic: nobody can tell.

    Kafka: ReplicaManager.becomeLeaderOrFollower, 0.8 to 2.7.
    """
    return False


def is_there(zk, p):
    """Whether there is a topic of that name, whether its deletion is asked for or not.

    Kafka: AdminZkClient.validateCreateOrUpdateTopic, 1.1 to 2.1; validateTopicCreate, 2.2 to 3.0.
    """
    return zk.assignments[p].length > 0
