"""Mutants of the election in steps: one deliberate mistake each, on the variants `electing-fenced` and `electing`."""

from kafkaproof.spec.election.history import requests
from kafkaproof.spec.kafka.zookeeper import (
    EXPIRED,
    OK,
    create_controller_and_set_epoch,
    outcome,
    put_controller,
    put_epoch,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.mutants.partition_mutant import mutant
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


MUTANTS = (
    mutant("registers-anyhow", "epoch_unique", {create_controller_and_set_epoch: register_anyhow}, AT),
    mutant("overwrites", "written_in_own_epoch", {create_controller_and_set_epoch: overwrite}, AT),
    mutant("raises-beside", "owner_is_newest", {create_controller_and_set_epoch: raise_beside}, AT),
    mutant("raises-by-two", "raised_by_one", {create_controller_and_set_epoch: raise_by_two}, AT),
    mutant(
        "creates-alone", "epoch_bound", {create_controller_and_set_epoch: create_alone, check_epoch: accept_all}, AT
    ),
    mutant("steps-unchecked", "written_by_owner", {check_epoch: accept_all}, AT),
)
TWO_STEPS = (mutant("creates-beside", "deletes_own", {requests.create_controller: create_beside}, scope(faults=0)),)
