"""The live seams of partitions and topics answer as the specification's ZooKeeper does: both are asked the same, repeatedly."""

import random
from types import SimpleNamespace

import pytest
from kazoo.protocol.serialization import Delete, SetData

from kafkaproof.impl.seams.zookeeper.election import ElectionZooKeeper
from kafkaproof.impl.seams.zookeeper.partition import PartitionZooKeeper
from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, Places
from kafkaproof.impl.seams.zookeeper.requests import create
from kafkaproof.impl.seams.zookeeper.znodes import GIVEN, BrokerId, Controller, ControllerEpoch, Topic, TopicConfig
from kafkaproof.spec.kafka import zookeeper as election
from kafkaproof.spec.kafka.zookeeper import ANSWERED, OK
from kafkaproof.spec.language.plain import new_state, values_of
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.partition import zookeeper as partition
from kafkaproof.spec.partition.creation import zookeeper as creation
from kafkaproof.spec.partition.deletion import zookeeper as deletion
from kafkaproof.spec.partition.deletion.model import OF_CREATION, WITH_DELETIONS
from kafkaproof.spec.partition.deletion.zookeeper import group_topics
from kafkaproof.spec.partition.expansion import zookeeper as expansion
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.reassignment import zookeeper as reassignment
from kafkaproof.spec.partition.znodes import LOG_DIR_EVENTS, PREFERRED_REQUEST, REASSIGN_REQUEST
from kafkaproof.spec.running.processes import PARTITION, cluster, scopes
from tests.impl.test_election_seams import ADDRESS, BROKERS

TOPIC = "t"


def controllers(opened, operator, guarded, room=0):
    """Two brokers that were elected one after the other, and a topic; live and in the model."""
    variant = cluster("fenced" if guarded else "legacy")
    state = new_state(variant.partition.state, scopes(BROKERS, 2, 2 + room, 1, 99)[PARTITION])
    variant.partition.initial(state)
    creation.leave_unused(state.zk, 2)
    assignment = tuple(tuple(a.slots[: a.length]) for a in state.zk.assignments[:2])
    for path, znode in ((Topic.path_of(TOPIC), Topic(assignment)), (TopicConfig.path_of(TOPIC), TopicConfig(False))):
        operator.write(create(path, znode.encode()))
    operator.write(create(ControllerEpoch.path, b"0"))
    live, zks = [], []
    for b in range(BROKERS):
        requests = opened()
        candidate = ElectionZooKeeper(requests, ADDRESS, guarded)
        assert candidate.create_broker(b) == OK
        assert candidate.create_controller_and_set_epoch(b, b + 1, b, ANSWERED) == OK
        zk = PartitionZooKeeper(requests, Places(TOPIC, further=2 if room else NONE, size=2), BROKERS)
        zk.begin_term(b + 1, b + 1)
        live.append(zk)
        reader = state.brokers[b].controller
        assert partition.create_controller(state.zk, b, reader) == OK
        if b == 0:
            operator.write(Delete(Controller.path, -1))
            partition.remove_controller(state.zk)
        zks.append(reader)
    return live, state, zks


def choose_partition(chance, guarded, epoch):
    """A request of a controller: the function of the specification, and its arguments behind `zk, b`."""
    p, leader, isr = chance.randrange(2), chance.choice((-1, 0, 1)), chance.randint(1, 3)
    leader_epoch = chance.randint(0, 5)
    request = chance.choice((PREFERRED_REQUEST, REASSIGN_REQUEST))
    written = (p, epoch, leader, isr, leader_epoch, ANSWERED)
    created = (p, epoch, leader, isr, ANSWERED)
    reads = [(partition.read_state, p, epoch, "reader"), (partition.get_state, p, "reader")]
    fenced = [
        (partition.checked_set_state, *written),
        (partition.checked_create_state, *created),
        (partition.checked_delete_request, request, epoch, ANSWERED),
        (partition.list_brokers, "controller"),
    ]
    unfenced = [
        (partition.set_state, *written),
        (partition.create_state, *created),
        (partition.delete_request, request, epoch, ANSWERED),
        (leader_zk.list_broker_ids, "controller"),
    ]
    return chance.choice(reads + (fenced if guarded else unfenced))


