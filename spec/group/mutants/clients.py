"""Mutants of the variants whose clients forget their ids, and whose cache is updated after a marker."""

from kafkaproof.spec.group import transactions, validation
from kafkaproof.spec.group.history import clients as former_clients
from kafkaproof.spec.group.join import create_if_absent
from kafkaproof.spec.group.member import OUT
from kafkaproof.spec.group.mutants.group import ONE, mutant
from kafkaproof.spec.group.network import UNKNOWN_MEMBER_ID
from kafkaproof.spec.group.scopes import FORGOTTEN, scope
from kafkaproof.spec.group.sorts import Broker


def take_any_type(s, b: Broker):
    """A join creates the group before its protocol type is looked at."""
    create_if_absent(s.brokers[b].group)
    return True


def forgets_if_unknown(phase, verdict):
    """A client keeps its id at the end of its generation."""
    return verdict == UNKNOWN_MEMBER_ID


def leaves_without_an_id(client):
    """A client that has no member id leaves, too."""
    return client.phase != OUT


def never_in_log(broker, position):
    """The update of the cache takes every pending offset for one that is not yet in the log."""
    return True


FORGETFUL = (
    mutant("group-of-another-type", "refusal_changes_nothing", {validation.refuse_type: take_any_type}, ONE),
    mutant("id-kept", "forgets_as_told", {former_clients.forgets_its_id: forgets_if_unknown}, FORGOTTEN),
    mutant("leaves-without-an-id", "says_goodbye", {former_clients.leaves_with_an_id: leaves_without_an_id}, ONE),
)

SCHEDULED = (
    mutant("cache-with-the-marker", "marker_leaves_cache", {transactions.schedule: transactions.complete}, scope()),
    mutant("update-lost", "durable_when_updated", {transactions.in_flight: never_in_log}, scope()),
)
