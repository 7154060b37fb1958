"""The topics system up to 2.3: only /admin/reassign_partitions knows that a partition is reassigned.

Each variant is one range, and says what it does otherwise than the next.
"""

from kafkaproof.spec.kafka import state_machines
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import zookeeper
from kafkaproof.spec.partition.creation import zookeeper as creation_zookeeper
from kafkaproof.spec.partition.creation import properties as topic_creation
from kafkaproof.spec.partition.creation.model import CREATION
from kafkaproof.spec.partition.creation.zookeeper import leave_unused
from kafkaproof.spec.partition.deletion import progress as deletion_progress
from kafkaproof.spec.partition.expansion import properties as topic_expansion
from kafkaproof.spec.partition.expansion import expansion
from kafkaproof.spec.partition.history import leader_zk, triggers
from kafkaproof.spec.partition.phases import properties as partition_phases
from kafkaproof.spec.partition.phases import state
from kafkaproof.spec.partition.phases.model import in_phases
from kafkaproof.spec.partition.phases.state import initial as begin
from kafkaproof.spec.partition.recreation.state import number_topics
from kafkaproof.spec.partition.releases import model as releases
from kafkaproof.spec.topics.model import BESIDE, SEAMS_BESIDE, scope, topics
from kafkaproof.spec.topics.properties import safety as properties

UNTIL_2_3 = releases.UNTIL_2_6 | releases.UNTIL_2_5
UNTIL_2_2 = (
    releases.UNTIL_2_6
    | releases.UNTIL_2_2
    | {state_machines.replica_move_is_legal: state_machines.replica_move_was_legal}
)
UNTIL_2_1 = UNTIL_2_2 | releases.UNTIL_2_1
UNTIL_2_0 = UNTIL_2_1 | releases.UNFENCED | {
    deletion_progress.ended_at_start: triggers.end_none_at_start,
    zookeeper.check_epoch: leader_zk.check_nothing,
}
WITHOUT_NAMES = {zookeeper.known_as_they_are: zookeeper.as_they_are}
"""What properties ask of requests that name no registration (up to 2.1)."""
OTHER_LISTS = {"delete_request"}


def initial(s):
    """Every broker runs and is registered; there is no controller; a topic with one partition has just been created."""
    begin(s)
    leave_unused(s.zk, 1)
    number_topics(s.zk)


def asked(found):
    """The properties of a model with creations, expansions, and reassignments in two phases."""
    kept = partition_phases.properties(topic_creation.properties(found))
    return topic_expansion.with_expansions(tuple(p for p in kept if p.name not in topic_expansion.WITHOUT))


def two_phases(variant, release, story, found, replaced, expected, *, told={}, without=()):
    """A variant that reassigns in two phases, in one release."""
    fine = in_phases(
        variant,
        Releases(release, release),
        story,
        found,
        replaced,
        told=told,
        expected={},
        created=CREATION,
        beside=BESIDE,
        seams=SEAMS_BESIDE,
        made_of=asked,
    )
    return topics(
        fine.rebound({}, initial=initial),
        story,
        state.STATE,
        OTHER_LISTS | {*without},
        expected,
        properties.two_phase,
        scope=scope(),
        others={"quick": scope(), "deep": scope(epochs=2, faults=1, requests=1)},
        parts=(("partition", "phases-checked"), ("partition", "altering"), ("partition", "expanding"), ("partition", "recreating")),
    )


REMOVES_FIRST = two_phases(
    "removal-at-start",
    "2.3",
    "Only /admin/reassign_partitions knows that a partition is reassigned. A new controller takes the replicas of dead "
    "brokers out of the ISRs before it elects.",
    releases.WITHOUT_ADMIN_ELECTIONS,
    UNTIL_2_3,
    {scope(): {}},
)
KIP380 = two_phases(
    "kip380",
    "2.2",
    "The first release with broker epochs: requests name the registration that they are for. A new controller leaves the "
    "replicas of dead brokers in the ISRs.",
    releases.WITHOUT_ADMIN_ELECTIONS,
    UNTIL_2_2,
    {scope(): {}},
)
CHECKED = two_phases(
    "checked",
    "2.1",
    "The first release whose writes are checked against the epoch, and which marks the partitions of a topic when its "
    "deletion starts. Requests name no registration.",
    releases.WITHOUT_BROKER_EPOCHS,
    UNTIL_2_1,
    {scope(): {}},
    told=WITHOUT_NAMES,
)
RESTORES = two_phases(
    "restoring",
    "2.0",
    "Nothing checks a controller's writes, and requests name no registration. Partitions that are added to a topic while "
    "its deletion is queued are taken out of its znode again.",
    releases.WITHOUT_BROKER_EPOCHS,
    UNTIL_2_0,
    {scope(): {}},
    told=WITHOUT_NAMES,
)
TWO_PHASE = two_phases(
    "two-phase",
    "1.1",
    "Only /admin/reassign_partitions knows that a partition is reassigned, nothing checks a controller's writes, and "
    "requests name no registration. Partitions that are added to a topic while its deletion is queued are left alone.",
    releases.WITHOUT_BROKER_EPOCHS,
    UNTIL_2_0,
    {scope(): {}},
    told=WITHOUT_NAMES,
    without=("restore_partitions",),
)
MODELS = (TWO_PHASE, RESTORES, CHECKED, KIP380, REMOVES_FIRST)