@pytest.mark.parametrize("guarded", (True, False))
@pytest.mark.parametrize("seed", range(6))
def test_partitions(opened, clean, guarded, seed):
    chance = random.Random(seed)
    live, state, _ = controllers(opened, clean, guarded)
    result = state.brokers[0].controller.result
    try:
        for number in range(60):
            b = chance.randrange(BROKERS)
            function, *arguments = choose_partition(chance, guarded, b + 1)
            given = [substitute(arguments, result.copy(), state.brokers[b].controller.copy()) for _ in range(2)]
            wanted = function(state.zk, b, *given[0])
            found = getattr(live[b], function.__name__)(b, *given[1])
            told = f"{number}: {function.__name__}{arguments} by {b}"
            assert election.Answer.names[found] == election.Answer.names[wanted], told
            assert [values_of(v) for v in given[0]] == [values_of(v) for v in given[1]], told
    finally:
        remove_topic(clean)


@pytest.mark.parametrize("seed", range(3))
def test_topics_that_are_created(opened, clean, seed):
    chance = random.Random(seed)
    live, state, _ = controllers(opened, clean, True, room=4)
    names = {0b000100: "one", 0b011000: "two", 0b100000: "three"}
    try:
        for _ in range(30):
            b, new = chance.randrange(BROKERS), chance.choice(list(names))
            live[b].creating = names[new]
            if chance.random() < 0.3:
                assert live[b].write_topic_config(b, ANSWERED) == creation.write_topic_config(state.zk, b, ANSWERED)
            wanted = new, chance.choice((1, 2)), chance.randrange(3), chance.randrange(3), 0b11, b + 1, ANSWERED
            found = live[b].checked_create_topic(b, *wanted)
            assert (
                election.Answer.names[found]
                == election.Answer.names[creation.checked_create_topic(state.zk, b, *wanted)]
            )
            live[b].refresh()
            there = partition.partitions_of_topics(state.zk) & ~0b11
            assert live[b].partitions_of_topics() == there
            readers = [state.brokers[b].controller.copy() for _ in range(2)]
            assert creation.read_topics(state.zk, b, there, readers[0]) == OK
            assert live[b].read_topics(b, there, readers[1]) == OK
            assert values_of(readers[0]) == values_of(readers[1])
    finally:
        remove_topic(clean)
        clean.write(SetData(GIVEN, b"", -1))
        for name in names.values():
            for path in (Topic.path_of(name), TopicConfig.path_of(name)):
                clean.write(Delete(path, -1))


TWO, OF_TWO = "two", 0b011000
"""A topic that is created, and its partitions."""


def choose_deletion(chance, zk, epoch):
    """A request of a controller that deletes: the function of the specification, and its arguments behind `zk, b`."""
    has_state = any(zk.partitions[p].leader_epoch >= 0 for p in (3, 4))
    topics = () if has_state else ((deletion.checked_delete_topic, OF_TWO, epoch, ANSWERED),)
    left = ((deletion.checked_delete_leftovers, 0, epoch, ANSWERED),) if deletion.is_left_over(zk) else ()
    return chance.choice(
        (
            *left,
            (deletion.create_marker, chance.choice((3, 4)), ANSWERED),
            *topics,
            (deletion.checked_delete_state, chance.choice((3, 4)), epoch, ANSWERED),
            (deletion.checked_delete_config, OF_TWO, epoch, ANSWERED),
            (deletion.checked_delete_marker, OF_TWO, epoch, ANSWERED),
        )
    )


