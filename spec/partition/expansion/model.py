"""The partition system with a controller that adds partitions to topics, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka.declarations import acting, asking
from kafkaproof.spec.language.model import EVENT
from kafkaproof.spec.partition import context
from kafkaproof.spec.partition.creation.zookeeper import leave_unused, read_topics
from kafkaproof.spec.partition.deletion import replica
from kafkaproof.spec.partition.expansion import expansion, state, zookeeper
from kafkaproof.spec.partition.expansion import properties as topic_expansion
from kafkaproof.spec.partition.model import FENCED, reading, scope, writing
from kafkaproof.spec.partition.reassignment.model import ADMINISTRATORS, ALTERATIONS, reassigning
from kafkaproof.spec.partition.reassignment.state import initial as begin

EVENTS = (*reading(expansion.new_partitions), *writing(expansion.restore_partitions, kind=EVENT))
CONTROLLER = asking(expansion.add_partitions) + EVENTS
"""Where what is read is written at once."""
IN_TWO_STEPS = asking(expansion.read_topic, expansion.write_partitions) + EVENTS
SEAMS = (zookeeper.read_topic, zookeeper.write_topic, zookeeper.checked_restore_topic)
WITH_REQUESTS = {context.start_process: state.start_process}


def initial(s):
    """The last partition belongs to no topic yet."""
    begin(s)
    leave_unused(s.zk, len(s.zk.assignments) - 1)


DEFAULT = scope(replicas=1, partitions=2, epochs=1, leader_epochs=2)
TWO_TERMS = scope(replicas=1, partitions=2, leader_epochs=0)
UNDONE = {"assignments_stay": 12, "removed_when_deleted": 12, "no_partition_undone": 12, "no_reassignment_undone": 12}
"""A reassignment takes back what was just added, and what is added takes back a reassignment. A new controller also takes a
partition that was added to a topic after that was marked for one that is not to be deleted, which is so here alone: markers
are kept by partitions (deletions_taken_over).
"""
OF_ONE = UNDONE | {
    "sent_by_term": 14,
    "replicas_remembered": 14,
    "context_is_zookeeper": 16,
    "proposal_granted": 16,
    "not_deleted_while_reassigned": 19,
    "state_goes_with_topic": 29,
}
OF_TWO = UNDONE | {
    "target_order_kept": 15,
    "context_is_zookeeper": 17,
    "rebalanced": 18,
    "not_deleted_while_reassigned": 21,
    "state_goes_with_topic": 30,
    "local_epoch": 30,
}
EXPANDING = reassigning(
    replace(FENCED, seams=FENCED.seams + SEAMS + (read_topics,)),
    "expanding",
    "An administrator has the controller add partitions to a topic while brokers fail, and while the topic is queued "
    "for deletion: then the controller takes them back. A reassignment writes the topic znode over those that it does "
    "not know yet, and an expansion over a reassignment that has begun since it read the topic.",
    acting(replica.stop_replica) + IN_TWO_STEPS + ALTERATIONS + ADMINISTRATORS,
    properties=topic_expansion.properties_of_steps,
    state=state.STATE,
    initial=initial,
    scope=DEFAULT,
    expected={
        DEFAULT: OF_ONE,
        scope(replicas=1, partitions=2, epochs=1, leader_epochs=4): OF_ONE
        | {"target_order_kept": 23, "isr_assigned": 23, "local_epoch": 33},
        TWO_TERMS: UNDONE | {"deletions_taken_over": 21},
        scope(brokers=3, replicas=1, partitions=2, epochs=1, leader_epochs=2): OF_ONE,
        scope(partitions=2, epochs=1, leader_epochs=2): OF_TWO,
    },
    others={"quick": DEFAULT, "deep": scope(partitions=2, epochs=1, leader_epochs=2), "two-terms": TWO_TERMS},
).rebound(WITH_REQUESTS)
MODELS = (EXPANDING,)
