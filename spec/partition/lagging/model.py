"""The partition system with stale reads, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.language.model import concerning
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition.lagging import zookeeper
from kafkaproof.spec.partition.lagging.faults import catch_up
from kafkaproof.spec.partition.lagging.properties import GOALS, SAFETY
from kafkaproof.spec.partition.model import (
    ADMIN_ELECTIONS,
    FENCED,
    LOG_DIRS,
    REQUESTS_AND_REBALANCE,
    SHUTDOWNS_AND_PREFERRED,
    TWO_FAULTS,
    scope,
)

OFF = {each.function for each in LOG_DIRS + ADMIN_ELECTIONS} | SHUTDOWNS_AND_PREFERRED | REQUESTS_AND_REBALANCE
"""What reads nothing but registrations and states is explored in `fenced` alone."""
TRANSITIONS = tuple(each for each in FENCED.transitions if each.function not in OFF) + declared.faults(catch_up)
LAGGING = replace(
    FENCED,
    variant="lagging",
    releases=Releases("3.4", "3.9"),
    story="The ZooKeeper server of a controller may lag behind what others write: it lists brokers that have gone, and "
    "elects from states of the past. Versions and the epoch are compared when it writes.",
    state=zookeeper.STATE,
    initial=zookeeper.initial,
    transitions=TRANSITIONS,
    properties=concerning(SAFETY, TRANSITIONS) + GOALS,
    scope=scope(),
    expected={scope(): {}, scope(brokers=3): {}, TWO_FAULTS: {}},
    others={"quick": scope(), "deep": TWO_FAULTS},
).rebound(zookeeper.LAGGING)
MODELS = (LAGGING,)
