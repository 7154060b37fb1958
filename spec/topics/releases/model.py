"""The topics system up to 2.3: only /admin/reassign_partitions knows that a partition is reassigned.

Each variant is one range, and says what it does otherwise than the next. A group of replaced rules is named after the
last release that has them.
"""

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka import state_machines
from kafkaproof.spec.kafka.declarations import acting, asking
from kafkaproof.spec.kafka.strategies import isr_after_removal
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import zookeeper as shared
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.history.strategies import isr_after_removal_or_empty
from kafkaproof.spec.topics import creation, failover, faults, fencing, network, progress, reassignment, tree, zookeeper
from kafkaproof.spec.topics.history import two_phase
from kafkaproof.spec.topics.model import CONTROLLER, FAULTS, LEADER_ZK, REPLICAS, model, scope
from kafkaproof.spec.topics.properties import liveness
from kafkaproof.spec.topics.properties import safety as properties
from kafkaproof.spec.topics.properties.goals import OLD_GOALS

RESTORING = (creation.ignore_partitions, creation.restore_partitions)
"""From 2.0 on."""
PHASES = (
    *asking(
        two_phase.check_target,
        two_phase.write_union,
        two_phase.write_target,
        two_phase.delete_listed,
        reassignment.tell_replicas,
        reassignment.move_leader,
    ),
    *acting(two_phase.find_request),
    *declared.faults(faults.list_reassignment),
)
TRANSITIONS = CONTROLLER + REPLICAS + LEADER_ZK + FAULTS + PHASES
NOT_RESTORING = tuple(t for t in TRANSITIONS if t.function not in RESTORING)
UNTIL_2_3 = {reassignment.is_ready: two_phase.is_in_sync}
UNTIL_2_2 = UNTIL_2_3 | {
    state_machines.replica_move_is_legal: state_machines.replica_move_was_legal,
    progress.dead_hosts: leader_zk.nobody,
}
UNTIL_2_1 = UNTIL_2_2 | {
    shared.list_brokers: leader_zk.list_broker_ids,
    shared.known_as_they_are: shared.as_they_are,
    network.drop_requests: network.keep_requests,
}
UNTIL_2_0 = UNTIL_2_1 | {
    fencing.checked_create_state: zookeeper.create_state,
    fencing.checked_set_state: zookeeper.set_state,
    fencing.checked_shrink: zookeeper.shrink,
    fencing.checked_set_topic: tree.set_topic,
    fencing.checked_delete_state: tree.delete_state,
    fencing.checked_delete_topic: tree.delete_topic,
    fencing.checked_delete_config: tree.delete_config,
    fencing.checked_delete_marker: tree.delete_marker,
    fencing.checked_delete_request: tree.delete_request,
    progress.start_marks: two_phase.mark_nothing,
}
UNTIL_1_0 = UNTIL_2_0 | {
    isr_after_removal: isr_after_removal_or_empty,
    failover.load_context: rebind(
        failover.load_context,
        {failover.start_machines: two_phase.arm_first, zookeeper.read_topic: two_phase.read_unwatched},
    ),
}

SHRUNK = {"isr_assigned": 18, "force_elects": 18, "state_tells": 18}
LATE_SHRUNK = {"isr_assigned": 19, "force_elects": 19, "state_tells": 19}
UNTOLD = {scope(): SHRUNK | {"is_dealt_with": 26}, scope(brokers=3): SHRUNK | {"is_dealt_with": 26}}
EXPANDED = {scope(partitions=2, leader_epochs=3): SHRUNK | {"no_partition_undone": 9, "is_dealt_with": 26}}
COMMON = UNTOLD | EXPANDED | {scope(brokers=3, replicas=2, requests=1): SHRUNK}
ONE_FAULT = scope(epochs=2, faults=1, requests=1)
STUCK = SHRUNK | {"is_deleted_despite_failures": 7, "replicas_remembered": 24}
ZOMBIE = STUCK | {
    "state_tells": 8,
    "cache_of_this_topic": 10,
    "removed_when_deleted": 14,
    "deletion_goes_on": 15,
    "marker_last": 16,
    "no_stray_log": 18,
    "replicas_remembered": 19,
    "request_remembered": 20,
    "is_dealt_with": 29,
}
LATE_ZOMBIE = LATE_SHRUNK | {
    "is_deleted_despite_failures": 8,
    "state_tells": 10,
    "cache_of_this_topic": 12,
    "removed_when_deleted": 16,
    "deletion_goes_on": 17,
    "marker_last": 18,
    "no_stray_log": 20,
    "replicas_remembered": 21,
    "request_remembered": 22,
    "is_dealt_with": 31,
}


