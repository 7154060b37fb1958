"""The topics system as in earlier releases, oldest first: each variant is one range, and says what it does otherwise.

Up to 2.3 only /admin/reassign_partitions knows that a partition is reassigned; from 2.4 on the topic znode does.
"""

from dataclasses import replace

from kafkaproof.spec.kafka.declarations import acting
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import model as partition
from kafkaproof.spec.partition import telling, verdicts, zookeeper
from kafkaproof.spec.partition.creation import properties as topic_creation
from kafkaproof.spec.partition.creation.model import CREATION
from kafkaproof.spec.partition.creation.zookeeper import leave_unused
from kafkaproof.spec.partition.deletion import progress as deletion_progress
from kafkaproof.spec.partition.expansion import properties as topic_expansion
from kafkaproof.spec.partition.history import leader_zk, triggers
from kafkaproof.spec.partition.phases import lists, state
from kafkaproof.spec.partition.phases import model as phases
from kafkaproof.spec.partition.phases import network as phases_network
from kafkaproof.spec.partition.phases import properties as partition_phases
from kafkaproof.spec.partition.phases.model import in_phases
from kafkaproof.spec.partition.phases.state import initial as begin
from kafkaproof.spec.partition.recreation import model as recreation
from kafkaproof.spec.partition.recreation import replica as recreation_replica
from kafkaproof.spec.partition.recreation import zookeeper as recreation_zookeeper
from kafkaproof.spec.partition.recreation.state import number_topics
from kafkaproof.spec.partition.releases import model as releases
from kafkaproof.spec.partition.releases import rules
from kafkaproof.spec.topics.history import expansion, ids, leaders
from kafkaproof.spec.topics.model import (
    BESIDE,
    CREATED_AGAIN,
    DESPITE_FAILURES,
    LATE_ANSWER,
    LEADERS_ASK,
    LISTS,
    NAMED,
    SEAMS_BESIDE,
    STOPPED_TWICE,
    TWO_TOPICS,
    UNDONE,
    UNLED,
    scope,
    topics,
    with_kip455,
)
from kafkaproof.spec.topics.parts import IN_PHASES, SLICES
from kafkaproof.spec.topics.properties import safety as properties

UNTIL_2_3 = rules.UNTIL_2_6 | rules.UNTIL_2_3
UNTIL_2_2 = rules.UNTIL_2_6 | rules.UNTIL_2_2 | phases.UNTIL_2_2
UNTIL_2_1 = UNTIL_2_2 | rules.UNTIL_2_1
UNTIL_2_0 = (
    rules.UNFENCED
    | phases.UNTIL_2_2
    | {deletion_progress.ended_at_start: triggers.end_none_at_start, zookeeper.check_epoch: leader_zk.check_nothing}
)
MARKED_IS_FREE = {recreation_zookeeper.is_taken: ids.is_there}
"""Up to 3.0."""
WITHOUT_IDS = MARKED_IS_FREE | {recreation_replica.is_of_another: ids.is_of_no_other}
"""Up to 2.7."""
REFUSED = {recreation_replica.refuse_topic.__name__}
"""What a broker does that knows topics by their ids."""
OTHER_LISTS = {lists.delete_request.__name__}


def initial(s):
    """Every broker runs and is registered; there is no controller; a topic with one partition has just been created."""
    begin(s)
    leave_unused(s.zk, 1)
    number_topics(s.zk)


def asked(found):
    """The properties of a model with creations, expansions, and reassignments in two phases."""
    kept = partition_phases.properties(topic_creation.properties(found))
    return topic_expansion.with_expansions(tuple(p for p in kept if p.name not in topic_expansion.WITHOUT))


def two_phases(variant, release, story, found, replaced, expected, *, told, without=()):
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
        OTHER_LISTS | REFUSED | {*without},
        expected,
        properties.two_phase,
        scope=ONE_REQUEST,
        others={"quick": ONE_REQUEST, "deep": ONE_FAULT},
        parts=IN_PHASES,
        replaced=WITHOUT_IDS | expansion.UP_TO_2_3,
    )


