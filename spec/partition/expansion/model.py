"""The partition system with a controller that adds partitions to topics, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka.declarations import acting, asking
from kafkaproof.spec.language.model import EVENT
from kafkaproof.spec.partition.creation.zookeeper import leave_unused, read_topics
from kafkaproof.spec.partition.deletion import replica, state
from kafkaproof.spec.partition.deletion.model import deleting
from kafkaproof.spec.partition.deletion.state import initial as begin
from kafkaproof.spec.partition.expansion import expansion, zookeeper
from kafkaproof.spec.partition.expansion import properties as topic_expansion
from kafkaproof.spec.partition.model import FENCED, reading, scope, writing

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
LATE_ANSWER = {"state_goes_with_topic": 28, "local_epoch": 28, "removed_when_deleted": 30, "log_goes_with_topic": 33}
"""As in `deleting`."""
EXPANDING = deleting(
    replace(FENCED, seams=FENCED.seams + SEAMS + (read_topics,)),
    "expanding",
    "An administrator has the controller add partitions to a topic while brokers fail, and while the topic is queued "
    "for deletion: then the controller takes them back.",
    acting(replica.leader_and_isr, replica.stop_replica) + CONTROLLER,
    properties=topic_expansion.properties,
    state=state.STATE,
    initial=initial,
    scope=DEFAULT,
    expected={
        DEFAULT: LATE_ANSWER,
        scope(brokers=3, replicas=1, partitions=2, epochs=1, leader_epochs=2): LATE_ANSWER,
        scope(partitions=2, epochs=1, leader_epochs=2): {
            "state_goes_with_topic": 32,
            "local_epoch": 32,
            "removed_when_deleted": 34,
            "log_goes_with_topic": 37,
        },
    },
    others={"quick": DEFAULT, "deep": scope(partitions=2, epochs=1, leader_epochs=2)},
)
MODELS = (EXPANDING,)
