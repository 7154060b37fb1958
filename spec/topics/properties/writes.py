"""Properties of what controllers write of a topic: in time (C4), and what they mark before they delete it (C13)."""

from kafkaproof.spec.kafka.state_machines import NON_EXISTENT_PARTITION, NON_EXISTENT_REPLICA
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.partition.properties.controllers import same_sequence
from kafkaproof.spec.topics.properties.events_in_progress import deletes_znodes


def tree_differs(zk, other):
    """Whether topic, configuration, marker or assignments differ."""
    for p in range(len(zk.assignments)):
        marked = zk.adding[p] != other.adding[p] or zk.removing[p] != other.removing[p]
        if marked or not same_sequence(zk.assignments[p], other.assignments[p]):
            return True
    return zk.topic != other.topic or zk.config != other.config or zk.marker != other.marker


def state_differs(zk, other, p):
    """Whether the state of a partition differs."""
    one = zk.partitions[p]
    two = other.partitions[p]
    same = one.leader == two.leader and one.isr == two.isr and one.controller_epoch == two.controller_epoch
    return not same or one.leader_epoch != two.leader_epoch


def is_late(s, b):
    """Whether another broker was elected after the controller `b`."""
    return s.brokers[b].controller.epoch < s.zk.epoch


def topic_written_in_time(before, after, b):
    """Only the controller that was elected last removes a topic or what belongs to it, or undoes an expansion (C4)."""
    return not is_late(before, b) or not tree_differs(before.zk, after.zk)


def partition_written_in_time(before, after, b, p):
    """Only the controller that was elected last writes or deletes a state, or writes an assignment (C4)."""
    changed = tree_differs(before.zk, after.zk) or state_differs(before.zk, after.zk, p)
    return not is_late(before, b) or not changed


def marked_before_deletion(s):
    """Once the deletion of a topic has started, its partitions are NonExistent: no leader is elected (C13)."""
    for broker in s.brokers:
        for partition in broker.controller.partitions:
            if broker.controller.started and partition.state != NON_EXISTENT_PARTITION:
                return False
    return True


def replicas_gone_first(s):
    """When the znodes of a topic are deleted, its replicas and their logs are gone: all are NonExistent (C13)."""
    for broker in s.brokers:
        for partition in broker.controller.partitions:
            for state in partition.replicas:
                if deletes_znodes(broker.controller) and state != NON_EXISTENT_REPLICA:
                    return False
    return True


WRITES = (
    always(marked_before_deletion),
    always(replicas_gone_first),
    always_step(
        topic_written_in_time,
        of=("delete_topic_node", "delete_topic_config", "delete_topic_marker", "restore_partitions"),
    ),
    always_step(
        partition_written_in_time,
        of=(
            "create_first_state",
            "elect_leader",
            "delete_states",
            "write_assignment",
            "tell_replicas",
            "move_leader",
            "write_target",
        ),
    ),
)
