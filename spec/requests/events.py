"""The controller's events, as far as they send something.

Elections are abstract: at any time a controller may write a new leader that is online, the same one again (as when a
follower leaves the ISR), or -1 when the leader is not online. The causes of events show which ones wait; a controller
may take them in any order, which includes the order in which they came.
"""

from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    intersection,
    is_empty,
    only,
    union,
    with_member,
    without_member,
)
from kafkaproof.spec.requests.batch import BARE, DELETE, FULL, STOP
from kafkaproof.spec.requests.context import (
    NOT_DELETED,
    QUEUED,
    STARTED,
    Broker,
    Leader,
    forget,
    has_leader,
    is_settled,
    live_replicas,
    online,
    recipients,
)
from kafkaproof.spec.requests.network import (
    FAILED,
    HANDLED,
    HEALED,
    NO_EVENT,
    close_channels,
    end_term,
    forget_events,
    open_channels,
    put_fault,
    send,
    send_leadership,
    send_metadata,
    take_event,
    take_in,
    told,
)
from kafkaproof.spec.requests.zookeeper import (
    brokers_changed,
    checked_delete_notification,
    checked_set_state,
    deletion_asked,
    list_brokers,
    notified,
)


def broker_change(s, b: Broker):
    """A controller lists the registered brokers again, and drops those that are gone or have bounced.

    Guards:  it is controller; its watch on /brokers/ids has fired.
    Request: OK; EXPIRED.
    Effects: their channels are discarded, their log directories forgotten. If a replica is gone the others are sent
             LeaderAndIsr, for any other broker UpdateMetadata; if the leader is gone, the election does that. Brokers
             that came are to be taken in.
    Kafka:   KafkaController.onBrokerFailure, 1.1 to 3.9; KafkaController.BrokerChange, 1.1 to 2.2;
             KafkaController.processBrokerChange, 2.3 to 3.9 (brokers that bounced: 2.2 to 3.9).
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.epoch == 0 or not brokers_changed(s.zk, controller):
        return False

    known = controller.live
    replicas = live_replicas(broker)
    list_brokers(s.zk, b, controller)
    gone = difference(known, controller.live)
    controller.leaving = difference(controller.leaving, gone)
    controller.offline_dirs = difference(controller.offline_dirs, gone)
    close_channels(s.network, controller)
    if has_leader(broker) and not is_empty(intersection(replicas, gone)):
        send_leadership(s.network, controller, recipients(broker))
    elif is_settled(broker) and not is_empty(gone):
        send_metadata(s.network, controller, controller.live)
    return True


def broker_startup(s, b: Broker):
    """A controller takes in the brokers that came, and forgets their offline log directories.

    Guards:  some came; no election is due.
    Effects: UpdateMetadata is sent to all, to the others first without partitions (here in one request); then
             LeaderAndIsr to the new brokers for their replicas. A deletion is resumed.
    Kafka:   KafkaController.onBrokerStartup, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.epoch == 0 or is_empty(controller.joined) or not is_settled(broker):
        return False

    joined = controller.joined
    others = controller.live
    controller.joined = 0
    controller.live = union(controller.live, joined)
    controller.offline_dirs = difference(controller.offline_dirs, joined)
    if controller.deletion == STARTED:
        controller.deletion = QUEUED
    forget_events(s.network, b, joined)
    open_channels(s.network, controller, joined)
    take_in(s.network, controller, others, joined, intersection(joined, live_replicas(broker)))
    return True


