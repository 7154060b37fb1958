"""Lemmas of control requests: what a replica will know when all that is on its way to it has arrived.

In short: a controller by right has told every replica that it takes for working, in the order in which it decided; the
first that a broker hears of a term is who lives, so that it knows whom it is to follow as alive.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, is_empty, union
from kafkaproof.spec.requests.batch import NO_STOP, NO_UPDATE, NOTHING, first_kind
from kafkaproof.spec.requests.context import Broker
from kafkaproof.spec.requests.network import NO_EVENT


def is_known(s, c, r):
    """Whether `c` rules by right, and knows the present registration of `r` as live."""
    controller = s.brokers[c].controller
    if controller.epoch == 0 or controller.epoch != s.zk.epoch or not contains(controller.live, r):
        return False
    return contains(s.zk.registered, r) and controller.epochs[r] == s.zk.epochs[r]


def without_term_is_nothing(s, c: Broker):
    """Who does not rule remembers no brokers."""
    controller = s.brokers[c].controller
    brokers = union(controller.joined, union(controller.leaving, controller.offline_dirs))
    return controller.epoch > 0 or is_empty(union(controller.live, brokers))


def listed_was_registered(s, c: Broker, r: Broker):
    """A registration that a controller has listed has happened."""
    return s.brokers[c].controller.epochs[r] <= s.zk.epochs[r]


def listed_is_live(s, c: Broker, r: Broker):
    """Who is registered as a controller has listed it is live for it, or is to be taken in."""
    controller = s.brokers[c].controller
    listed = contains(s.zk.registered, r) and controller.epochs[r] == s.zk.epochs[r]
    return controller.epoch == 0 or not listed or contains(union(controller.live, controller.joined), r)


def channel_is_to_listed(s, c: Broker, r: Broker):
    """The requests of a controller name the registration that it has listed."""
    controller = s.brokers[c].controller
    if controller.epoch == 0 or not contains(controller.live, r):
        return True
    return s.network.channels[controller.epoch][r].broker_epoch == controller.epochs[r]


def late_is_former(s, c: Broker, r: Broker):
    """What is left of a channel that a controller has discarded is for a former registration, or one that has ended."""
    controller = s.brokers[c].controller
    channel = s.network.channels[controller.epoch][r]
    if controller.epoch == 0 or first_kind(channel.late) == NOTHING or channel.late_epoch < s.zk.epochs[r]:
        return True
    return channel.late_epoch == s.zk.epochs[r] and not contains(s.zk.registered, r)


def hears_first_who_lives(s, c: Broker, r: Broker):
    """The first that a broker hears of a term is UpdateMetadata."""
    if not is_known(s, c, r) or s.brokers[r].seen_epoch == s.zk.epoch:
        return True
    channel = s.network.channels[s.zk.epoch][r]
    first = channel.queue.slots[0]
    return channel.queue.length > 0 and not first.leader_and_isr and first.update != NO_UPDATE


def alive_before(s, r, epoch, end):
    """Whom a broker will know as alive when as many batches of a term have arrived."""
    alive = s.brokers[r].alive
    queue = s.network.channels[epoch][r].queue
    for i in range(len(queue.slots) - 1):
        if i < end and queue.slots[i].update != NO_UPDATE:
            alive = queue.slots[i].alive
    return alive


def live_will_be_known(s, c: Broker, r: Broker):
    """Whom the controller by right knows as live everybody will know as alive."""
    if not is_known(s, c, r):
        return True
    queue = s.network.channels[s.zk.epoch][r].queue
    return is_empty(difference(s.brokers[c].controller.live, alive_before(s, r, s.zk.epoch, queue.length)))


def has_live_leader(controller):
    """Whether the leader that a controller remembers is a broker that it knows as live."""
    return controller.leader != NOBODY and contains(controller.live, controller.leader)


def leader_will_be_known(s, c: Broker, r: Broker):
    """Who is told to follow the present leader, if that is live, will know it as alive by then."""
    controller = s.brokers[c].controller
    if not is_known(s, c, r) or not has_live_leader(controller) or controller.leader == r:
        return True
    queue = s.network.channels[s.zk.epoch][r].queue
    for i in range(len(queue.slots) - 1):
        if i < queue.length and queue.slots[i].leader_and_isr:
            known = contains(alive_before(s, r, s.zk.epoch, i), controller.leader)
            if queue.slots[i].leader_epoch == controller.leader_epoch and not known:
                return False
    return True


def offline_was_told(s, c: Broker, r: Broker):
    """A controller takes a log directory for offline only after it has handled an answer that says so."""
    controller = s.brokers[c].controller
    if controller.epoch == 0 or s.network.answers[c][r] != NO_EVENT:
        return True
    return not contains(controller.offline_dirs, r)


def is_expected(s, c, r):
    """Whether a replica is to do what the controller by right says, and no answer of it says otherwise."""
    if not is_known(s, c, r) or s.zk.deleting or s.brokers[r].dir_failed:
        return False
    if s.network.answers[c][r] != NO_EVENT or contains(s.brokers[c].controller.leaving, r):
        return False
    return contains(replicas_of(s.brokers[r].assignment), r)


def expected_is_not_stopped(s, c: Broker, r: Broker):
    """No StopReplica is on its way to such a replica."""
    if not is_expected(s, c, r):
        return True
    for batch in s.network.channels[s.zk.epoch][r].queue.slots:
        if batch.stop != NO_STOP:
            return False
    return True


def expected_will_follow(s, c: Broker, r: Broker):
    """Such a replica has the leader epoch of a live leader, or LeaderAndIsr of it is on its way."""
    controller = s.brokers[c].controller
    if not is_expected(s, c, r) or not has_live_leader(controller):
        return True
    for batch in s.network.channels[s.zk.epoch][r].queue.slots:
        if batch.leader_and_isr and batch.leader_epoch == controller.leader_epoch:
            return True
    heard = s.brokers[r].seen_epoch == s.zk.epoch
    return heard and s.brokers[r].replica.leader_epoch == controller.leader_epoch


CONVERGENCE = (
    without_term_is_nothing,
    listed_was_registered,
    listed_is_live,
    channel_is_to_listed,
    late_is_former,
    hears_first_who_lives,
    live_will_be_known,
    leader_will_be_known,
    offline_was_told,
    expected_is_not_stopped,
    expected_will_follow,
)
