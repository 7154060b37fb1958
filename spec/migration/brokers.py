"""Brokers that run with ZooKeeper: their elections and writes, in coarse steps of *election*."""

from kafkaproof.spec.election import active_controller, election, session
from kafkaproof.spec.election.active_controller import at_work
from kafkaproof.spec.election.broker_state import DOWN, lapse
from kafkaproof.spec.election.election import handle_change as take_change
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.election.session import start as start_process
from kafkaproof.spec.kafka.zookeeper import ANSWERED, EXPIRED
from kafkaproof.spec.language.combine import at_once
from kafkaproof.spec.migration.state import KRAFT_MODE
from kafkaproof.spec.migration.zookeeper import checked_delete_marked

ELECTION = (
    election.maybe_resign,
    election.look_for_controller,
    election.learn_epoch,
    election.register,
    active_controller.clean,
    active_controller.load,
)


def hear_of_change(s, b: Broker):
    """The controller thread of `b` handles the notification of its watch on /controller, and all that follows.

    Guards:  no event is in progress; the watch has fired.
    Request: MINE; OK (another's) or NONODE; EXPIRED.
    Effects: a term that is lost is given up; without a controller `b` stands for election, and begins its term.
    Kafka:   KafkaController.processControllerChange, processReelect, 2.3 to 3.9.
    """
    if not take_change(s, b):
        return False

    return True


handle_change = at_once("handle_change", hear_of_change, *ELECTION)
reopen = at_once("reopen", session.reopen, session.register_broker, *ELECTION)
write_state = at_once("write_state", active_controller.load, active_controller.write_state, election.maybe_resign)


def boot(s, b: Broker):
    """A process that runs with ZooKeeper starts.

    Guards:  broker `b` has no process; it is to run with ZooKeeper.
    Request: OK.
    Effects: it opens a session, and registers its id next.
    Kafka:   KafkaServer.startup, 1.1 to 3.9.
    """
    if s.brokers[b].session != DOWN or s.brokers[b].mode == KRAFT_MODE:
        return False

    start_process(s, b)
    return True


start = at_once("start", boot, session.register_broker, *ELECTION)


def finish_deletion(s, b: Broker):
    """A controller of ZooKeeper deletes the topic that users want to be deleted.

    Guards:  `b` is at work; /admin/delete_topics names the topic.
    Request: OK; FENCED; EXPIRED.
    Effects: the topic and the request are gone; on FENCED it looks who is controller when it hears of the change.
    Kafka:   TopicDeletionManager.completeDeleteTopic, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if not at_work(broker) or not s.zk.deleting:
        return False

    answer = checked_delete_marked(s.zk, b, broker.epoch, broker.epoch_version, ANSWERED)
    if answer == EXPIRED:
        lapse(broker)
    return True
