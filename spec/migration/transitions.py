"""The transitions of the migration by who takes them, and its seams."""

from kafkaproof.spec.election import active_controller, session
from kafkaproof.spec.election import faults as election_faults
from kafkaproof.spec.election import requests as control
from kafkaproof.spec.election.model import SEND
from kafkaproof.spec.kafka import zookeeper as kafka
from kafkaproof.spec.kafka.declarations import BROKER, ZOOKEEPER, acting, asking, faults
from kafkaproof.spec.language.domains import Number
from kafkaproof.spec.language.model import FAULT, Arrow, Transition
from kafkaproof.spec.migration import brokers, claiming, directions, driver, quorum, requests, writing, zookeeper

CONTROLLER, LOG, OPERATOR = "controller {c}", "metadata log", "operator"
ASK = Arrow(CONTROLLER, ZOOKEEPER, "{answer}", "request")
APPEND = Arrow(CONTROLLER, LOG, "records", "message")
ANSWERED = {"delivery": Number(kafka.ANSWERED, kafka.ANSWERED)}

SEAMS = (
    kafka.open_session,
    kafka.create_broker,
    kafka.read_controller,
    kafka.get_epoch,
    kafka.create_controller_and_set_epoch,
    kafka.read_state,
    kafka.checked_set_state,
    kafka.checked_delete_notification,
    zookeeper.checked_delete_marked,
    zookeeper.read_migration,
    zookeeper.read_version,
    zookeeper.read_owner,
    zookeeper.claim_controller,
    zookeeper.set_migration,
    zookeeper.set_any_migration,
    zookeeper.read_topic,
    zookeeper.checked_create_topic,
    zookeeper.checked_create_state,
    zookeeper.checked_update_state,
    zookeeper.checked_delete_state,
    zookeeper.checked_delete_topic,
    zookeeper.checked_delete_marker,
)


def writes(*functions):
    """Transitions of a driver that make a request to ZooKeeper."""
    return tuple(Transition(function, CONTROLLER, (ASK,)) for function in functions)


def acts(*functions):
    """Transitions of a driver that make no request to ZooKeeper."""
    return tuple(Transition(function, CONTROLLER) for function in functions)


BROKERS = (
    *asking(brokers.start, brokers.handle_change, brokers.reopen, brokers.write_state, only=ANSWERED),
    *asking(brokers.finish_deletion),
    Transition(session.notice_expiry, BROKER, (Arrow(ZOOKEEPER, BROKER, "session expired", "event"),)),
)
DRIVERS = (
    *writes(driver.recover, driver.hear),
    *acts(driver.load, driver.wait_for_quorum, driver.wait_for_brokers),
    *writes(claiming.look_for_owner, claiming.claim, claiming.begin_to_rule),
    Transition(claiming.copy_metadata, CONTROLLER, (ASK, APPEND)),
    Transition(claiming.complete_copy, CONTROLLER, (APPEND,)),
    *writes(claiming.record_copy, writing.clear_deletions),
    *acts(writing.synchronise),
    *writes(
        writing.create_topic, writing.create_state, writing.update_state, writing.delete_state, writing.delete_topic
    ),
    *acts(writing.tell_all, writing.take_record),
    *writes(writing.record_offset),
)
REQUESTS = (
    Transition(active_controller.send, BROKER, (SEND,)),
    Transition(requests.tell_broker, CONTROLLER, (Arrow(CONTROLLER, "broker {to}", "control request"),)),
    *acting(control.leader_and_isr, control.update_metadata, control.stop_replica),
    *acting(requests.receive_in_kraft, requests.load_record),
)
USERS = faults(quorum.commit_topic, quorum.commit_deletion, quorum.commit_leader, lane=LOG) + faults(
    directions.ask_for_deletion
)
OPERATORS = faults(
    directions.provision,
    directions.finalize,
    directions.go_back,
    directions.take_away,
    directions.delete_controller,
    directions.delete_migration,
    lane=OPERATOR,
) + faults(
    directions.enter_migration,
    directions.move_to_kraft,
    directions.return_to_migration,
    directions.leave_migration,
    lane=BROKER,
)
FAULTS = (
    Transition(quorum.elect, LOG, kind=FAULT),
    Transition(quorum.crash, CONTROLLER, kind=FAULT),
    *faults(election_faults.expire_session),
)
