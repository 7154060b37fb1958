"""The partition system with leader_recovery_state, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.language.model import among
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import state, zookeeper
from kafkaproof.spec.partition.model import (
    FENCED,
    LOG_DIRS,
    REQUESTS_AND_REBALANCE,
    SHUTDOWNS_AND_PREFERRED,
    TWO_FAULTS,
    scope,
)
from kafkaproof.spec.partition.recovering.properties import GOALS, SAFETY
from kafkaproof.spec.partition.recovering.zookeeper import ZOOKEEPER, put_state_and_mark

OFF = {each.function for each in LOG_DIRS} | SHUTDOWNS_AND_PREFERRED | REQUESTS_AND_REBALANCE
"""What elects from the ISR alone is explored in `fenced`."""
TRANSITIONS = tuple(each for each in FENCED.transitions if each.function not in OFF)
RECOVERING = replace(
    FENCED,
    variant="recovering",
    releases=Releases("3.4", "3.9"),
    story="An election from outside the ISR marks the partition RECOVERING in ZooKeeper (KIP-704). Its leader does not "
    "recover, but leads at once; the mark stays, through clean elections too, until a leader changes the ISR.",
    state=state.STATE.changed(zk=(ZOOKEEPER, "ZooKeeper")),
    transitions=TRANSITIONS,
    properties=among(SAFETY, TRANSITIONS) + GOALS,
    scope=TWO_FAULTS,
    expected={scope(): {}, TWO_FAULTS: {}, scope(brokers=3): {}},
    others={"quick": scope(), "deep": scope(brokers=3)},
).rebound({zookeeper.put_state: put_state_and_mark})
MODELS = (RECOVERING,)
