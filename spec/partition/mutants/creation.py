"""Mutants of the creation of topics: one deliberate mistake each, on the variant `creating` of partitions."""

from kafkaproof.spec.kafka import placement, strategies
from kafkaproof.spec.kafka.placement import broker_at
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, OK, outcome
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.mutants.omission import omitting
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition import progress
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.creation import creation
from kafkaproof.spec.partition.creation import zookeeper as creation_zookeeper
from kafkaproof.spec.partition.creation.zookeeper import assign_new
from kafkaproof.spec.partition.mutants.partition_mutant import CALM, ONE, TWO, mutant, mutant_within
from kafkaproof.spec.partition.progress import end_event
from kafkaproof.spec.partition.zookeeper import session_open


def assign_first_again(zk, assignment, replicas, first, farther, live, size):
    """All replicas of a new partition are on one broker."""
    for i in range(len(assignment.slots)):
        if i < replicas:
            push(assignment, broker_at(zk, live, first))


def lowest_online(assignment, online):
    """The first state of a partition names any broker that is online, whether it has a replica or not."""
    found = NOBODY
    for i in range(len(assignment.slots)):
        if found == NOBODY and contains(online, i):
            found = i
    return found


def anybody_online(assignment, online):
    """Its first ISR is of them all."""
    return online


def rest(controller):
    """A controller that has read a new topic leaves its partitions as they are."""
    controller.todo = 0
    end_event(controller)


def go_on(s, b, answer):
    """A controller that is refused goes on as before."""


def create_over(zk, b, new, replicas, start, shift, live, delivery):
    """A topic that is there is created again."""
    if not session_open(zk, b):
        return EXPIRED
    if delivery != LOST_DROPPED:
        for p in range(len(zk.assignments)):
            if contains(new, p):
                clear(zk.assignments[p])
        assign_new(zk, new, replicas, start, shift, live)
    return outcome(zk, OK, delivery)


OMITTED = tuple(
    omitting(transition, kills, CALM)
    for transition, kills in (
        (creation.create_topic, "created_as_asked"),
        (creation.topic_change, "created_taken_up"),
        (creation.configure_topic, "configured_beforehand"),
    )
)
MUTANTS = OMITTED + (
    mutant("replicas-on-one-broker", "replicas_are_distinct", {placement.assign_one: assign_first_again}, CALM),
    mutant(
        "state-without-topic",
        "no_state_without_topic",
        {strategies.new_topic_leader: lowest_online, strategies.new_topic_isr: anybody_online},
        CALM,
    ),
    mutant_within("new-topic-not-elected", "is_new_led_if_possible", "topic_change", {progress.proceed: rest}, CALM),
    mutant_within("goes-on-when-fenced", "refused_when_fenced", "create_topic", {progress.give_up: go_on}, TWO),
    mutant("topic-created-over", "assignments_stay", {creation_zookeeper.create_topic: create_over}, ONE),
)
