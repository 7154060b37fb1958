"""The controller's events. They carry almost no data, so that the queue is the set of those that may come.

Which events wait is seen in what causes them: a watch that has fired, a request on its way, a configuration
that has changed, a timer. A controller takes one when no other is in progress; that they are taken in
any order covers the order in which they came.
"""

from spec.language.sets import contains, difference, intersection, is_empty, only, with_member
from spec.partition.context import (
    CHANGING, CONTROLLED_SHUTDOWN, DELETING_REQUEST, IDLE, NO_EPOCH, OFFLINE, PREFERRED, PREFERRED_BY_ZNODE, Broker,
    forget, has_leader, online, proceed, trigger_online, union,
)
from spec.partition.legal import NEW_PARTITION, OFFLINE_PARTITION, ONLINE_REPLICA
from spec.partition.network import leaves, put_request
from spec.partition.strategies import is_imbalanced, may_rebalance, prefers, replicas_of
from spec.partition.zookeeper import (
    brokers_changed, checked_delete_preferred, election_wanted, known_as_they_are, list_brokers, unclean_allowed,
)
from spec.zookeeper import EXPIRED, FENCED, LOST, Fate

PERCENTAGE = 10


def at_work(controller):
    """Whether the controller rules and waits for events."""
    return controller.epoch > 0 and controller.doing == IDLE


def broker_change(s, b: Broker):
    """A controller lists the registered brokers again, watch armed, and compares.

    Guards:  its watch on /brokers/ids has fired; it is at work.
    Request: OK; EXPIRED.
    Effects: those that came, bounced and went are to be handled.
    Kafka:   KafkaController.processBrokerChange, 2.2 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not brokers_changed(s.zk, b):
        return False

    answer = list_brokers(s.zk, b, controller)
    if answer == EXPIRED:
        forget(controller)
    else:
        proceed(controller)
    return True


def broker_startup(s, b: Broker):
    """A controller takes in the brokers that came: their replicas are Online, and they are told who leads.

    Guards:  some came, or bounced and were handled as failed.
    Effects: partitions that are New or Offline are to be elected.
    Kafka:   KafkaController.onBrokerStartup, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.doing != CHANGING or is_empty(controller.joined):
        return False

    joined = controller.joined
    controller.joined = 0
    controller.live = union(broker, controller.live, joined)
    replicas = intersection(joined, replicas_of(broker.assignment))
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        for r in range(len(partition.replicas)):
            if contains(replicas, r):
                partition.replicas[r] = ONLINE_REPLICA
        if partition.leader_epoch != NO_EPOCH:
            to = known_as_they_are(s.zk, b, replicas)
            put_request(s.network, controller.epoch, p, partition.leader, partition.leader_epoch, to)
    trigger_online(controller)
    proceed(controller)
    return True


def broker_failure(s, b: Broker):
    """A controller drops the brokers that bounced, who then come again, or else those that went.

    Guards:  none is left that came.
    Effects: partitions without an online leader are Offline, and to be elected; then the replicas of those
             brokers are to go offline.
    Kafka:   KafkaController.onBrokerFailure, onReplicasBecomeOffline, 2.2 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.doing != CHANGING or not is_empty(controller.joined):
        return False

    failed = controller.gone if is_empty(controller.bounced) else controller.bounced
    controller.joined = controller.bounced
    if is_empty(controller.bounced):
        controller.gone = 0
    controller.bounced = 0
    controller.live = difference(controller.live, failed)
    controller.leaving = difference(controller.leaving, failed)
    for partition in controller.partitions:
        if partition.leader_epoch != NO_EPOCH and not has_leader(controller, partition):
            partition.state = OFFLINE_PARTITION
    controller.replicas = intersection(failed, replicas_of(broker.assignment))
    trigger_online(controller)
    proceed(controller)
    return True


def controlled_shutdown(s, b: Broker, leaver: Broker):
    """A controller moves leaders away from a broker that asks to be shut down, and takes it out of the ISRs.

    Guards:  `leaver` asks; it is registered as far as `b` knows; it was not handled yet, or still leads.
    Effects: it counts as shutting down; where it leads, another is to be elected; where it follows, it is
             to go offline.
    Kafka:   KafkaController.processControlledShutdown, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if not at_work(controller) or not leaves(s.network, leaver) or not contains(controller.live, leaver):
        return False
    if contains(controller.leaving, leaver) and not leads_anything(controller, leaver):
        return False

    controller.leaving = with_member(controller.leaving, leaver)
    for p in range(len(controller.partitions)):
        known = controller.partitions[p].leader_epoch != NO_EPOCH
        if known and broker.assignment.length > 1 and contains(replicas_of(broker.assignment), leaver):
            if controller.partitions[p].leader == leaver:
                controller.todo = with_member(controller.todo, p)
            else:
                controller.removing = with_member(controller.removing, p)
    controller.replicas = 0 if is_empty(controller.removing) else only(leaver)
    controller.strategy = CONTROLLED_SHUTDOWN
    proceed(controller)
    return True


