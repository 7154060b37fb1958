"""The partition system with an operator who deletes a list of reassignments, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.language.model import among
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import failover, faults, triggers
from kafkaproof.spec.partition.model import ADMIN_ELECTIONS, FENCED, LOG_DIRS, SHUTDOWNS_AND_PREFERRED, scope
from kafkaproof.spec.partition.withdrawal import withdrawal
from kafkaproof.spec.partition.withdrawal.properties import GOALS

ALONE = scope(brokers=1, replicas=1, leader_epochs=2, faults=3)
"""Two lists and a withdrawal; with one fault more another controller reads what the first one does not."""
HEARD_AT_LAST = scope(brokers=1, replicas=1, leader_epochs=2, faults=4)
OFF = (
    {each.function for each in LOG_DIRS + ADMIN_ELECTIONS}
    | SHUTDOWNS_AND_PREFERRED
    | {faults.allow_unclean, triggers.unclean_enabled, faults.queue_deletion, triggers.topic_deletion}
)
"""What has nothing to do with lists of reassignments is explored in `fenced` alone."""
TRANSITIONS = tuple(each for each in FENCED.transitions if each.function not in OFF)
ASKED = tuple(each for each in FENCED.properties if each.name == "reassignment_dealt_with")
UNREAD = {"reassignment_dealt_with": 9}
WITHDRAWING = replace(
    FENCED,
    variant="withdrawing",
    releases=Releases("3.4", "3.9"),
    story="An operator gives up a list of reassignments by deleting it. Nobody sets the controller's watch again: it "
    "hears of no later list until another term begins (KAFKA-9478; the same from 1.1 on).",
    state=withdrawal.STATE,
    transitions=TRANSITIONS + declared.faults(withdrawal.withdraw_list),
    properties=among(ASKED, TRANSITIONS) + GOALS,
    scope=ALONE,
    expected={ALONE: UNREAD, HEARD_AT_LAST: UNREAD, scope(brokers=3, replicas=1, leader_epochs=2, faults=3): UNREAD},
    others={"quick": ALONE, "deep": HEARD_AT_LAST},
).rebound(
    {
        failover.load_state: withdrawal.load_state,
        triggers.reassignment: withdrawal.reassignment,
        triggers.delete_request: withdrawal.delete_request,
    }
)
MODELS = (WITHDRAWING,)
