"""The partition system with a controller that adds partitions to topics, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka.declarations import acting, asking
from kafkaproof.spec.language.model import EVENT
from kafkaproof.spec.partition.creation.zookeeper import leave_unused, read_topics
from kafkaproof.spec.partition.deletion import replica
from kafkaproof.spec.partition.expansion import expansion, zookeeper
from kafkaproof.spec.partition.expansion import properties as topic_expansion
from kafkaproof.spec.partition.model import FENCED, reading, scope, writing
from kafkaproof.spec.partition.reassignment import state
from kafkaproof.spec.partition.reassignment.model import ADMINISTRATORS, ALTERATIONS, reassigning
from kafkaproof.spec.partition.reassignment.state import initial as begin

CONTROLLER = (
    *asking(expansion.add_partitions),
    *reading(expansion.new_partitions),
    *writing(expansion.restore_partitions, kind=EVENT),
)
SEAMS = (zookeeper.add_partitions, zookeeper.checked_restore_topic)


def initial(s):
    """As without expansions, but the last partition belongs to no topic yet."""
    begin(s)
    leave_unused(s.zk, len(s.zk.assignments) - 1)


DEFAULT = scope(replicas=1, partitions=2, epochs=1, leader_epochs=2)
TWO_TERMS = scope(replicas=1, partitions=2, leader_epochs=0)
UNDONE = {"assignments_stay": 11, "removed_when_deleted": 11, "no_partition_undone": 11}
"""A reassignment takes back what was just added. A new controller also takes a partition that was added to a topic after that
was marked for one that is not to be deleted, which is so here alone: markers are kept by partitions (deletions_taken_over).
"""
FOUND = UNDONE | {"not_deleted_while_reassigned": 19, "state_goes_with_topic": 28}
"""The rest as in `altering`."""
EXPANDING = reassigning(
    replace(FENCED, seams=FENCED.seams + SEAMS + (read_topics,)),
    "expanding",
    "An administrator has the controller add partitions to a topic while brokers fail, and while the topic is queued "
    "for deletion: then the controller takes them back. A reassignment writes the topic znode over those that it does "
    "not know yet.",
    acting(replica.stop_replica) + CONTROLLER + ALTERATIONS + ADMINISTRATORS,
    properties=topic_expansion.properties,
    state=state.WITH_ALTERATIONS,
    initial=initial,
    scope=DEFAULT,
    expected={
        DEFAULT: FOUND,
        TWO_TERMS: UNDONE | {"deletions_taken_over": 20},
        scope(brokers=3, replicas=1, partitions=2, epochs=1, leader_epochs=2): FOUND,
        scope(partitions=2, epochs=1, leader_epochs=2): FOUND
        | {"not_deleted_while_reassigned": 21, "state_goes_with_topic": 32},
    },
    others={"quick": DEFAULT, "deep": scope(partitions=2, epochs=1, leader_epochs=2), "two-terms": TWO_TERMS},
)
MODELS = (EXPANDING,)
