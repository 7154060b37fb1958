"""The live seams of an election answer as the specification's ZooKeeper does, and tell of the changes that it would."""

import random
from types import SimpleNamespace

import pytest
from kazoo.protocol.serialization import Delete

from kafkaproof.impl.seams.zookeeper.election import ElectionZooKeeper
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered, create
from kafkaproof.impl.seams.zookeeper.session import Lost, Reply
from kafkaproof.impl.seams.zookeeper.znodes import BrokerId, Controller
from kafkaproof.spec.election.history import requests as old
from kafkaproof.spec.kafka import zookeeper as election
from kafkaproof.spec.kafka.zookeeper import ANSWERED, NONODE, OK
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.running.processes import ELECTION, cluster, scopes

BROKERS = 2
ADDRESS = BrokerId("127.0.0.1", 9, 8)


def candidates(opened, guarded):
    """Brokers whose sessions are open, live and in the model."""
    live = [ElectionZooKeeper(opened(), ADDRESS, guarded) for _ in range(BROKERS)]
    variant = cluster("fenced" if guarded else "legacy")
    state = new_state(variant.election.state, scopes(BROKERS, 1, 1, 1, 99)[ELECTION])
    variant.election.initial(state)
    for b in range(BROKERS):
        election.open_session(state.zk, b)
    return live, state


def choose_election(chance, guarded):
    """A request of the election: the function of the specification, and its arguments behind `zk, b`."""
    epoch, version = chance.randint(0, 4), chance.randint(0, 4)
    common = [
        (election.create_broker,),
        (election.read_controller,),
        (election.get_epoch, "reader"),
        (election.create_epoch, 0, ANSWERED),
    ]
    fenced = [
        (election.create_controller_and_set_epoch, epoch, version, ANSWERED),
        (election.checked_delete_notification, epoch, version, ANSWERED),
    ]
    unfenced = [
        (old.create_controller, ANSWERED),
        (old.read_owner,),
        (old.set_epoch, epoch, version, ANSWERED),
        (election.delete_controller, epoch, ANSWERED),
        (old.unchecked_delete_notification, epoch, version, ANSWERED),
    ]
    return chance.choice(common + (fenced if guarded else unfenced))


@pytest.mark.parametrize("guarded", (True, False))
@pytest.mark.parametrize("seed", range(6))
def test_election(opened, clean, guarded, seed):
    chance = random.Random(seed)
    live, state = candidates(opened, guarded)
    for number in range(60):
        b = chance.randrange(BROKERS)
        function, *arguments = choose_election(chance, guarded)
        if function is election.create_broker and state.zk.clients[b].registered == election.PROCESS:
            continue  # asked once a session: what is found again is taken for the answer that was lost
        if state.zk.epoch < 0 and function not in (election.create_broker, election.create_epoch, election.get_epoch):
            continue  # /controller is created only by who has seen an epoch, or (up to 2.0) creates one next
        readers = [SimpleNamespace(read_epoch=0, read_version=0) for _ in range(2)]
        wanted = function(state.zk, b, *(readers[0] if a == "reader" else a for a in arguments))
        found = getattr(live[b], function.__name__)(b, *(readers[1] if a == "reader" else a for a in arguments))
        told = f"{number}: {function.__name__}{arguments}"
        assert election.Answer.names[found] == election.Answer.names[wanted], told
        assert readers[0] == readers[1], told


@pytest.mark.parametrize("seed", range(3))
def test_events_of_the_controller_znode(opened, clean, seed):
    chance = random.Random(seed)
    live, state = candidates(opened, True)
    for _ in range(25):
        b = chance.randrange(BROKERS)
        live[b].read_controller(b)
        election.read_controller(state.zk, b)
        if chance.random() < 0.5 and state.zk.controller >= 0:
            clean.write(Delete(Controller.path, -1))
            election.remove_controller(state.zk)
        else:
            other = chance.randrange(BROKERS)
            live[other].create_controller(other, ANSWERED)
            old.create_controller(state.zk, other, ANSWERED)
        for each in range(BROKERS):
            live[each].requests.at_once(lambda r=live[each].requests: r.session.exists("/"))
            assert live[each].waiting(each) == election.waiting(state.zk, each)
            if chance.random() < 0.5 and live[each].waiting(each):
                live[each].take_event(each)
                election.take_event(state.zk, each)


@pytest.mark.parametrize("armed_before", (False, True))
def test_a_change_that_the_read_has_seen_is_no_event(opened, clean, armed_before):
    reader, session = ElectionZooKeeper(opened(), ADDRESS, True), None
    session = reader.requests.session
    if armed_before:
        assert reader.read_controller(0) == NONODE
    get, changes = session.get, [create(Controller.path, Controller(1).encode()), Delete(Controller.path, -1)]

    def get_after_a_change(path):
        if changes:
            reader.requests.wait([get("/")])
            assert clean.write(changes.pop(0)) == OK
        return get(path)

    session.get = get_after_a_change
    assert reader.read_controller(0) == NONODE
    assert reader.requests.attempts == 3
    assert reader.waiting(0) == (election.CHANGED if armed_before else election.NOTHING)


def test_the_watch_of_a_read_that_was_not_answered_tells_nothing(opened, clean):
    reader = ElectionZooKeeper(opened(), ADDRESS, True)
    session, lost = reader.requests.session, Reply(None, None, error=Lost(), done=True)
    get, session.get = session.get, lambda path: lost
    with pytest.raises(NotAnswered):
        reader.read_controller(0)
    session.get = get
    assert session.armed(Controller.path)
    assert clean.write(create(Controller.path, Controller(1).encode())) == OK
    reader.requests.at_once(lambda: session.exists("/"))
    assert reader.waiting(0) == election.CHANGED
    assert reader.read_controller(0) == OK and reader.waiting(0) == election.NOTHING
    assert clean.write(Delete(Controller.path, -1)) == OK
    reader.requests.at_once(lambda: session.exists("/"))
    assert reader.waiting(0) == election.DELETED


def test_an_event_that_nobody_has_taken_note_of_outlives_a_read(opened, clean):
    reader = ElectionZooKeeper(opened(), ADDRESS, True)
    assert clean.write(create(Controller.path, Controller(1).encode())) == OK
    assert reader.read_controller(0) == OK
    assert clean.write(Delete(Controller.path, -1)) == OK
    reader.requests.inbox.put(reader.requests.inbox.get(timeout=60))
    assert reader.waiting(0) == election.NOTHING
    assert reader.read_controller(0) == NONODE
    assert reader.waiting(0) == election.DELETED
