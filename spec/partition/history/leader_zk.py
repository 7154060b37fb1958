"""Partitions up to 2.6: leaders write the ISR themselves; up to 2.0 nothing checks a controller's writes.

A controller that was deposed in the middle of an event goes on: its write is checked against the version that it read,
and its successor, which has read the same version, has changed nothing. So the write is applied (KAFKA-6082). The
brokers obey the successor and refuse the zombie's request: ZooKeeper names a leader that nobody follows, and the
successor's context differs from ZooKeeper.

Up to 2.1 there are no broker epochs either: a broker that goes and comes between two reads was never away for the
controller, and accepts what was sent to its former process; and an operator's request for preferred leaders holds an
election even where the preferred replica leads already (from 1.1 on). Up to 2.2 a new controller does not take the
replicas of dead brokers offline, but elects at once. Up to 2.6 leaders announce a new ISR by a notification, which the
controller reads, with the state, and deletes. Not modelled: that up to 1.1 a replica stays Online whose broker fails
before the partition has a leader.
"""

from kafkaproof.spec.kafka.zookeeper import BADVERSION, EXPIRED, FENCED, OK
from kafkaproof.spec.language.sets import contains, difference, is_empty, union, with_member, without_member
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, Partition, forget, is_known, is_queued, remember_result
from kafkaproof.spec.partition.isr import Isr
from kafkaproof.spec.partition.progress import at_work, give_up
from kafkaproof.spec.partition.telling import tell_partition
from kafkaproof.spec.partition.znodes import ARMED
from kafkaproof.spec.partition.zookeeper import assigned, check_epoch, get_state, isr_changed, session_open


def nobody(controller):
    """The brokers whose replicas are to go offline when a term begins: none (up to 2.2).

    Kafka: ReplicaStateMachine.startup, 0.8 to 2.2.
    """
    return 0


def resign_at_once(controller, answer):
    """A failover has failed in a session that is over: the term ends before /controller is asked for (up to 2.0).

    Kafka: KafkaController.triggerControllerMove, 1.1 to 2.0.
    """
    forget(controller)


def deletes_any_controller(zk, b):
    """Whether a controller whose failover has failed deletes /controller: whoever owns it, if there is a session (up to
    2.0).

    Kafka: ZookeeperLeaderElector.resign, 0.8.1 to 0.10.2; KafkaController.triggerControllerMove, 0.11 to 2.0.
    """
    return session_open(zk, b)


def needs_any_election(controller, p):
    """Whether a preferred election is held: always, except for a topic queued for deletion (up to 2.1). A partition
    without a state gets its first one.

    Kafka: KafkaController.onPreferredReplicaElection, 0.8 to 2.1.
    """
    return controller.partitions[p].assignment.length > 0 and not is_queued(controller, p)


def never_fails(controller, p):
    """Whether an event that reads a request for preferred leaders fails before it elects: it does not ask who leads
    (up to 2.1).

    Kafka: KafkaController.onPreferredReplicaElection, 0.8 to 2.1.
    """
    return False


def list_broker_ids(zk, b, reader):
    """getChildren of /brokers/ids, watch armed, into `reader`, without broker epochs (up to 2.1): OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    zk.clients[b].watch = ARMED
    reader.joined = difference(zk.registered, reader.live)
    reader.gone = difference(reader.live, zk.registered)
    return OK


def check_nothing(zk, b, epoch):
    """No check of /controller_epoch (up to 2.0): OK."""
    return OK


def take_list_at_once(controller):
    """The brokers that were listed are live at once, before any of them is handled (up to 2.1): nobody who has gone is
    elected when others come.

    Kafka: ReplicaStateMachine.BrokerChangeListener, 0.8 to 0.10.2; KafkaController.BrokerChange, 0.11 to 2.1.
    """
    controller.live = difference(union(controller.live, controller.joined), controller.gone)


def set_isr(zk, b, p, leader_epoch, isr):
    """setData of the ISR by a leader that knows the version, and a notification: OK, BADVERSION or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    state = zk.partitions[p]
    if state.leader_epoch != leader_epoch:
        return BADVERSION
    state.leader = b
    state.isr = isr
    state.readers = 0
    zk.isr_changed = with_member(zk.isr_changed, p)
    return OK


def take_notification(zk, b, p, epoch, reader):
    """getData of a state that a leader has changed, and delete of the notification: as `get_state`."""
    answer = get_state(zk, b, p, reader)
    if answer == OK:
        zk.isr_changed = without_member(zk.isr_changed, p)
    return answer


def checked_take_notification(zk, b, p, epoch, reader):
    """The same where the deletion is checked against the epoch (from 2.1 on): FENCED if it is refused, once the state is
    read.

    Kafka: KafkaZkClient.deleteIsrChangeNotifications, 2.1 to 2.6.
    """
    if check_epoch(zk, b, epoch) == OK:
        return take_notification(zk, b, p, epoch, reader)
    get_state(zk, b, p, reader)
    return FENCED


def change_isr(s, b: Broker, p: Partition, isr: Isr):
    """A leader writes the ISR that it proposes, on the version that it knows.

    Guards:  `b` believes that it leads; the ISR consists of replicas and includes `b`.
    Request: OK; BADVERSION; EXPIRED.
    Effects: none at the broker in the model; on OK there is a notification.
    Kafka:   Partition.updateIsr, 0.8 to 2.3; expandIsr, shrinkIsr, 2.4 to 2.6; ReplicationUtils.updateLeaderAndIsr,
             0.8.2 to 2.6.
    """
    broker = s.brokers[b]
    replica = broker.replicas[p]
    if not broker.up or replica.leader != b or not contains(isr, b):
        return False
    if not is_empty(difference(isr, assigned(s.zk, p))):
        return False

    set_isr(s.zk, b, p, replica.leader_epoch, isr)
    return True


def isr_notification(s, b: Broker, p: Partition):
    """A controller reads the state that a leader has changed, and deletes the notification.

    Guards:  there is a notification; `b` is at work, and knows of `p`.
    Request: OK; NONODE; EXPIRED; FENCED where the deletion is checked against the epoch (2.1+).
    Effects: the cache is what was read, and every live broker is told; on FENCED the term is over, but they are told.
             (In Kafka the deletion is a request of its own, and is refused also where the controller is deposed only
             after the read. The notification that is left then says nothing new to its successor.)
    Kafka:   IsrChangeNotificationListener, 0.9 to 0.10.2; KafkaController.IsrChangeNotification, 0.11 to 2.2;
             KafkaController.processIsrChangeNotification, 2.3 to 2.6.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not isr_changed(s.zk, p) or not is_known(controller.partitions[p]):
        return False

    answer = take_notification(s.zk, b, p, controller.epoch, controller.result)
    if controller.result.leader_epoch != NO_EPOCH:
        remember_result(controller, controller.partitions[p])
        tell_partition(s, b, p, controller.live)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    return True
