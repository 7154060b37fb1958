"""Mutants of topics: a kind of write without the check of the epoch (C4), or a deletion too early (C13)."""

from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.language.mutants.simple import YES, simple
from kafkaproof.spec.topics import fencing, progress
from kafkaproof.spec.topics.model import scope
from kafkaproof.spec.topics.mutants.topics import CALM
from kafkaproof.spec.topics.tree import delete_config, delete_marker, delete_state, delete_topic, set_topic
from kafkaproof.spec.topics.zookeeper import create_state, set_state


def create_state_unchecked(zk, b, p, epoch, leader, isr):
    """The first state created without the check of the epoch, late or not."""
    return create_state(zk, b, p, epoch, leader, isr)


def set_state_unchecked(zk, b, p, epoch, leader, isr):
    """A state written without the check of the epoch, late or not."""
    return set_state(zk, b, p, epoch, leader, isr)


def set_topic_unchecked(zk, b, p, context, epoch):
    """The topic znode written without the check of the epoch, late or not."""
    return set_topic(zk, b, p, context, epoch)


def delete_state_unchecked(zk, b, p, epoch):
    """A state deleted without the check of the epoch, late or not."""
    return delete_state(zk, b, p, epoch)


def delete_topic_unchecked(zk, b, epoch):
    """The topic znode deleted without the check of the epoch, late or not."""
    return delete_topic(zk, b, epoch)


def delete_config_unchecked(zk, b, epoch):
    """The configuration deleted without the check of the epoch, late or not."""
    return delete_config(zk, b, epoch)


def delete_marker_unchecked(zk, b, epoch):
    """The marker deleted without the check of the epoch, late or not."""
    return delete_marker(zk, b, epoch)


def unchecked(name, kills, checked, mistake, at):
    """A mutant that makes one kind of write unchecked."""
    return Mutant(f"{name}-late", first_paragraph(mistake), kills, everywhere({checked: mistake}), at)


FAULT = scope(epochs=2, faults=1, requests=1)
EXPANDED = scope(partitions=2, epochs=2, leader_epochs=3, faults=1, requests=1)
OF_PARTITIONS, OF_TOPICS = "partition_written_in_time", "topic_written_in_time"
MUTANTS = (
    unchecked("create-state", OF_PARTITIONS, fencing.checked_create_state, create_state_unchecked, EXPANDED),
    unchecked("set-state", OF_PARTITIONS, fencing.checked_set_state, set_state_unchecked, FAULT),
    unchecked("set-topic", OF_PARTITIONS, fencing.checked_set_topic, set_topic_unchecked, FAULT),
    unchecked("delete-state", OF_PARTITIONS, fencing.checked_delete_state, delete_state_unchecked, FAULT),
    unchecked("delete-topic", OF_TOPICS, fencing.checked_delete_topic, delete_topic_unchecked, FAULT),
    unchecked("delete-config", OF_TOPICS, fencing.checked_delete_config, delete_config_unchecked, FAULT),
    unchecked("delete-marker", OF_TOPICS, fencing.checked_delete_marker, delete_marker_unchecked, FAULT),
    simple("replicas_gone_first", progress.is_deleted, YES, CALM),
)
