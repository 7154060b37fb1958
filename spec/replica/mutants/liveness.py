"""Mutants of liveness of replicas. They are not held to the writing rules."""

from kafkaproof.spec.language.mutants.mutant import mutant
from kafkaproof.spec.replica import leader
from kafkaproof.spec.replica.broker import LEADER, UNKNOWN_END, Broker
from kafkaproof.spec.replica.leader import learn_isr
from kafkaproof.spec.replica.model import scope
from kafkaproof.spec.replica.network import DONE, proposal_state, withdraw


def reach_nothing(offset, log):
    """A leader does not note how far its followers have fetched."""
    return UNKNOWN_END


def keep_isr(s, b: Broker):
    """A leader that hears that its proposal is written keeps the ISR that it had."""
    isr = s.brokers[b].isr
    if not learn_isr(s, b):
        return False
    s.brokers[b].isr = isr
    return True


def learn_and_wait(s, b: Broker):
    """A leader whose ISR is written does not look whether its high watermark may rise (KAFKA-13091, 2.7 to 3.0)."""
    broker = s.brokers[b]
    if broker.state != LEADER or proposal_state(s.network, b) != DONE:
        return False
    broker.isr = broker.pending
    broker.pending = 0
    withdraw(s.network, b)
    return True


TWO_REPLICAS = scope()
REPLICA = (
    mutant("fetches-not-noted", "is_in_sync", {leader.reached: reach_nothing}, TWO_REPLICAS),
    mutant("written-isr-not-taken", "alone_acknowledges", {leader.learn_isr: keep_isr}, TWO_REPLICAS),
    mutant("learnt-and-waits", "alone_acknowledges", {leader.learn_isr: learn_and_wait}, TWO_REPLICAS),
)
