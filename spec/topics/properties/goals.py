"""What must be reachable in the model of topics, so that its properties do not hold vacuously."""

from kafkaproof.spec.kafka.state_machines import (
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import contains, is_empty, union
from kafkaproof.spec.partition.deletion.network import stop_arrives
from kafkaproof.spec.partition.deletion.progress import any_in
from kafkaproof.spec.partition.deletion.properties import at_rest
from kafkaproof.spec.partition.deletion.state import DELETING_STATES, DELETING_TOPIC
from kafkaproof.spec.partition.zookeeper import session_open


def is_somewhere(s, state):
    """Whether the current controller, at rest, has a replica of a topic that is queued for deletion in a state."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if at_rest(s, b) and any_in(controller, controller.deleting, state):
            return True
    return False


def deletion_started(s):
    """A replica is DeletionStarted."""
    return is_somewhere(s, REPLICA_DELETION_STARTED)


def deletion_successful(s):
    """A replica is DeletionSuccessful, while another is not."""
    return is_somewhere(s, REPLICA_DELETION_SUCCESSFUL)


def deletion_ineligible(s):
    """A replica is DeletionIneligible: the deletion is stuck."""
    return is_somewhere(s, REPLICA_DELETION_INELIGIBLE)


def deletion_resumed(s):
    """One replica was deleted, another failed; the deletion of that one has started again."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if at_rest(s, b) and is_empty(controller.ineligible) and s.zk.faults > 0 and controller.epoch == 1:
            some = any_in(controller, controller.deleting, REPLICA_DELETION_SUCCESSFUL)
            if some and any_in(controller, controller.deleting, REPLICA_DELETION_STARTED):
                return True
    return False


def topic_deleted(s):
    """The topic is deleted, with everything that belongs to it."""
    gone = s.zk.ids[0] > 0 and s.zk.assignments[0].length == 0
    return gone and is_empty(s.zk.deleting) and is_empty(s.zk.configured)


def zombie_deletes(s):
    """A deposed controller whose session is open is about to delete the topic."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        deletes = controller.doing == DELETING_STATES or controller.doing == DELETING_TOPIC
        if deletes and controller.epoch < s.zk.epoch and session_open(s.zk, b):
            return True
    return False


def stale_stop(s):
    """StopReplica arrives with a lower controller epoch than its receiver has seen; it will be refused."""
    for epoch in range(len(s.network.stops) - 1):
        for b in range(len(s.brokers)):
            if epoch < s.brokers[b].seen_epoch and stop_arrives(s.network, epoch, 0, b):
                return True
    return False


def is_settled(s):
    """Whether no reassignment of the first partition is in progress, or asked for."""
    return is_empty(union(s.zk.adding[0], s.zk.removing[0])) and s.network.alteration.wanted == 0


def has_ended(s):
    """The same where only /admin/reassign_partitions tells of it."""
    return s.zk.targets[0].length == 0


def reassigned(s):
    """The first partition has been reassigned: the last broker has a replica."""
    return is_settled(s) and contains(replicas_of(s.zk.assignments[0]), len(s.brokers) - 1)


def is_assigned(s, first, second):
    """Whether the first partition has exactly these two replicas, in this order, and nothing else is asked for."""
    replicas = s.zk.assignments[0]
    if not is_settled(s) or replicas.length != 2:
        return False
    return replicas.slots[0] == first and replicas.slots[1] == second


def moved_partly(s):
    """One of two replicas was moved: the other stays and is the preferred one now."""
    return is_assigned(s, 1, 2)


def moved_in_place(s):
    """The preferred one of two replicas was moved, and the new one takes its place."""
    return is_assigned(s, 2, 1)


def reordered(s):
    """Another replica is the preferred one, and none was moved."""
    return is_assigned(s, 1, 0)


COMMON = (
    sometimes(deletion_started, requests=1),
    sometimes(deletion_successful, requests=1, replicas=2),
    sometimes(deletion_ineligible, requests=1, faults=1, replicas=2),
    sometimes(deletion_resumed, requests=1, faults=1, replicas=2),
    sometimes(topic_deleted, requests=1),
    sometimes(zombie_deletes, requests=1, faults=1, epochs=2),
    sometimes(stale_stop, requests=1, faults=1, epochs=2),
    sometimes(reassigned, requests=1, brokers="replicas"),
    sometimes(moved_partly, requests=1, brokers=3, replicas=2),
    sometimes(moved_in_place, requests=1, brokers=3, replicas=2),
    sometimes(reordered, requests=1, replicas=2),
)
OLD = tuple(goal.rebound({is_settled: has_ended}) for goal in COMMON)
