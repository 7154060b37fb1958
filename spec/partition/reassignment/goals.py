"""What a controller that reassigns partitions is to come to: goals of exploration."""

from kafkaproof.spec.kafka.assignment import origin
from kafkaproof.spec.language.model import sometimes
from kafkaproof.spec.language.sets import contains, difference, is_empty, union
from kafkaproof.spec.partition.context import DELETING_REQUEST, MOVING, REASSIGN, WRITING_LEADER, is_known
from kafkaproof.spec.partition.reassignment.progress import is_reassigned, reassigned
from kafkaproof.spec.partition.reassignment.state import CHECKING, STOPPING_REMOVED, TELLING, WRITING_TARGET
from kafkaproof.spec.partition.zookeeper import listed


def stops_added(controller, p):
    """Whether a controller is to stop a replica that a reassignment had added."""
    stops = controller.doing == STOPPING_REMOVED and not controller.finishing
    return stops and contains(controller.moving, p)


def is_cancelled(s):
    """A controller stops a replica that a reassignment had added, and that nothing is to be made of any more."""
    for broker in s.brokers:
        controller = broker.controller
        for p in range(len(controller.partitions)):
            if stops_added(controller, p) and not is_reassigned(controller.partitions[p]):
                return True
    return False


def is_replaced(s):
    """The same, and the partition is reassigned to others."""
    for broker in s.brokers:
        controller = broker.controller
        for p in range(len(controller.partitions)):
            if stops_added(controller, p) and is_reassigned(controller.partitions[p]):
                return True
    return False


def supersedes(s):
    """A controller removes a partition from /admin/reassign_partitions, since an administrator asks for another
    reassignment of it.
    """
    for broker in s.brokers:
        if broker.controller.doing == DELETING_REQUEST and broker.controller.target.length > 0:
            return True
    return False


def is_resumed(s):
    """A controller goes on with a reassignment that an earlier one had begun."""
    for broker in s.brokers:
        if broker.controller.epoch > 1 and broker.controller.doing == CHECKING:
            if broker.controller.epoch == s.zk.epoch:
                return True
    return False


def is_completed_by_another(s):
    """A controller completes a reassignment that an earlier one had begun."""
    for broker in s.brokers:
        if broker.controller.epoch > 1 and broker.controller.doing == WRITING_TARGET:
            return True
    return False


def is_asked_again(s):
    """A reassignment is over, and a controller that does not know this takes up its request again."""
    for broker in s.brokers:
        if broker.controller.doing == CHECKING and broker.controller.epoch > 1:
            if is_empty(reassigned(broker.controller)):
                return True
    return False


def waits_for_dead(s):
    """A reassignment waits for a broker that is not live."""
    for broker in s.brokers:
        for partition in broker.controller.partitions:
            waits = broker.controller.epoch > 0 and is_reassigned(partition)
            if waits and not is_empty(difference(partition.adding, broker.controller.live)):
                return True
    return False


def moves_leader(s):
    """The leader is to move, because its replica is removed."""
    for broker in s.brokers:
        if broker.controller.doing == WRITING_LEADER and broker.controller.strategy == REASSIGN:
            return True
    return False


def fails_failover(s):
    """A failover has failed, because a partition that is being reassigned has no state."""
    for broker in s.brokers:
        controller = broker.controller
        for p in range(len(controller.partitions)):
            if controller.doing == MOVING and contains(controller.moving, p) and not is_known(controller.partitions[p]):
                return True
    return False


def keeps_leader(s):
    """At the end of a reassignment the leader stays, and its epoch is to be raised."""
    for broker in s.brokers:
        if broker.controller.doing == TELLING and broker.controller.finishing:
            return True
    return False


def is_reassigned_wholly(s):
    """All replicas of a partition have moved to other brokers, and no request is left."""
    for p in range(len(s.zk.assignments)):
        settled = is_empty(union(s.zk.adding[p], s.zk.removing[p])) and is_empty(listed(s.zk))
        had = origin(s.zk.assignments[p], s.zk.adding[p])
        if settled and s.zk.assignments[p].length > 0 and not contains(had, 1 if p > 1 else 0):
            return True
    return False


def is_listed_whole(s):
    """A partition is listed with as many replicas as a target may have."""
    for p in range(len(s.zk.targets)):
        if s.zk.targets[p].length == len(s.zk.targets[p].slots) - 1:
            return True
    return False


GOALS = (
    sometimes(is_reassigned_wholly, leader_epochs=2),
    sometimes(is_listed_whole, faults=1),
    sometimes(is_resumed, epochs=2, faults=2),
    sometimes(is_completed_by_another, epochs=2, faults=2),
    sometimes(is_asked_again, epochs=2, faults=2),
    sometimes(waits_for_dead, faults=2),
    sometimes(moves_leader, leader_epochs=2),
    sometimes(keeps_leader, replicas=2),
    sometimes(fails_failover, epochs=2, faults=2),
)
ALTERATION_GOALS = (
    sometimes(is_cancelled, faults=2),
    sometimes(is_replaced, brokers=3, faults=2),
    sometimes(supersedes, faults=2),
)
"""Where an administrator asks the controller for reassignments."""
