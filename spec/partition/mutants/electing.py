"""Mutants of the election in steps: one deliberate mistake each, on the variants `electing-fenced` and `electing`."""

from kafkaproof.spec.election.broker_state import CREATING, ELECTING, IDLE, end_election
from kafkaproof.spec.election.history import requests
from kafkaproof.spec.election.mutants.events import read_value_alone
from kafkaproof.spec.kafka.zookeeper import (
    EXPIRED,
    OK,
    create_controller_and_set_epoch,
    get_epoch,
    outcome,
    put_controller,
    put_epoch,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition.context import READING_BROKERS, Broker
from kafkaproof.spec.partition.electing import electing, state
from kafkaproof.spec.partition.failover import reopen
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import mutant, mutant_within
from kafkaproof.spec.partition.zookeeper import check_epoch, session_open

AT = scope()


def register_anyhow(zk, b, value, version, delivery):
    """/controller and the epoch are written whatever is there."""
    put_controller(zk, b)
    put_epoch(zk, value)
    return outcome(zk, OK, delivery)


def overwrite(zk, b, value, version, delivery):
    """Of two candidates that have read the same epoch both write it."""
    put_controller(zk, b)
    put_epoch(zk, value)
    return outcome(zk, OK, delivery)


def raise_beside(zk, b, value, version, delivery):
    """The epoch is raised though there is a /controller, which stays another's."""
    if zk.controller < 0:
        put_controller(zk, b)
    put_epoch(zk, zk.epoch + 1)
    return outcome(zk, OK, delivery)


def raise_by_two(zk, b, value, version, delivery):
    """An election raises the epoch by two."""
    put_controller(zk, b)
    put_epoch(zk, value + 1)
    return outcome(zk, OK, delivery)


def create_alone(zk, b, value, version, delivery):
    """The transaction creates /controller and does not raise the epoch, against which no write is checked."""
    put_controller(zk, b)
    return outcome(zk, OK, delivery)


def accept_all(zk, b, epoch):
    """No write of a controller is checked against the epoch, and its election has its steps."""
    return OK


def create_beside(zk, b, delivery):
    """A candidate counts as the owner of a /controller that another has created."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller == NOBODY:
        put_controller(zk, b)
    return outcome(zk, OK, delivery)


def end_and_remember(broker, doing):
    """A candidate keeps the epoch that it has read when its election is over."""
    broker.doing = doing


def stand_beside(s, b: Broker):
    """A broker becomes a candidate though there is a /controller."""
    broker = s.brokers[b]
    if not broker.up or broker.controller.epoch > 0 or broker.doing != IDLE or not session_open(s.zk, b):
        return False

    broker.doing = ELECTING
    return True


def begin_and_stand(broker, epoch, version):
    """A controller whose term begins stays a candidate."""
    broker.epoch = epoch
    broker.controller.epoch = epoch
    broker.controller.doing = READING_BROKERS
    end_election(broker, ELECTING)


def begin_at_rest(broker, epoch, version):
    """A controller whose term begins waits for events, and reads neither brokers nor states."""
    broker.epoch = epoch
    broker.controller.epoch = epoch
    end_election(broker, IDLE)


def begin_nothing(broker, epoch, version):
    """A candidate that finds its own epoch written waits for events, and begins no term."""
    end_election(broker, IDLE)


def lapse_and_stand(broker):
    """A candidate whose session has expired tries to register once more."""
    broker.doing = CREATING


def reopen_between(s, b: Broker):
    """A candidate registers again in a new session, and remains one."""
    return reopen(s, b)


MUTANTS = (
    mutant("registers-anyhow", "epoch_unique", {create_controller_and_set_epoch: register_anyhow}, AT),
    mutant("overwrites", "written_in_own_epoch", {create_controller_and_set_epoch: overwrite}, AT),
    mutant("raises-beside", "owner_is_newest", {create_controller_and_set_epoch: raise_beside}, AT),
    mutant("raises-by-two", "raised_by_one", {create_controller_and_set_epoch: raise_by_two}, AT),
    mutant(
        "creates-alone", "epoch_bound", {create_controller_and_set_epoch: create_alone, check_epoch: accept_all}, AT
    ),
    mutant("steps-unchecked", "written_by_owner", {check_epoch: accept_all}, AT),
    mutant("remembers-election", "election_forgotten", {end_election: end_and_remember}, AT),
    mutant("reads-value", "reads_what_is", {get_epoch: read_value_alone}, AT),
    mutant("stands-beside", "stands_for_nobody", {electing.stand: stand_beside}, AT),
    mutant("rules-and-stands", "rules_or_stands", {state.begin_term: begin_and_stand}, AT),
    mutant("term-at-rest", "term_begins", {state.begin_term: begin_at_rest}, AT),
    mutant_within("owner-waits", "owner_rules_or_stands", "confirm_epoch", {state.begin_term: begin_nothing}, AT),
    mutant("lapses-and-stands", "lapses", {state.lapse: lapse_and_stand}, AT),
    mutant("reopens-between", "reopens_at_rest", {electing.reopen: reopen_between}, AT),
)
TWO_STEPS = (mutant("creates-beside", "deletes_own", {requests.create_controller: create_beside}, scope(faults=0)),)