def change_leader(s, b: Broker, leader: Leader):
    """A controller elects a leader, writes it with the next leader epoch, and sends requests.

    Guards:  it is controller, and the topic is not to be deleted; `leader` is online, or nobody when the old one is
             not.
    Request: OK; FENCED; EXPIRED.
    Effects: LeaderAndIsr to the live replicas, UpdateMetadata to all; if refused, the term is over.
    Kafka:   PartitionStateMachine.doElectLeaderForPartitions, ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1 to
             3.9; KafkaController.maybeResign (on ControllerMovedException), 2.1 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.epoch == 0 or controller.deletion != NOT_DELETED:
        return False
    if leader == NOBODY and is_settled(broker):
        return False
    if leader != NOBODY and not contains(online(broker), leader):
        return False

    answer = checked_set_state(s.zk, b, controller.epoch, leader, controller.leader_epoch + 1)
    if answer == OK:
        controller.leader = leader
        controller.leader_epoch += 1
        send_leadership(s.network, controller, recipients(broker))
    else:
        end_term(s.network, controller.epoch)
        forget(controller)
    return True


def log_dir_event(s, b: Broker, r: Broker):
    """A controller is notified that a log directory of `r` has failed, and asks which replicas are on it.

    Guards:  it is controller; there is a notification of `r`.
    Request: OK; FENCED; EXPIRED.
    Effects: LeaderAndIsr to the replica of `r`, whose answer will show it.
    Kafka:   KafkaController.LogDirEventNotification, 1.0 to 2.2; KafkaController.processLogDirEventNotification, 2.3
             to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.epoch == 0 or not notified(s.zk, r):
        return False

    answer = checked_delete_notification(s.zk, b, controller.epoch, r)
    if answer == OK:
        send_leadership(s.network, controller, intersection(only(r), live_replicas(broker)))
    else:
        end_term(s.network, controller.epoch)
        forget(controller)
    return True


def handle_answer(s, b: Broker, r: Broker):
    """A controller handles an answer to LeaderAndIsr, of this term or of a former one.

    Guards:  an answer about a log directory waits in the queue of its process.
    Effects: dropped without a term. On KAFKA_STORAGE_ERROR the replica is on an offline directory; if that is new it
             goes offline and is sent StopReplica. On NONE it is not.
    Kafka:   KafkaController.LeaderAndIsrResponseReceived, 1.0 to 2.2;
             KafkaController.processLeaderAndIsrResponseReceived, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    event = told(s.network, b, r)
    if event == NO_EVENT or event == HANDLED:
        return False

    take_event(s.network, b, r)
    if controller.epoch > 0 and event == HEALED:
        controller.offline_dirs = without_member(controller.offline_dirs, r)
    if controller.epoch > 0 and event == FAILED and not contains(controller.offline_dirs, r):
        controller.offline_dirs = with_member(controller.offline_dirs, r)
        stopped = intersection(only(r), live_replicas(broker))
        send(s.network, controller, stopped, 0, BARE, stopped, STOP)
    return True


def controlled_shutdown(s, b: Broker, leaver: Broker):
    """A broker asks to be shut down: leadership is to move away from it, or its follower is to stop.

    Guards:  `b` is controller; `leaver` is live and not shutting down yet. This counts as a fault.
    Effects: a follower goes offline: StopReplica to it, LeaderAndIsr to the others. A leader is no longer online, so
             another is elected if there is one.
    Kafka:   KafkaController.ControlledShutdown, 1.1 to 2.2; KafkaController.processControlledShutdown, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.epoch == 0 or not contains(difference(controller.live, controller.leaving), leaver):
        return False

    put_fault(s.network)
    controller.leaving = with_member(controller.leaving, leaver)
    replicas = live_replicas(broker)
    if contains(replicas, leaver) and controller.leader != leaver and controller.deletion == NOT_DELETED:
        told_others = difference(recipients(broker), only(leaver))
        send(s.network, controller, controller.live, told_others, FULL, only(leaver), STOP)
    return True


def delete_topic(s, b: Broker):
    """A controller begins, or resumes, the deletion of the topic.

    Guards:  it is controller; the deletion is asked for, and has not begun since a broker last came.
    Effects: UpdateMetadata with leader -2 to all, StopReplica with delete to the live replicas. The answers, and what
             follows, are not modelled.
    Kafka:   TopicDeletionManager.resumeDeletions, onTopicDeletion, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if controller.epoch == 0 or not deletion_asked(s.zk) or controller.deletion == STARTED:
        return False

    controller.deletion = STARTED
    send(s.network, controller, controller.live, 0, FULL, live_replicas(broker), DELETE)
    return True
