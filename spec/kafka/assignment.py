"""The assignment of a partition that is being reassigned: functions of its replicas, and of what is added and removed.

`replicas` is a sequence of distinct brokers, including those that are added and those that are removed. The origin is
the assignment before the reassignment, the target the one after it.

Source: kafka.controller.ReplicaAssignment, 2.4 to 3.9.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, difference, is_empty, with_member


def append_members(source, brokers, sequence):
    """Append to `sequence` the elements of `source` that are in `brokers` and not in it yet, in their order."""
    for i in range(source.length):
        if contains(difference(brokers, replicas_of(sequence)), source.slots[i]):
            push(sequence, source.slots[i])


def is_distinct(sequence):
    """Whether no broker is in a sequence twice."""
    members = 0
    for i in range(sequence.length):
        if contains(members, sequence.slots[i]):
            return False
        members = with_member(members, sequence.slots[i])
    return True


def origin(replicas, adding):
    """The replicas before the reassignment in progress."""
    return difference(replicas_of(replicas), adding)


def target(replicas, removing):
    """The replicas after the reassignment in progress."""
    return difference(replicas_of(replicas), removing)


def is_complete(replicas, adding, removing, isr):
    """Whether a reassignment can be finished: there is none, or its target is in the ISR.

    Kafka: KafkaController.isReassignmentComplete, 2.4 to 3.9.
    """
    is_none = is_empty(adding) and is_empty(removing)
    return is_none or is_empty(difference(target(replicas, removing), isr))
