"""Brokers come, go, and ask to be shut down.

Events carry almost no data, so the queue is the set of events that may come. Their causes show which events wait: a
watch that has fired, a request on its way, a configuration that has changed, a timer. A controller handles one when no
other is in progress. It may take them in any order, which includes the order in which they came.
"""

from kafkaproof.spec.kafka.state_machines import ONLINE_REPLICA
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import EXPIRED
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union, with_member
from kafkaproof.spec.partition.context import CHANGING, CONTROLLED_SHUTDOWN, Broker, is_known, is_queued, replicas_move
from kafkaproof.spec.partition.network import leaves
from kafkaproof.spec.partition.progress import (
    at_work,
    give_up,
    hosts,
    mark_offline_leaders,
    proceed,
    take_offline,
    trigger_online,
)
from kafkaproof.spec.partition.telling import is_failure_told, stop_fetching, tell_brokers, tell_newcomers, tell_started
from kafkaproof.spec.partition.zookeeper import brokers_changed, list_brokers


def broker_change(s, b: Broker):
    """A controller lists the registered brokers again, watch armed, and compares.

    Guards:  its watch on /brokers/ids has fired; it is at work.
    Request: OK; EXPIRED.
    Effects: those that came, bounced and went are to be handled; on EXPIRED the event fails.
    Kafka:   ReplicaStateMachine.BrokerChangeListener, 0.8 to 0.10.2; KafkaController.BrokerChange, 0.11 to 2.2;
             KafkaController.processBrokerChange, 2.3 to 3.9 (brokers that bounced: KIP-380, 2.2 to 3.9).
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not brokers_changed(s.zk, b):
        return False

    answer = list_brokers(s.zk, b, controller)
    if answer == EXPIRED:
        give_up(s, b, answer)
    else:
        take_list(controller)
        proceed(controller)
    return True


def take_list(controller):
    """Who is live changes only as the brokers that came, bounced and went are handled.

    Kafka: KafkaController.BrokerChange, 2.2; KafkaController.processBrokerChange, 2.3 to 3.9.
    """
    return 0


def forget_failures(broker, members):
    """Forget which log directories of some brokers have failed; late answers of these brokers do not count."""
    for r in range(len(broker.errors)):
        if contains(members, r):
            broker.errors[r] = 0
    for partition in broker.controller.partitions:
        partition.failed = difference(partition.failed, members)


def start_on(controller, partition, members):
    """Replicas of some brokers are Online; returns the brokers that have one. A dead state machine moves none."""
    if not replicas_move(controller):
        return 0
    hosting = intersection(members, replicas_of(partition.assignment))
    for r in range(len(partition.replicas)):
        if contains(hosting, r):
            partition.replicas[r] = ONLINE_REPLICA
    return intersection(hosting, controller.live)


def broker_startup(s, b: Broker):
    """A controller takes in the brokers that came: their replicas are Online, and LeaderAndIsr is sent to them.

    Guards:  some brokers came, or bounced and were handled as failed.
    Effects: their log directories are taken to work; the others are told that they live, and they are told who leads
             each partition; partitions that need a leader are to be elected.
    Kafka:   KafkaController.onBrokerStartup, 0.8 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.doing != CHANGING or is_empty(controller.joined):
        return False

    joined = controller.joined
    controller.joined = 0
    controller.live = union(controller.live, joined)
    forget_failures(broker, joined)
    tell_newcomers(s, b, joined)
    for p in range(len(controller.partitions)):
        tell_started(s, b, p, start_on(controller, controller.partitions[p], joined))
    trigger_online(controller)
    proceed(controller)
    return True


def broker_failure(s, b: Broker):
    """A controller handles brokers that failed: first those that bounced, which then come again, else those that went.

    Guards:  no broker that came is left to handle.
    Effects: partitions without an online leader are Offline, and to be elected; then the replicas of those
             brokers are to go offline, unless the topic is queued for deletion. Where nothing of that tells who is
             live, all are told at once (in Kafka at the end).
    Kafka:   KafkaController.onBrokerFailure, 0.8 to 3.9; onReplicasBecomeOffline, 1.0 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.doing != CHANGING or not is_empty(controller.joined):
        return False

    dead = controller.gone if is_empty(controller.bounced) else controller.bounced
    controller.joined = controller.bounced
    if is_empty(controller.bounced):
        controller.gone = 0
    controller.bounced = 0
    controller.live = difference(controller.live, dead)
    controller.leaving = difference(controller.leaving, dead)
    forget_failures(broker, dead)
    controller.replicas = intersection(dead, hosts(controller))
    mark_offline_leaders(controller)
    trigger_online(controller)
    if is_failure_told(controller, dead):
        tell_brokers(s, b, controller.live)
    proceed(controller)
    return True


def controlled_shutdown(s, b: Broker, leaver: Broker):
    """A controller moves leadership away from a broker that asks for a controlled shutdown, and removes it from the
    ISRs.

    Guards:  `leaver` asks; it is registered as far as `b` knows; it has not been handled yet, or still leads.
    Effects: it counts as shutting down; where it leads, another is to be elected; where it follows, it is
             told to fetch no more, and is to go offline; neither if the topic is queued for deletion. (In Kafka each further
             request does all of it again, also where the broker leads nothing any more. Not modelled: that only makes
             more rounds, and up to 3.2 takes the broker out of an ISR that it has joined again.)
    Kafka:   KafkaController.shutdownBroker, 0.8 to 1.0; doControlledShutdown, 0.11 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not leaves(s.network, leaver) or not contains(controller.live, leaver):
        return False
    if contains(controller.leaving, leaver) and not leads_anything(controller, leaver):
        return False

    controller.leaving = with_member(controller.leaving, leaver)
    controller.strategy = CONTROLLED_SHUTDOWN
    followed = 0
    for p in range(len(controller.partitions)):
        if is_moved_away(controller, p, leaver) and controller.partitions[p].leader == leaver:
            controller.todo = with_member(controller.todo, p)
        elif is_moved_away(controller, p, leaver):
            followed = with_member(followed, p)
            stop_fetching(s, b, p, leaver)
    take_offline(controller, leaver, followed)
    proceed(controller)
    return True


def is_moved_away(controller, p, leaver):
    """Whether a controlled shutdown touches a partition: on the broker, replicated, known, not to be deleted.

    Kafka: KafkaController.doControlledShutdown, 2.1 to 3.9.
    """
    partition = controller.partitions[p]
    hosted = contains(replicas_of(partition.assignment), leaver) and partition.assignment.length > 1
    return hosted and is_known(partition) and not is_queued(controller, p)


def leads_anything(controller, leaver):
    """Whether a broker leads some partition that a controlled shutdown touches, as the controller remembers."""
    for p in range(len(controller.partitions)):
        if controller.partitions[p].leader == leaver and is_moved_away(controller, p, leaver):
            return True
    return False
