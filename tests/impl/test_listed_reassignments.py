"""Which reassignments a client is told of, and by whom."""

from types import SimpleNamespace

import pytest
from kafka.protocol.admin import ListPartitionReassignmentsRequest

from kafkaproof.impl.clients.reassignments import Reassignments
from kafkaproof.impl.seams.zookeeper.partition_numbers import Places
from kafkaproof.spec.running.broker_ids import PLAIN

NOT_CONTROLLER = 41


def partition(assignment=(), adding=0, removing=0):
    return SimpleNamespace(
        assignment=SimpleNamespace(slots=[*assignment, 0], length=len(assignment)), adding=adding, removing=removing
    )


@pytest.fixture
def answer():
    """Ask a broker with two partitions of `events`, one of a topic that was created, and one of none."""
    places = Places("events", further=2, size=2)
    places.note("more", {2: 0})
    known = [partition((2, 1, 0), adding=4, removing=1), partition((0, 1)), partition((1, 0), removing=1), partition()]

    def ask(topics=None, active=1):
        process = SimpleNamespace(
            election=SimpleNamespace(active=active),
            settings=SimpleNamespace(brokers=3),
            places=places,
            ids=PLAIN,
            partition=SimpleNamespace(controller=SimpleNamespace(partitions=known)),
        )
        kind, answers = ListPartitionReassignmentsRequest, []
        wanted = topics and [
            kind.ListPartitionReassignmentsTopics(name=name, partition_indexes=partitions)
            for name, partitions in topics.items()
        ]
        Reassignments(process).serve(SimpleNamespace(request=kind(timeout_ms=1, topics=wanted), answer=answers.append))
        (found,) = answers
        return found.error_code, {
            (topic.name, each.partition_index): (each.replicas, each.adding_replicas, each.removing_replicas)
            for topic in found.topics
            for each in topic.partitions
        }

    return ask


FIRST, MORE = {("events", 0): ([2, 1, 0], [2], [0])}, {("more", 0): ([1, 0], [], [0])}


def test_all_that_are_under_way(answer):
    assert answer() == (0, FIRST | MORE)


def test_those_that_a_client_asks_for(answer):
    assert answer({"more": [0, 1], "events": [1], "other": [0]}) == (0, MORE)
    assert answer({"events": [0]}) == (0, FIRST)


def test_only_the_controller_knows(answer):
    assert answer(active=0) == (NOT_CONTROLLER, {})