ONE_REQUEST, ONE_FAULT = scope(requests=1), scope(epochs=2, leader_epochs=2, faults=1, requests=1)
SHRUNK = {
    "context_is_zookeeper": 8,
    "stopped_out_of_isr": 16,
    "isr_assigned": 17,
    "online_has_leader": 18,
    "force_elects": 18,
    "state_tells": 18,
    "led_if_possible": 20,
}
"""The raised leader epoch is not remembered; and the ISR shrinks between the check and the move."""
UNFENCED = SHRUNK | {"online_has_leader": 9}
"""Up to 2.0 a partition stays Online while its topic is deleted."""
WITH_FAULT = SHRUNK | {"request_goes_last": 10, "led_if_possible": 10, "is_new_led_if_possible": 10}
ZOMBIE = {
    "no_stale_write": 6,
    "listed_by_right": 8,
    "context_is_zookeeper": 8,
    "is_new_led_if_possible": 8,
    "state_tells": 8,
    "assigned_by_right": 9,
    "online_has_leader": 9,
    "request_remembered": 9,
    "is_deleted_despite_failures": 9,
    "is_deleted": 9,
    "request_goes_last": 10,
    "led_if_possible": 10,
    "deleted_by_right": 13,
    "is_dealt_with": 13,
    "state_deleted_by_right": 14,
    "replicas_remembered": 14,
    "first_state": 15,
    "state_goes_with_topic": 15,
    "isr_assigned": 15,
    "local_epoch": 15,
    "no_state_without_topic": 15,
    "cache_of_this_topic": 15,
    "removed_when_deleted": 16,
    "marker_last": 17,
    "deletion_goes_on": 18,
    "no_stray_log": 20,
}
"""A deposed controller writes and deletes what its successor has written."""
ZOMBIE_AT = scope(epochs=2, leader_epochs=1, faults=1, requests=1)
REMOVES_FIRST = two_phases(
    "removal-at-start",
    "2.3",
    "Only /admin/reassign_partitions knows that a partition is reassigned. A new controller takes the replicas of dead "
    "brokers out of the ISRs before it elects.",
    releases.WITHOUT_ADMIN_ELECTIONS,
    UNTIL_2_3,
    {ONE_REQUEST: SHRUNK, ONE_FAULT: WITH_FAULT | LATE_ANSWER | DESPITE_FAILURES},
    told={},
)
KIP380 = two_phases(
    "kip380",
    "2.2",
    "The first release with broker epochs: requests name the registration that they are for. A new controller leaves the "
    "replicas of dead brokers in the ISRs.",
    releases.WITHOUT_ADMIN_ELECTIONS,
    UNTIL_2_2,
    {ONE_REQUEST: SHRUNK, ONE_FAULT: WITH_FAULT | LATE_ANSWER | DESPITE_FAILURES},
    told=phases.TOLD_UNTIL_2_2,
)
CHECKED = two_phases(
    "checked",
    "2.1",
    "The first release whose writes are checked against the epoch, and which marks the partitions of a topic when its "
    "deletion starts. Requests name no registration.",
    releases.WITHOUT_BROKER_EPOCHS,
    UNTIL_2_1,
    {
        ONE_REQUEST: SHRUNK,
        ONE_FAULT: WITH_FAULT | {"is_deleted_despite_failures": 9, "is_deleted": 9, "is_dealt_with": 13},
    },
    told=phases.TOLD_UNTIL_2_1,
)
RESTORES = two_phases(
    "restoring",
    "2.0",
    "Nothing checks a controller's writes, and requests name no registration. Partitions that are added to a topic while "
    "its deletion is queued are taken out of its znode again.",
    releases.WITHOUT_BROKER_EPOCHS,
    UNTIL_2_0,
    {ONE_REQUEST: UNFENCED, ZOMBIE_AT: ZOMBIE},
    told=phases.TOLD_UNTIL_2_0,
)
TWO_PHASE = two_phases(
    "two-phase",
    "1.1",
    "Only /admin/reassign_partitions knows that a partition is reassigned, nothing checks a controller's writes, and "
    "requests name no registration. Partitions that are added to a topic while its deletion is queued are left alone.",
    releases.WITHOUT_BROKER_EPOCHS,
    UNTIL_2_0,
    {ONE_REQUEST: UNFENCED, ZOMBIE_AT: ZOMBIE},
    told=phases.TOLD_UNTIL_2_0,
    without=("restore_partitions",),
)
LEADERS_WRITE = partition.model(
    "kip455-zk",
    Releases("2.4", "2.6"),
    "",
    partition.COMMON + releases.LEADER_ZK,
    releases.rebalancing_if_online(releases.WITHOUT_ADMIN_ELECTIONS),
    partition.QUICK,
    partition.TWO_FAULTS,
    {},
)
SHRUNK_UNSEEN = {
    "stopped_out_of_isr": 14,
    "online_has_leader": 15,
    "isr_assigned": 15,
    "force_elects": 15,
    "state_tells": 15,
    "led_if_possible": 17,
}
LEFT_UNLED = SHRUNK_UNSEEN | LATE_ANSWER | DESPITE_FAILURES | {"led_if_possible": 9, "is_new_led_if_possible": 9}
KIP455_ZK = topics(
    with_kip455(LEADERS_WRITE, "kip455-zk", acting(leaders.caught_up)).rebound(
        rules.UNTIL_2_6 | {telling.tell_leadership: phases_network.tell_leadership}
    ),
    "As in kip455, but leaders write the ISR themselves: it may shrink between the look at it and the move.",
    NAMED,
    LISTS | REFUSED,
    {
        scope(requests=1): SHRUNK_UNSEEN,
        ONE_FAULT: LEFT_UNLED,
        scope(epochs=2, faults=1, requests=1): LEFT_UNLED,
        scope(): SHRUNK_UNSEEN
        | {
            "not_deleted_while_reassigned": 14,
            "deletion_goes_on": 20,
            "is_deleted_despite_failures": 22,
            "is_deleted": 22,
            "has_moved": 25,
        },
    },
    properties.kip455_zk,
    releases=Releases("2.4", "2.6"),
    others={"quick": scope(), "deep": scope(epochs=2, leader_epochs=5, faults=1)},
    parts=SLICES,
    replaced=WITHOUT_IDS,
)


