"""The partition system with failovers that always end with a request for preferred leaders, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.partition import triggers
from kafkaproof.spec.partition.model import FENCED, QUICK, TWO_FAULTS, scope
from kafkaproof.spec.partition.requesting import properties, requesting

UNHEARD = {"request_heard": 8, "is_served_despite_loss": 8, "may_go_when_followed": 12}
REQUESTING = replace(
    FENCED,
    variant="requesting",
    story="A new controller deletes the operator's request for preferred leaders at the end of its failover, whether it "
    "has read one or not: what an operator asks for between the two is lost unheard. In `fenced` these two steps are left "
    "out where there is no request.",
    properties=properties.properties(FENCED.properties),
    scope=QUICK,
    expected={QUICK: UNHEARD, scope(brokers=3): UNHEARD},
    others={"quick": QUICK, "deep": TWO_FAULTS},
).rebound({triggers.reads_request: requesting.reads_always})
MODELS = (REQUESTING,)
