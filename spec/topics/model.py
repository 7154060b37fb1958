"""The topics system, slices of `partition`: how its variants are made, and the present one with what is known of it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import brokers, faults, network, rebalance, telling, triggers, znodes
from kafkaproof.spec.partition.creation import creation
from kafkaproof.spec.partition.creation.model import CREATION, CREATION_SEAMS
from kafkaproof.spec.partition.creation.zookeeper import in_new_topics, leave_unused
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.deletion import faults as deletion_faults
from kafkaproof.spec.partition.deletion import network as deletion_network
from kafkaproof.spec.partition.expansion import model as expansion
from kafkaproof.spec.partition.expansion import properties as topic_expansion
from kafkaproof.spec.partition.expansion.state import with_requests as with_expansions
from kafkaproof.spec.partition.expansion.zookeeper import in_other_topics
from kafkaproof.spec.partition.model import ADMIN_ELECTIONS, FENCED, LOG_DIRS, PENDING
from kafkaproof.spec.partition.phases import network as phases_network
from kafkaproof.spec.partition.phases.state import NAMES, name_assigned
from kafkaproof.spec.partition.reassignment import admin_requests
from kafkaproof.spec.partition.reassignment import brokers as reassignment_brokers
from kafkaproof.spec.partition.reassignment import faults as reassignment_faults
from kafkaproof.spec.partition.reassignment import network as reassignment_network
from kafkaproof.spec.partition.reassignment import state as reassignment_state
from kafkaproof.spec.partition.reassignment.model import ADMINISTRATORS, ALTERATIONS, reassigning
from kafkaproof.spec.partition.reassignment.state import initial as begin
from kafkaproof.spec.partition.recreation import model as recreation
from kafkaproof.spec.partition.recreation import state as recreation_state
from kafkaproof.spec.partition.recreation.state import number_topics
from kafkaproof.spec.topics import requests
from kafkaproof.spec.topics.parts import SLICES
from kafkaproof.spec.topics.properties import safety as properties
from kafkaproof.spec.topics.steps import coarse

SIZES = {
    "brokers": "brokers, each of which may become the controller",
    "replicas": "replicas of each partition, no more than brokers",
    "partitions": "partitions; the topic begins with one",
    "topics": "creations of topics",
    "epochs": "elections of a controller",
    "leader_epochs": "changes of a partition's leader, or of its ISR by a controller",
    "faults": "crashes, expiries of living sessions, deletions of /controller, log directories that fail, and "
    "StopReplica that is sent twice",
    "requests": "what operators ask for: deletion, reassignment, cancellation",
}


def scope(*, brokers=2, replicas=1, partitions=1, topics=1, epochs=1, leader_epochs=4, faults=0, requests=2) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(
        brokers=brokers,
        replicas=replicas,
        partitions=partitions,
        topics=topics,
        epochs=epochs,
        leader_epochs=leader_epochs,
        faults=faults,
        requests=requests,
    )


OTHER_EVENTS = (
    brokers.controlled_shutdown,
    faults.shut_down,
    faults.stop,
    faults.ask_for_preferred,
    faults.allow_unclean,
    triggers.preferred_election,
    triggers.unclean_enabled,
    rebalance.rebalance,
    deletion.mark_topic,
    creation.configure_topic,
    deletion_faults.ask_for_unknown_deletion,
)
ELSEWHERE = {each.function.__name__ for each in (*LOG_DIRS, *ADMIN_ELECTIONS, *PENDING)}
ELSEWHERE = ELSEWHERE - {faults.fail_log_dir.__name__} | {each.__name__ for each in OTHER_EVENTS}
"""What is explored in `partition` alone: elections that operators ask for, controlled shutdown, log directories."""
OF_LISTS = (
    reassignment_brokers.drop_unknown,
    reassignment_brokers.drop_reassignment,
    admin_requests.reassign,
    admin_requests.delete_request,
    reassignment_faults.ask_for_reassignment,
    reassignment_faults.ask_for_unknown_reassignment,
)
LISTS = {each.__name__ for each in OF_LISTS}
"""Reassignments by /admin/reassign_partitions, from 2.4 on: `partition/altering` has them beside the others."""
OF_TOPICS = {znodes.count_request: requests.count_request, in_new_topics: in_other_topics}
"""Requests are counted apart from faults, and a partition that is added to a topic is no new topic."""


def initial(s):
    """Every broker runs and is registered; there is no controller; a topic with one partition has just been created."""
    begin(s)
    leave_unused(s.zk, 1)
    number_topics(s.zk)
    name_assigned(s)


def topics(
    model: Model, story: str, state, without, expected, asked, replaced: Mapping[Callable, Callable] = {}, **changes
) -> Model:
    """A variant of topics: a model of `partition` that creates, deletes and reassigns, in coarse steps.

    `asked` makes its properties from those of the model; `without` are transitions that are not taken here, and `replaced`
    the rules of other releases.
    """
    found = coarse(
        recreation.with_ids(model),
        ELSEWHERE | without,
        system="topics",
        story=story,
        state=requests.with_requests(with_expansions(recreation_state.with_ids(state))),
        scope=scope(epochs=2, faults=1, requests=1),
        largest=scope(brokers=4, replicas=4, partitions=3, topics=2, epochs=4, leader_epochs=12, faults=4, requests=4),
        expected=expected,
        safety_only=LARGE,
        sizes=SIZES,
    ).rebound(OF_TOPICS | expansion.WITH_REQUESTS | replaced)
    return replace(found, properties=asked(found.properties, found.transitions), **changes)


LARGE = (
    scope(brokers=3, replicas=2, requests=1),
    scope(brokers=3, replicas=2),
    scope(brokers=3, replicas=2, epochs=2, faults=1, requests=1),
)
BESIDE = recreation.BROKERS + recreation.CONTROLLER + expansion.CONTROLLER
"""What a variant has beside deletions and reassignments."""
SEAMS_BESIDE = CREATION_SEAMS + expansion.SEAMS


def with_kip455(base: Model, variant: str, beside=()) -> Model:
    """The fine model from which a variant is made whose topic znode says what is added and removed."""
    fine = reassigning(
        replace(base, transitions=base.transitions + CREATION, seams=base.seams + SEAMS_BESIDE),
        variant,
        "",
        BESIDE + ALTERATIONS + ADMINISTRATORS + beside,
        properties=topic_expansion.properties,
        initial=initial,
    )
    return fine


KNOWN_TO_LEADERS = {
    telling.tell_leadership: phases_network.tell_leadership,
    network.proposable: phases_network.proposable,
}
"""A leader proposes an ISR of the replicas that were named to it, also if they are not assigned any more."""
NAMED = reassignment_state.WITH_ALTERATIONS.extended_at("network", **NAMES)
LATE_ANSWER = {"state_goes_with_topic": 22, "removed_when_deleted": 23}
"""An answer that is late ends a deletion before its time, as in `partition/deleting`."""
UNLED = {"led_if_possible": 9, "is_new_led_if_possible": 9, "has_moved": 15}
"""A partition that has never led is reassigned: nobody looks at it again."""
DESPITE_FAILURES = {"is_deleted_despite_failures": 10}
CREATED_AGAIN = scope(topics=2, epochs=2, leader_epochs=2, faults=1, requests=1)
"""A topic is created under the name of one that was deleted."""
STOPPED_TWICE = LATE_ANSWER | DESPITE_FAILURES | {"own_logs_deleted": 19, "log_goes_with_topic": 25}
TWO_TOPICS = scope(partitions=2, topics=2, leader_epochs=2, requests=1)
TWO_REQUESTS = TWO_TOPICS | {"requests": 2}
UNDONE = {"assignments_stay": 9, "removed_when_deleted": 9, "no_partition_undone": 9}
UNHEARD = {"marker_last": 10, "config_goes_before_marker": 10}
"""The marker of a topic that the controller has not heard of is deleted: that request is lost."""
LEADERS_ASK = KNOWN_TO_LEADERS | {deletion_network.is_of_deletion: reassignment_network.is_of_deletion}
"""From 2.7 on."""
KIP455 = topics(
    with_kip455(FENCED, "kip455", recreation.TWICE).rebound(LEADERS_ASK),
    "The topic znode says what is added and removed; every write of a controller is checked against the epoch; "
    "leaders ask the controller to change an ISR.",
    NAMED,
    LISTS,
    {
        scope(): {"not_deleted_while_reassigned": 14},
        scope(epochs=2, faults=1, requests=1): UNLED | LATE_ANSWER | DESPITE_FAILURES,
        scope(brokers=3, epochs=2, faults=1, requests=1): UNLED | LATE_ANSWER | DESPITE_FAILURES,
        scope(brokers=3, replicas=2, requests=1): {},
        scope(replicas=2, epochs=2, faults=1, requests=1): {
            "is_deleted_despite_failures": 13,
            "state_goes_with_topic": 26,
            "removed_when_deleted": 27,
        },
        TWO_TOPICS: UNDONE,
        TWO_REQUESTS: UNDONE | UNHEARD | {"not_deleted_while_reassigned": 15, "isr_assigned": 30},
        scope(epochs=2, leader_epochs=5, faults=1): UNLED
        | LATE_ANSWER
        | {
            "is_deleted_despite_failures": 10,
            "isr_assigned": 16,
            "not_deleted_while_reassigned": 12,
            "has_moved": 15,
            "is_deleted": 21,
            "log_goes_with_topic": 20,
            "own_logs_deleted": 20,
            "deletion_goes_on": 22,
            "no_stray_log": 31,
        },
        CREATED_AGAIN: UNLED | STOPPED_TWICE,
    },
    properties.kip455,
    releases=Releases("3.3", "3.9"),
    others={"quick": scope(), "deep": scope(epochs=2, leader_epochs=5, faults=1)},
    parts=SLICES,
)
MODELS = (KIP455,)
