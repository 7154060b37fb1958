"""A broker that is shutting down may win the election, and controls nothing (up to 0.10.2)."""

from dataclasses import replace

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.election.broker_state import BROKER, IDLE, NONE, OPEN, READING_EPOCH, resign, state_of
from kafkaproof.spec.election.history import zkclient
from kafkaproof.spec.election.history.zkclient import confirm_owner as confirm
from kafkaproof.spec.election.history.zkclient import create as create_and_rule
from kafkaproof.spec.election.history.zkclient_session import end_process as end_running_process
from kafkaproof.spec.election.model import ZKCLIENT
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.declarations import acting
from kafkaproof.spec.kafka.zookeeper import NOTHING, Delivery, end_session
from kafkaproof.spec.language.domains import NOBODY, Choice, Flag
from kafkaproof.spec.language.model import always

Shutdown = Choice("NO", "STOPPED", "ELECTED")
NO, STOPPED, ELECTED = Shutdown
SCOPE = {"brokers": 2, "epochs": 2, "faults": 0, "receivers": 1}
PATH = [
    "zkclient_session.start(b=0) -> OK",
    "zkclient_session.start(b=1) -> OK",
    "zkclient.look_for_controller(b=0) -> NONODE",
    "create(b=0, delivery=0) -> OK",
    "zkclient.look_for_controller(b=1) -> OK",
    "zkclient.learn_epoch(b=0) -> NONODE",
    "zkclient.raise_epoch(b=0, delivery=0) -> NONODE",
    "zkclient.found_epoch(b=0, delivery=0) -> OK",
    "zkclient.clean(b=0, delivery=0) -> OK",
    "zkclient.load(b=0) -> OK",
    "begin_shutdown(b=0)",
    "begin_shutdown(b=1)",
    "end_shutdown(b=0)",
    "zkclient_session.start(b=0) -> OK",
    "zkclient_session.handle_change(b=1)",
    "zkclient.data_event(b=1) -> NONODE",
    "zkclient.look_for_controller(b=1) -> NONODE",
    "create(b=1, delivery=0) -> OK",
]
"""Both brokers are restarted at nearly the same time; broker 0 is the first to be back."""
STATE = state_of(
    BROKER.extended(
        to_register=(Flag(), "must still create /brokers/ids/b in this session"),
        new_session=(Flag(), "the callback for a new session waits"),
        shutdown=(Shutdown, "the controller of this process is stopped; has created /controller nevertheless"),
    )
)


def end_process(broker):
    """The process is gone, and its shutdown with it."""
    end_running_process(broker)
    broker.shutdown = NO


def begin_shutdown(s, b: Broker):
    """A broker that is shutting down stops its controller, and keeps its session for a while.

    Guards:  no callback runs.
    Effects: it is not running any more, and has resigned; it stands for election as before.
    Kafka:   KafkaController.shutdown, 0.10.2.
    """
    broker = s.brokers[b]
    if broker.session != OPEN or broker.doing != IDLE or broker.shutdown != NO:
        return False

    resign(broker)
    broker.shutdown = STOPPED
    return True


def end_shutdown(s, b: Broker):
    """The broker closes its session, and ends.

    Guards:  its controller is stopped.
    Request: OK.
    Effects: its ephemerals are gone.
    Kafka:   KafkaServer.shutdown, 0.10.2.
    """
    broker = s.brokers[b]
    if broker.shutdown == NO or broker.session != OPEN or not s.zk.clients[b].session:
        return False

    end_session(s.zk, b)
    s.zk.clients[b].fired = NOTHING
    end_process(broker)
    return True


def leave_it_at_that(broker):
    """onControllerFailover does nothing in a process whose controller is stopped."""
    if broker.shutdown != NO and broker.doing == READING_EPOCH:
        broker.doing = IDLE
        broker.shutdown = ELECTED


def create(s, b: Broker, delivery: Delivery):
    """Broker `b` creates /controller, and does not begin to rule if its controller is stopped."""
    if not create_and_rule(s, b, delivery):
        return False

    leave_it_at_that(s.brokers[b])
    return True


def confirm_owner(s, b: Broker):
    """The same when an answer was lost."""
    if not confirm(s, b):
        return False

    leave_it_at_that(s.brokers[b])
    return True


def owner_controls(s):
    """While another broker lives, no broker that is shutting down is elected and left with nothing to do."""
    lives = 0
    for broker in s.brokers:
        lives += broker.session == OPEN
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        if broker.shutdown == ELECTED and broker.doing == IDLE and s.zk.controller == b and lives > 1:
            return False
    return True


def stopping():
    """`zkclient` with brokers that shut down as they did up to 0.10.2: first the controller, at last the session."""
    replaced = {zkclient.create: create, zkclient.confirm_owner: confirm_owner}
    model = ZKCLIENT.rebound({end_running_process: end_process} | replaced)
    added = acting(begin_shutdown, end_shutdown)
    return replace(
        model, state=STATE, transitions=model.transitions + added, expected={}, properties=(always(owner_controls),)
    )


def test_a_broker_that_is_shutting_down_is_elected_and_controls_nothing():
    explored = explore_here(stopping(), SCOPE)
    assert explored.outcome.distinct == 175_091 and explored.length("owner_controls") == len(PATH) + 1 == 19


def test_it_owns_controller_until_its_session_ends():
    trace = executed(stopping(), SCOPE, PATH)
    assert (trace.last.zk.controller, trace.last.brokers[1].ruling) == (1, NONE)
    answers = [
        "zkclient.look_for_controller(b=0) -> OK",
        "end_shutdown(b=1)",
        "zkclient_session.handle_change(b=0)",
        "zkclient.data_event(b=0) -> NONODE",
        "zkclient.look_for_controller(b=0) -> NONODE",
    ]
    assert executed(stopping(), SCOPE, PATH + answers).last.zk.controller == NOBODY
