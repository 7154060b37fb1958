"""The controller of `kafkaproof.spec.partition`, in coarser steps, with channels to the brokers.

What is read is written in the same step: nothing else writes a state here in between. Between the steps are the requests,
each of which was sent: a controller that is deposed in the middle of an event has sent what came before. A batch is sent
when a state machine has done all that it was asked for; a term that ends takes its channels with it.

The answers of ZooKeeper are not lost, log directories and brokers change one after the other as in *partition*, and an
offline partition is led by any replica that is online (unclean elections are allowed), since leaders do not change the
ISR here.
"""

from kafkaproof.spec.language.combine import at_once, for_each, then
from kafkaproof.spec.language.sets import union
from kafkaproof.spec.partition import brokers, failover, log_dirs, machines, triggers
from kafkaproof.spec.partition.context import ELECTING, REMOVING, Broker, Partition
from kafkaproof.spec.partition.deletion import brokers as deletion_brokers
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.network import error_arrives, send_batch
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.zookeeper import vacant
from kafkaproof.spec.requests.network import begin_term, close_channels, empty_queue, end_terms, open_channels


def drop_for_the_gone(s, b):
    """What was collected for brokers that are gone is not sent: they have no channels.

    Kafka: ControllerChannelManager.sendRequest, 0.8 to 3.9.
    """
    controller = s.brokers[b].controller
    close_channels(s.network, controller.epoch, controller.gone)


def send_requests(s, b):
    """What was collected is sent; where the term is over its channels are discarded."""
    controller = s.brokers[b].controller
    if controller.epoch > 0:
        drop_for_the_gone(s, b)
        send_batch(s.network, controller.epoch)
    else:
        end_terms(s.network, b)


def after_election(s, b):
    """After the last election of the event what was collected is sent; where the term is over its channels are
    discarded.
    """
    if s.brokers[b].controller.doing != ELECTING:
        send_requests(s, b)


def after_removal(s, b):
    """After the last removal of the event what was collected is sent; where the term is over its channels are
    discarded.
    """
    if s.brokers[b].controller.doing != REMOVING:
        send_requests(s, b)


def open_all(s, b):
    """There is a channel to every broker that was listed."""
    controller = s.brokers[b].controller
    if controller.epoch > 0:
        begin_term(s.network, b, controller.epoch)
        open_channels(s.network, controller.epoch, controller.live)


def change_channels(s, b):
    """The channels to brokers that are gone or have bounced are discarded; those that came get new ones."""
    controller = s.brokers[b].controller
    if controller.epoch > 0:
        close_channels(s.network, controller.epoch, union(controller.gone, controller.bounced))
        open_channels(s.network, controller.epoch, union(controller.joined, controller.bounced))
    else:
        end_terms(s.network, b)


def end_term(s, b):
    """If the term is over its channels are discarded; answers that wait are dropped, unless there is no /controller."""
    if s.brokers[b].controller.epoch == 0:
        end_terms(s.network, b)
        if not vacant(s.zk):
            empty_queue(s.network, b)


def end_session(s, b):
    """Its channels are discarded, and its event queue is empty."""
    end_terms(s.network, b)
    empty_queue(s.network, b)


def answer_waits(s, b: Broker, p: Partition, r: Broker):
    """A controller takes a storage error out of its event queue, with which broker `r` has answered LeaderAndIsr.

    Guards:  it waits there; `b` is at work.
    Effects: none.
    Kafka:   KafkaController.LeaderAndIsrResponseReceived, 1.0 to 2.2;
             KafkaController.processLeaderAndIsrResponseReceived, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not error_arrives(s.network, controller.epoch, p, r):
        return False

    return True


load_brokers = then(failover.load_brokers, open_all)
load_state = then(deletion_brokers.load_state, send_requests)
elect = at_once("elect", failover.elect, load_brokers, for_each(load_state, "p", "brokers[b].controller.partitions"))
resign = then(failover.resign, end_term)
reopen = then(failover.reopen, end_session)
broker_startup = then(deletion_brokers.broker_startup, send_requests)
broker_failure = then(deletion_brokers.broker_failure, send_requests)
broker_change = then(brokers.broker_change, change_channels)
controlled_shutdown = then(brokers.controlled_shutdown, send_requests)
elect_leader = then(at_once("elect_leader", machines.read_for_election, machines.write_leader), after_election)
remove_replica = then(at_once("remove_replica", machines.read_for_removal, machines.write_removal), after_removal)
log_dir_event = then(at_once("log_dir_event", log_dirs.log_dir_notification, triggers.delete_request), send_requests)
handle_answer = then(
    at_once("handle_answer", answer_waits, log_dirs.receive_error, deletion_brokers.storage_error), send_requests
)
topic_deletion = deletion.topic_deletion
resume_deletion = then(deletion.resume_deletion, send_requests)
stop_replicas = then(deletion.stop_replicas, send_requests)
replica_stopped = deletion.replica_stopped
complete_deletion = then(
    at_once(
        "complete_deletion",
        deletion.delete_state,
        deletion.delete_topic,
        deletion.delete_config,
        deletion.delete_marker,
    ),
    send_requests,
)
