"""Log directories that fail (1.0+): the broker notifies, the controller sends LeaderAndIsr again, and the answers say
which replicas are lost.

The notification names only the broker. The controller sends LeaderAndIsr for all its replicas once more, and the answer
for each lost one is KAFKA_STORAGE_ERROR. Such an answer waits in the event queue of its receiver's process, and may be
handled in a later term. Answers without an error, which would remove a mark, are not modelled; they matter only where a
restart goes unnoticed (up to 2.1). A process that ends because its last log directory has failed is not modelled
either. The log directories of a process that starts work.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, OK
from kafkaproof.spec.language.sets import contains, difference, is_empty, with_member, without_member
from kafkaproof.spec.partition.brokers import start_on
from kafkaproof.spec.partition.context import DELETING_EVENTS, Broker, Partition
from kafkaproof.spec.partition.network import error_arrives, take_error
from kafkaproof.spec.partition.progress import (
    at_work,
    give_up,
    mark_offline_leaders,
    proceed,
    take_offline,
    trigger_online,
)
from kafkaproof.spec.partition.telling import tell_started
from kafkaproof.spec.partition.zookeeper import create_log_dir_event, log_dir_events, read_log_dir_events


def notify(s, b: Broker):
    """A broker notifies the controller that a log directory has failed.

    Guards:  one has failed, and the broker has not notified yet.
    Request: OK; EXPIRED.
    Effects: on OK the notification exists. On EXPIRED there never is one, and the broker notices no later failure.
    Kafka:   LogDirUtils.propagateLogDirEvent, 1.0; KafkaZkClient.propagateLogDirEvent, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or not broker.unnotified:
        return False

    answer = create_log_dir_event(s.zk, b)
    if answer == OK:
        broker.unnotified = 0
    else:
        end_thread(broker)
    return True


def end_thread(broker):
    """The thread that notifies of failed log directories ends with an exception.

    Kafka: ReplicaManager.LogDirFailureHandler, 1.1 to 3.9; KafkaZkClient.propagateLogDirEvent, 1.1 to 3.9.
    """
    broker.unnotified = 0
    broker.deaf = 1


def log_dir_notification(s, b: Broker):
    """A controller reads which brokers have lost a log directory, and sends them LeaderAndIsr once more.

    Guards:  there are notifications that nobody has read; `b` is at work.
    Request: OK; EXPIRED.
    Effects: the replicas of those brokers are Online until they answer; then the notifications are to be deleted. On
             EXPIRED the event fails.
    Kafka:   KafkaController.onBrokerLogDirFailure, 1.0 to 3.9; KafkaController.LogDirEventNotification, 1.0 to 2.2;
             KafkaController.processLogDirEventNotification, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    named = log_dir_events(s.zk)
    if not at_work(controller) or is_empty(named):
        return False

    answer = read_log_dir_events(s.zk, b)
    if answer == EXPIRED:
        give_up(s, b, answer)
        return True
    for p in range(len(controller.partitions)):
        tell_started(s, b, p, start_on(controller, controller.partitions[p], named))
    controller.doing = DELETING_EVENTS
    return True


def receive_error(s, b: Broker, p: Partition, r: Broker):
    """A storage error, the answer of broker `r` to a request of this term, enters the event queue.

    Guards:  it arrives; `b` is controller.
    Effects: it waits until the event in progress is over; it is not lost when the term ends.
    Kafka:   ControllerBrokerRequestBatch.sendRequestsToBrokers (callback of LeaderAndIsr), 1.0 to 2.2;
             AbstractControllerBrokerRequestBatch.sendLeaderAndIsrRequest (callback), 2.3 to 3.9.
    """
    broker = s.brokers[b]
    epoch = broker.controller.epoch
    if epoch == 0 or not error_arrives(s.network, epoch, p, r):
        return False

    take_error(s.network, epoch, p, r)
    broker.errors[r] = with_member(broker.errors[r], p)
    return True


def storage_error(s, b: Broker, r: Broker):
    """A controller learns from the answer of broker `r` which replicas are lost.

    Guards:  storage errors of `r` wait; `b` is at work.
    Effects: replicas newly lost are not online; partitions without an online leader are Offline, and to be
             elected; then those replicas are to go offline, unless the topic is queued for deletion.
    Kafka:   KafkaController.onReplicasBecomeOffline, 1.0 to 3.9; KafkaController.LeaderAndIsrResponseReceived, 1.0 to
             2.2; KafkaController.processLeaderAndIsrResponseReceived, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    controller = broker.controller
    if not at_work(controller) or is_empty(broker.errors[r]):
        return False

    lost = broker.errors[r]
    broker.errors[r] = 0
    for p in range(len(controller.partitions)):
        if contains(controller.partitions[p].failed, r):
            lost = without_member(lost, p)
        elif contains(lost, p):
            controller.partitions[p].failed = with_member(controller.partitions[p].failed, r)
    if not is_empty(lost):
        mark_offline_leaders(controller)
        trigger_online(controller)
        take_offline(controller, r, difference(lost, controller.deleting))
    proceed(controller)
    return True
