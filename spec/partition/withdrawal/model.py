"""The partition system with an operator who deletes a list of reassignments, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import failover, triggers
from kafkaproof.spec.partition.model import FENCED, LOST_ANSWER, scope
from kafkaproof.spec.partition.withdrawal import withdrawal
from kafkaproof.spec.partition.withdrawal.properties import GOALS

ALONE = scope(brokers=1, replicas=1, leader_epochs=2, faults=3)
"""Two lists and a withdrawal; with one fault more another controller reads what the first one does not."""
HEARD_AT_LAST = scope(brokers=1, replicas=1, leader_epochs=2, faults=4)
VERDICTS = LOST_ANSWER | {"reassignment_dealt_with": 9}
WITHDRAWING = replace(
    FENCED,
    variant="withdrawing",
    releases=Releases("3.3", "3.9"),
    story="An operator gives up a list of reassignments by deleting it. Nobody sets the controller's watch again: it "
    "hears of no later list until another term begins (KAFKA-9478; the same from 1.1 on).",
    state=withdrawal.STATE,
    transitions=FENCED.transitions + declared.faults(withdrawal.withdraw_list),
    properties=tuple(p for p in FENCED.properties if p.kind != "sometimes") + GOALS,
    scope=ALONE,
    expected={ALONE: VERDICTS, HEARD_AT_LAST: VERDICTS},
    others={"quick": ALONE, "deep": HEARD_AT_LAST},
).rebound(
    {
        failover.load_state: withdrawal.load_state,
        triggers.reassignment: withdrawal.reassignment,
        triggers.delete_request: withdrawal.delete_request,
    }
)
MODELS = (WITHDRAWING,)
