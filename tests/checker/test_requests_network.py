"""What channels deliver may also arrive where only the newest content of each term is kept."""

from dataclasses import replace

import pytest

from kafkaproof.checker.explore.reference import explore
from kafkaproof.spec.kafka.declarations import acting
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition import replica
from kafkaproof.spec.partition.deletion import replica as deletion_replica
from kafkaproof.spec.partition.deletion.model import WITH_DELETIONS
from kafkaproof.spec.partition.deletion.state import STATE
from kafkaproof.spec.partition.deletion.state import initial as begin
from kafkaproof.spec.partition.metadata.model import with_updates
from kafkaproof.spec.requests import controller
from kafkaproof.spec.requests.model import CONTROLLER, CURRENT, FAULTS, scope

BARE = replace(CURRENT, properties=())
SMALL = scope(epochs=1, replicas=1, leader_epochs=1)
HANDLERS = acting(replica.leader_and_isr, deletion_replica.stop_replica)
OF_CHANNELS = (
    controller.send_requests,
    controller.after_election,
    controller.after_removal,
    controller.open_all,
    controller.change_channels,
    controller.end_term,
    controller.end_session,
)


def no_channels(s, b):
    """There are no channels."""
    return 0


def initial(s):
    """Where the system *requests* begins."""
    begin(s)
    s.zk.unclean = 1
    for p in range(len(s.zk.topics)):
        s.zk.partitions[p].leader = s.zk.assignments[p].slots[0]
        s.zk.partitions[p].isr = replicas_of(s.zk.assignments[p])
        s.zk.partitions[p].leader_epoch = 0
        for b in range(len(s.brokers)):
            s.brokers[b].replicas[p].ghosts.log = 1 if contains(replicas_of(s.zk.assignments[p]), b) else 0


def newest():
    """The controller and the faults of *requests*, over the network of *partition*."""
    plain = replace(
        CURRENT, state=STATE, initial=initial, transitions=CONTROLLER + HANDLERS + FAULTS, replaced=(), seams=()
    )
    bound = plain.rebound(dict.fromkeys(OF_CHANNELS, no_channels))
    return replace(with_updates(bound.rebound(WITH_DELETIONS)), properties=())


def seen(s):
    """What ZooKeeper has, and what brokers do as LeaderAndIsr and StopReplica have told them.

    Of what clients are told an order shows: the requests that one event sends arrive as one where there is none.
    """
    zk = [(p.leader, p.leader_epoch, p.isr, p.controller_epoch) for p in s.zk.partitions]
    brokers = []
    for broker in s.brokers:
        replicas = [(r.leader, r.leader_epoch, r.failed, r.ghosts.log) for r in broker.replicas]
        brokers.append((broker.up, broker.seen_epoch, tuple(replicas)))
    return s.zk.registered, s.zk.controller, s.zk.epoch, s.zk.deleting, tuple(zk), tuple(brokers)


@pytest.mark.parametrize("at", [scope(epochs=1, faults=0), SMALL])
def test_what_channels_deliver_may_also_arrive_without_their_order(at):
    in_order, any_order = (explore(model, at).graph.states.values() for model in (BARE, newest()))
    assert {seen(s) for s in in_order} <= {seen(s) for s in any_order}