def any_isr(variant, released, story, replaced, created_again, without=frozenset()):
    """A variant of releases whose controller accepts an ISR with a broker that is not alive (2.7 to 3.2)."""
    base = replace(partition.FENCED, properties=releases.accepting_any_isr(partition.FENCED.properties))
    return topics(
        with_kip455(base, variant, recreation.TWICE).rebound(LEADERS_ASK),
        story,
        NAMED,
        LISTS | without,
        {
            scope(): {"not_deleted_while_reassigned": 14},
            scope(epochs=2, faults=1, requests=1): UNLED | LATE_ANSWER | DESPITE_FAILURES | MOVED_TO_THE_DEAD,
            TWO_TOPICS: UNDONE,
            CREATED_AGAIN: UNLED | STOPPED_TWICE | MOVED_TO_THE_DEAD | created_again,
        },
        properties.kip455,
        releases=released,
        others={"quick": scope(), "deep": CREATED_AGAIN},
        parts=SLICES,
        replaced=replaced | {verdicts.are_eligible: triggers.whoever_they_are},
    )


MOVED_TO_THE_DEAD = {"online_has_leader": 19, "state_tells": 19}
"""A replica whose broker is not alive joins the ISR, and the reassignment to it is completed."""
KIP497 = any_isr(
    "kip497",
    Releases("2.7", "2.7"),
    "The first release whose leaders ask the controller to change an ISR, in which it accepts a broker that is not alive. "
    "Topics have no ids: a broker makes the log of a former topic that of the next one.",
    rules.UNTIL_3_0 | WITHOUT_IDS,
    {"own_obeyed": 23, "log_of_this_topic": 29},
    REFUSED,
)
KIP516 = any_isr(
    "kip516",
    Releases("2.8", "3.0"),
    "The first releases whose topics have ids (KIP-516). A topic is created while the marker of the deletion of its namesake "
    "is still there.",
    rules.UNTIL_3_0 | MARKED_IS_FREE,
    {},
)
MARKED_REFUSED = any_isr(
    "marked-refused",
    Releases("3.1", "3.2"),
    "As in kip455, but the controller accepts an ISR with a broker that is not alive: a partition is moved there, and "
    "nobody leads it.",
    {},
    {},
)
OLDER = (TWO_PHASE, RESTORES, CHECKED, KIP380, REMOVES_FIRST)
MODELS = (*OLDER, KIP455_ZK, KIP497, KIP516, MARKED_REFUSED)
