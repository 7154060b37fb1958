"""What followers and leaders send again, and when."""

import time
from types import SimpleNamespace

import pytest

from kafkaproof.impl.broker.record import transition
from kafkaproof.impl.broker.replica import open_planes
from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.replicas.replication import ASK_AGAIN, Replication
from kafkaproof.impl.seams.network import Message
from kafkaproof.impl.seams.storage.checkpoint import Checkpoint
from kafkaproof.spec.replica.broker import FETCHING, LEADER, NONE, TRUNCATING
from kafkaproof.spec.replica.network import SENT, propose, send
from kafkaproof.spec.running.processes import PARTITION, cluster, scopes
from kafkaproof.spec.running.replica_messages import ASKED, OUTDATED, fields_of

LEADERS_ADDRESS = "leader", 1


@pytest.fixture
def process(tmp_path):
    """Broker 1 of two, with one replica; `sent` is what it sends."""
    settings = Settings(1, 1, 2, 2, 1, 1, "fenced", "alone", "", 60.0, "", str(tmp_path))
    scope = scopes(2, 2, 1, 1, 10)[PARTITION]
    checkpoint = Checkpoint(tmp_path, settings.places)
    made = SimpleNamespace(
        broker=1, settings=settings, checkpoint=checkpoint, asked={}, sent=[], leaders={0: LEADERS_ADDRESS}
    )
    made.planes = open_planes(cluster("fenced").partition, scope, settings, checkpoint)
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
    assert (address, kind) == (LEADERS_ADDRESS, ASKED) and content["fields"]["epoch"] == 4


@pytest.mark.parametrize("state", [NONE, LEADER])
def test_who_follows_no_more_sends_nothing_again(process, state):
    assert asks(process, state) == []


def test_a_leader_proposes_again_until_it_is_refused_for_its_version(process):
    plane, proposals = process.planes[0], Replication(process, lambda *step, **arguments: False)
    proposals.controller = "controller", 1
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
    proposals.handle(Message(OUTDATED, "0.1-1", 0, None, 0, 0, {"p": 0, "fields": fields | {"epoch": 3}}))
    assert proposed() == ["AlterPartition"]
    proposals.handle(Message(OUTDATED, "0.1-2", 0, None, 0, 0, {"p": 0, "fields": fields}))
    assert proposed() == [] and plane.replica.pending == 2