@pytest.mark.parametrize("seed", range(3))
def test_topics_that_are_deleted(opened, clean, seed):
    chance = random.Random(seed)
    live, state, _ = controllers(opened, clean, True, room=4)
    deletion.group_topics(state.zk, -1)
    create_topic = rebind(creation.checked_create_topic, WITH_DELETIONS | OF_CREATION)
    live[1].creating = TWO
    for each in (live[1].checked_create_topic, lambda *given: create_topic(state.zk, *given)):
        assert each(1, OF_TWO, 2, 0, 0, 0b11, 2, ANSWERED) == OK
    try:
        for b in range(BROKERS):
            live[b].list_topics()
        for p in (3, 4):
            for each in (live[1].checked_create_state, lambda *given: partition.checked_create_state(state.zk, *given)):
                assert each(1, p, 2, 0, 1, ANSWERED) == OK
        for number in range(60):
            b = chance.randrange(BROKERS)
            live[b].requests.at_once(lambda r=live[b].requests: r.session.exists("/"))
            live[b].refresh()
            assert live[b].is_left_over() == deletion.is_left_over(state.zk)
            function, *arguments = choose_deletion(chance, state.zk, b + 1)
            wanted, found = function(state.zk, b, *arguments), getattr(live[b], function.__name__)(b, *arguments)
            told = f"{number}: {function.__name__}{arguments} by {b}"
            assert election.Answer.names[found] == election.Answer.names[wanted], told
            live[b].refresh()
            assert live[b].deletion_wanted() == deletion.deletion_wanted(state.zk), told
            assert live[b].is_left_over() == deletion.is_left_over(state.zk), told
            assert live[b].topics_of(0b001000) == deletion.topics_of(state.zk, 0b001000) == OF_TWO
        assert all(live[b].noted.places == OF_TWO for b in range(BROKERS)), "their numbers are not given again"
    finally:
        remove_topic(clean)
        clean.write(SetData(GIVEN, b"", -1))
        clean.write(Delete(f"/admin/delete_topics/{TWO}", -1))


def test_partitions_that_are_added_and_taken_back(opened, clean):
    live, state, _ = controllers(opened, clean, True, room=4)
    deletion.group_topics(state.zk, -1)
    zk, b, stay = state.zk, 1, range(3)
    try:
        live[b].list_topics()
        for new in (0b000100, 0b011000):
            requests = [state.brokers[b].expansion.copy() for _ in range(2)]
            for read, write, request in zip(
                (live[b].read_topic, lambda *given: expansion.read_topic(zk, *given)),
                (live[b].write_topic, lambda *given: expansion.write_topic(zk, *given)),
                requests,
            ):
                assert read(b, 0, new, 1, request) == OK and write(b, 0, request, ANSWERED) == OK
            assert values_of(requests[0]) == values_of(requests[1])
            live[b].refresh()
            for known in (0b11, 0b111):
                assert live[b].added(known) == expansion.added(zk, known)
                assert live[b].in_other_topics(known) == expansion.in_other_topics(zk, known) == 0
        readers = [state.brokers[b].controller.copy() for _ in range(2)]
        assert live[b].read_topics(b, 0b011100, readers[0]) == creation.read_topics(zk, b, 0b011100, readers[1]) == OK
        assert values_of(readers[0]) == values_of(readers[1])
        for p in stay:
            for each in (live[b].checked_create_state, lambda *given: partition.checked_create_state(zk, *given)):
                assert each(b, p, b + 1, 0, 1, ANSWERED) == OK
        for each in (live[b].checked_restore_topic, lambda *given: expansion.checked_restore_topic(zk, *given)):
            assert each(b, 0, b + 1, ANSWERED) == OK
        live[b].refresh()
        assert live[b].partitions_of_topics() == partition.partitions_of_topics(zk) & ~0b11 == 0b000100
        assert live[b].noted.places == 0b011100, "their numbers are not given again"
    finally:
        remove_topic(clean, stay)
        clean.write(SetData(GIVEN, b"", -1))