def leads_anything(controller, leaver):
    """Whether a broker leads some partition, as the controller remembers."""
    for partition in controller.partitions:
        if partition.leader == leaver:
            return True
    return False


def unclean_enabled(s, b: Broker):
    """A controller is told that the topic now allows unclean elections.

    Guards:  it does; `b` is at work; some partition is New or Offline.
    Effects: those are to be elected.
    Kafka:   KafkaController.processTopicUncleanLeaderElectionEnable, 2.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not unclean_allowed(s.zk) or not wants_leaders(controller):
        return False

    trigger_online(controller)
    proceed(controller)
    return True


def preferred_election(s, b: Broker):
    """A controller reads the operator's request for preferred leaders.

    Guards:  it exists; `b` is at work.
    Effects: partitions that somebody else leads are to be elected; then the request is to be deleted.
    Kafka:   KafkaController.processReplicaLeaderElection, ZkTriggered, 2.4 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if not at_work(controller) or not election_wanted(s.zk):
        return False

    controller.strategy = PREFERRED_BY_ZNODE
    for p in range(len(controller.partitions)):
        known = controller.partitions[p].leader_epoch != NO_EPOCH
        if known and not prefers(broker.assignment, controller.partitions[p].leader):
            controller.todo = with_member(controller.todo, p)
    proceed(controller)
    return True


def delete_request(s, b: Broker, fate: Fate):
    """A controller deletes the request for preferred leaders that it has fulfilled as far as it could.

    Guards:  it has.
    Request: OK; NONODE, perhaps because of its own lost request; FENCED; EXPIRED; LOST.
    Effects: the event ends; on LOST it asks again; on FENCED the reign is over.
    Kafka:   KafkaZkClient.deletePreferredReplicaElection, 2.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_REQUEST:
        return False

    answer = checked_delete_preferred(s.zk, b, controller.epoch, fate)
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
    elif answer != LOST:
        controller.strategy = OFFLINE
        proceed(controller)
    return True


def rebalance(s, b: Broker):
    """The timer of the automatic rebalance: leaders go back to the preferred replica.

    Guards:  `b` is at work; too many of the partitions that prefer a broker have another leader; some of
             those may be moved.
    Effects: those are to be elected.
    Kafka:   KafkaController.checkAndTriggerAutoLeaderRebalance, 2.8 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if not at_work(controller) or not out_of_balance(broker) or is_empty(to_rebalance(broker)):
        return False

    controller.todo = to_rebalance(broker)
    controller.strategy = PREFERRED
    proceed(controller)
    return True


def wants_leaders(controller):
    """Whether some partition is New or Offline."""
    for partition in controller.partitions:
        if partition.state == NEW_PARTITION or partition.state == OFFLINE_PARTITION:
            return True
    return False


def out_of_balance(broker):
    """Whether the automatic rebalance acts: every partition prefers the same broker."""
    led_by_others = 0
    for partition in broker.controller.partitions:
        if partition.leader_epoch != NO_EPOCH and not prefers(broker.assignment, partition.leader):
            led_by_others += 1
    return is_imbalanced(len(broker.controller.partitions), led_by_others, PERCENTAGE)


def to_rebalance(broker):
    """The partitions whose leader the automatic rebalance tries to move."""
    controller = broker.controller
    found = 0
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        if may_rebalance(broker.assignment, partition.isr, online(controller), partition.leader):
            found = with_member(found, p)
    return found
