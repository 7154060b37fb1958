"""Groups near 1.1 to 2.0, between `classic` and `current`: what differs from both.

Answers are those of `classic` behind the gate of `current`, which is that of 2.0: a partition that is loading is
distinguished from one that is not owned. Kafka 1.1 asks in the order of `classic`.
"""

from kafkaproof.spec.group import verdicts
from kafkaproof.spec.group.history import group_classic as classic
from kafkaproof.spec.group.history.group_classic import sync_verdict as answer_to_sync
from kafkaproof.spec.group.network import REBALANCE_IN_PROGRESS
from kafkaproof.spec.language.rebind import rebind

GATE = {classic.gate: verdicts.gate}
first_join_verdict = rebind(classic.first_join_verdict, GATE)
join_verdict = rebind(classic.join_verdict, GATE)
leave_verdict = rebind(classic.leave_verdict, GATE)
commit_verdict = rebind(classic.commit_verdict, GATE)
heartbeat_verdict = rebind(classic.heartbeat_verdict, GATE)


def sync_verdict(broker, id, instance, generation):
    """SyncGroup: a coordinator that is loading has lost the rebalance."""
    return REBALANCE_IN_PROGRESS if broker.loading else answer_to_sync(broker, id, instance, generation)
