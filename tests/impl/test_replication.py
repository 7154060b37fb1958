"""What followers and leaders send again, and when."""

import time
from types import SimpleNamespace

import pytest

from kafkaproof.impl.broker.record import transition
from kafkaproof.impl.broker.replica import Disk
from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.replicas.replication import ASK_AGAIN, Replication
from kafkaproof.impl.seams.between.messages import Message, Receiver
from kafkaproof.spec.replica.broker import FETCHING, LEADER, NONE, TRUNCATING
from kafkaproof.spec.replica.network import SENT, propose, send
from kafkaproof.spec.running.processes import PARTITION, cluster, scopes
from kafkaproof.spec.running.replica_messages import ASKED, OUTDATED, fields_of

LEADER_AT, CONTROLLER_AT = Receiver(0, "leader", 1), Receiver(2, "controller", 1)


@pytest.fixture
def process(tmp_path):
    """Broker 1 of two, with one replica; `sent` is what it sends."""
    settings = Settings(1, 1, 2, 2, 1, 1, "fenced", "alone", "", 60.0, "", str(tmp_path))
    scope = scopes(2, 2, 1, 1, 10)[PARTITION]
    disk = Disk(settings, settings.places)
    made = SimpleNamespace(
        broker=1, settings=settings, disk=disk, asked={}, sent=[], leaders={0: LEADER_AT}, stepped=set()
    )
    made.known = SimpleNamespace(reach={CONTROLLER_AT.broker: CONTROLLER_AT}.get)
    made.post = SimpleNamespace(is_under_way=lambda to, kind, p: (to, kind, p) in made.under_way)
    made.under_way = set()
    made.planes = [disk.open(cluster("fenced").partition, scope, 0)]
    made.announce = lambda *message: made.sent.append(message) or f"1.1-{len(made.sent)}"
    return made


def asks(process, state):
    """Let the replica have asked long ago, and be in `state` now; what goes out when what is due is done."""
    plane = process.planes[0]
    with transition():
        plane.replica.leader, plane.replica.leader_epoch = 0, 4
        plane.replica.state = TRUNCATING if state == TRUNCATING else FETCHING
        send(plane.network, 1, plane.replica)
        plane.replica.state = state
    process.asked[0] = "1.1-0", time.monotonic() - 2 * ASK_AGAIN
    Replication(process, lambda *step, **arguments: False).tick()
    return process.sent


@pytest.mark.parametrize("state", [TRUNCATING, FETCHING])
def test_a_follower_whose_request_is_not_answered_sends_it_again(process, state):
    ((address, kind, content),) = asks(process, state)
    assert (address, kind) == (LEADER_AT, ASKED) and content["fields"]["epoch"] == 4


def test_a_request_that_the_leader_has_is_not_sent_again(process):
    process.under_way.add((LEADER_AT, ASKED, 0))
    assert asks(process, FETCHING) == []


@pytest.mark.parametrize("state", [NONE, LEADER])
def test_who_follows_no_more_sends_nothing_again(process, state):
    assert asks(process, state) == []


def test_a_leader_proposes_again_until_it_is_refused_for_its_version(process):
    plane, proposals = process.planes[0], Replication(process, lambda *step, **arguments: False)
    proposals.controller = CONTROLLER_AT.broker
    with transition():
        plane.replica.state, plane.replica.leader, plane.replica.leader_epoch = LEADER, 1, 4
        plane.replica.isr, plane.replica.pending = 3, 2
        propose(plane.network, 1, 4, 2)

    def proposed():
        process.sent.clear()
        proposals._proposed.clear()
        proposals.tick()
        return [kind for _, kind, _ in process.sent]

    fields = fields_of(plane.network.alters[1])
    assert fields["state"] == SENT and proposed() == proposed() == ["AlterPartition"]
    process.under_way.add((CONTROLLER_AT, "AlterPartition", 0))
    assert proposed() == []
    process.under_way.clear()
    proposals.handle(Message(OUTDATED, "0.1-1", 0, 0, 0, {"p": 0, "fields": fields | {"epoch": 3}}))
    assert proposed() == ["AlterPartition"]
    proposals.handle(Message(OUTDATED, "0.1-2", 0, 0, 0, {"p": 0, "fields": fields}))
    assert proposed() == [] and plane.replica.pending == 2


def test_what_a_real_follower_asks_is_not_older_than_what_one_of_ours_in_its_place_asked(process):
    served = []
    leader = Replication(process, lambda step, message, **arguments: served.append(message.id) or False)
    with transition():
        process.planes[0].replica.state = LEADER
    fields = fields_of(process.planes[0].network.messages[0]) | {"offset": 9}
    for id in ("0.2-7", "0.0-1", "0.2-6"):
        leader.handle(Message(ASKED, id, 0, 0, 0, {"p": 0, "fields": fields}))
    assert served == ["0.2-7", "0.0-1"], "what ours had sent before comes too late"