@pytest.mark.parametrize("seed", range(3))
def test_assignments_that_are_changed(opened, clean, seed):
    chance = random.Random(seed)
    live, state, _ = controllers(opened, clean, True)
    group_topics(state.zk, NONE)
    try:
        for number in range(40):
            b, p = chance.randrange(BROKERS), chance.randrange(2)
            known = state.brokers[b].controller.partitions[p].copy()
            replicas = chance.sample(range(BROKERS), chance.randint(1, BROKERS))
            known.assignment.slots[: len(replicas)], known.assignment.length = replicas, len(replicas)
            known.adding, known.removing = ((1 << each) * chance.randrange(2) for each in (replicas[0], replicas[-1]))
            if chance.random() < 0.5:
                context = state.brokers[b].controller.copy()
                reassignment.load_reassigned(state.zk, b, 1 - p, context.partitions[1 - p], context.result)
                context.partitions[p] = known
                found = live[b].checked_set_topic(b, p, context, b + 1, ANSWERED)
                wanted = reassignment.checked_set_topic(state.zk, b, p, context, b + 1, ANSWERED)
                assert election.Answer.names[found] == election.Answer.names[wanted], number
            readers = [(known.copy(), state.brokers[b].controller.result.copy()) for _ in range(2)]
            assert live[b].load_reassigned(b, p, *readers[0]) == reassignment.load_reassigned(
                state.zk, b, p, *readers[1]
            )
            read = [
                (each.assignment.slots[: each.assignment.length], each.adding, each.removing) for each, _ in readers
            ]
            assert read[0] == read[1], number
        alone = state.brokers[0].controller.copy()
        reassignment.load_reassigned(state.zk, 0, 0, alone.partitions[0], alone.result)
        assert live[1].checked_set_topic(1, 0, alone, 2, ANSWERED) == OK
        assert reassignment.checked_set_topic(state.zk, 1, 0, alone, 2, ANSWERED) == OK
        found = clean.at_once(lambda: clean.session.get(Topic.path_of(TOPIC)))[0]
        assert len(Topic.decode(found.result[0]).assignments) == 1, "partition 1 was not in the context"
        assert state.zk.assignments[1].length == 0
    finally:
        remove_topic(clean)


def test_notifications_of_failed_log_directories(opened, clean):
    live, state, _ = controllers(opened, clean, True)
    try:
        for sender in range(BROKERS):
            assert live[1].create_log_dir_event(sender) == partition.create_log_dir_event(state.zk, sender) == OK
        live[1].refresh()
        assert live[1].log_dir_events() == partition.log_dir_events(state.zk) == 3
        assert live[1].read_log_dir_events(1) == partition.read_log_dir_events(state.zk, 1) == OK
        assert live[1].log_dir_events() == partition.log_dir_events(state.zk) == 0
        live[1].create_log_dir_event(0)
        asked = LOG_DIR_EVENTS, 2, ANSWERED
        assert live[1].checked_delete_request(1, *asked) == partition.checked_delete_request(state.zk, 1, *asked) == OK
        live[1].refresh()
        assert live[1].log_dir_events() == 1
        assert live[1].read_log_dir_events(1) == OK
        assert live[1].checked_delete_request(1, *asked) == OK
    finally:
        remove_topic(clean)


def substitute(arguments, result, controller):
    parts = {"reader": result, "controller": controller}
    return [parts[a] if isinstance(a, str) else a for a in arguments]


def remove_topic(operator, partitions=range(2)):
    top = Topic.path_of(TOPIC)
    for p in partitions:
        operator.write(Delete(f"{top}/partitions/{p}/state", -1))
        operator.write(Delete(f"{top}/partitions/{p}", -1))
    for path in (f"{top}/partitions", top, TopicConfig.path_of(TOPIC)):
        operator.write(Delete(path, -1))


def test_a_broker_that_was_listed_is_no_change(opened, clean):
    live, state, readers = controllers(opened, clean, True)
    try:
        for b in range(BROKERS):
            assert live[0].list_brokers(0, readers[0]) == partition.list_brokers(state.zk, 0, readers[0]) == OK
            assert clean.write(create(BrokerId.path_of(8 + b), ADDRESS.encode())) == OK
        assert live[0].list_brokers(0, SimpleNamespace(live=0)) == OK
        assert not live[0].brokers_changed(0)
    finally:
        for b in range(BROKERS):
            clean.write(Delete(BrokerId.path_of(8 + b), -1))
        remove_topic(clean)
