"""Lemmas of control requests: what a broker's metadata will say when all that is on its way to it has arrived.

In short: every UpdateMetadata lists who lives for its sender, and whoever dies is told of, unless the leader has to be
replaced: then the election will. With two brokers nothing but that election makes the leader count as online again.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, union
from kafkaproof.spec.requests.batch import DROPPING, FULL
from kafkaproof.spec.requests.context import Broker, live_replicas
from kafkaproof.spec.requests.lemmas.convergence import alive_before, is_known
from kafkaproof.spec.requests.network import HEALED, NO_EVENT


def own_registration_is_listed(s, c: Broker):
    """A controller has listed its own registration, and is live for itself."""
    controller = s.brokers[c].controller
    listed = controller.epochs[c] == s.zk.epochs[c] and contains(controller.live, c)
    return controller.epoch == 0 or listed


def listed_has_epoch(s, c: Broker, r: Broker):
    """Who is live for a controller, or is to be taken in, was registered."""
    controller = s.brokers[c].controller
    return not contains(union(controller.live, controller.joined), r) or controller.epochs[r] > 0


def own_error_stays(s, c: Broker):
    """A controller that was answered with a storage error by its own process has a log directory that failed."""
    event = s.network.answers[c][c]
    return event == NO_EVENT or event != HEALED and s.brokers[c].up and s.brokers[c].dir_failed


def election_is_due(s, c):
    """Whether the leader is not online for a controller, and no answer changes that: it is not live, or is itself."""
    controller = s.brokers[c].controller
    if controller.leader == NOBODY:
        return False
    if not contains(live_replicas(s.brokers[c]), controller.leader):
        return True
    return controller.leader == c and contains(union(controller.leaving, controller.offline_dirs), c)


def no_more_will_be_known(s, c: Broker, r: Broker):
    """Everybody will know as alive whom the controller by right knows as live, unless an election is due."""
    if not is_known(s, c, r) or election_is_due(s, c):
        return True
    queue = s.network.channels[s.zk.epoch][r].queue
    return alive_before(s, r, s.zk.epoch, queue.length) == s.brokers[c].controller.live


def is_told_of_partition(queue):
    """Whether UpdateMetadata with the partition is on its way."""
    for i in range(len(queue.slots) - 1):
        if i < queue.length and queue.slots[i].update == FULL:
            return True
    return False


def known_after(known, queue):
    """The leader in a metadata cache when all that is on its way has arrived."""
    for i in range(len(queue.slots) - 1):
        if i < queue.length and queue.slots[i].update == FULL:
            known = queue.slots[i].leader
        elif i < queue.length and queue.slots[i].update == DROPPING:
            known = NOBODY
    return known


def leader_will_be_told(s, c: Broker, r: Broker):
    """Everybody will have the leader that the controller by right remembers, unless the topic is to be deleted."""
    queue = s.network.channels[s.zk.epoch][r].queue
    if not is_known(s, c, r) or s.zk.deleting:
        return True
    if s.brokers[r].seen_epoch != s.zk.epoch and not is_told_of_partition(queue):
        return False
    return known_after(s.brokers[r].known_leader, queue) == s.brokers[c].controller.leader


METADATA = (own_registration_is_listed, listed_has_epoch, own_error_stays, no_more_will_be_known, leader_will_be_told)