def two_phases(variant, release, story, transitions, expected):
    """A variant that reassigns in two phases, in one release."""
    return model(
        variant,
        Releases(release, release),
        story,
        transitions,
        properties.TWO_PHASE + OLD_GOALS + liveness.TWO_PHASE,
        expected,
    )


REMOVES_FIRST = two_phases(
    "removal-at-start",
    "2.3",
    "Only /admin/reassign_partitions knows that a partition is reassigned. A new controller takes the replicas of dead "
    "brokers out of the ISRs before it elects.",
    TRANSITIONS,
    COMMON | {ONE_FAULT: STUCK | {"is_dealt_with": 28}},
).rebound(UNTIL_2_3, scope=scope())
KIP380 = two_phases(
    "kip380",
    "2.2",
    "The first release with broker epochs: requests name the registration that they are for. A new controller leaves the "
    "replicas of dead brokers in the ISRs.",
    TRANSITIONS,
    COMMON | {ONE_FAULT: STUCK | {"is_dealt_with": 28}},
).rebound(UNTIL_2_2, scope=scope())
CHECKED = two_phases(
    "checked",
    "2.1",
    "The first release whose writes are checked against the epoch, and which marks the partitions of a topic when its "
    "deletion starts. Requests name no registration.",
    TRANSITIONS,
    COMMON | {ONE_FAULT: STUCK | {"is_dealt_with": 29}},
).rebound(UNTIL_2_1, scope=scope())
RESTORES = two_phases(
    "restoring",
    "2.0",
    "Nothing checks a controller's writes, and requests name no registration. Partitions that are added to a topic while "
    "its deletion is queued are taken out of its znode again.",
    TRANSITIONS,
    COMMON | {ONE_FAULT: ZOMBIE},
).rebound(UNTIL_2_0, scope=scope())
TWO_PHASE = two_phases(
    "two-phase",
    "1.1",
    "Only /admin/reassign_partitions knows that a partition is reassigned, nothing checks a controller's writes, and "
    "requests name no registration. Partitions that are added to a topic while its deletion is queued are left alone.",
    NOT_RESTORING,
    COMMON | {ONE_FAULT: ZOMBIE, scope(brokers=3, epochs=2, faults=1, requests=1): ZOMBIE},
).rebound(UNTIL_2_0)
LATE_WATCH = two_phases(
    "late-watch",
    "1.0",
    "The watch on a topic's data is set after the data was read: partitions that are added in between are not noticed. "
    "The last member of an ISR may leave it.",
    NOT_RESTORING + asking(two_phase.arm_watch),
    {
        scope(): LATE_SHRUNK | {"is_dealt_with": 27},
        scope(brokers=3): LATE_SHRUNK | {"is_dealt_with": 27},
        scope(partitions=2, leader_epochs=3): LATE_SHRUNK
        | {"partitions_known": 6, "no_partition_undone": 10, "is_dealt_with": 27},
        scope(brokers=3, replicas=2, requests=1): LATE_SHRUNK,
        ONE_FAULT: LATE_ZOMBIE,
    },
).rebound(UNTIL_1_0, scope=scope())
MODELS = (LATE_WATCH, TWO_PHASE, RESTORES, CHECKED, KIP380, REMOVES_FIRST)
