"""The election in one step as an abstraction of the election in steps, from 2.1 on.

A step of the election is followed by none of *partition*, but for the transaction, which is `failover.elect`. The one-step
election lacks what comes of a lost answer: /controller is there, and its owner does not know. Two steps are added for that.
What is compared is the whole of the controller's work: states, contexts, requests, replicas.
"""

from dataclasses import replace

from kafkaproof.spec.kafka.declarations import acting
from kafkaproof.spec.language.refinement import Added, Refinement
from kafkaproof.spec.partition import failover
from kafkaproof.spec.partition.context import READING_BROKERS, Broker
from kafkaproof.spec.partition.electing.model import FENCED, OFF, PRESENT
from kafkaproof.spec.partition.zookeeper import session_open, vacant


def elect_unheard(s, b: Broker):
    """Broker `b` is elected, and does not hear of it.

    Guards:  those of `failover.elect`.
    Effects: /controller is its own, and the epoch is raised; no term begins.
    Kafka:   KafkaZkClient.registerControllerAndIncrementControllerEpoch, 2.1 to 3.9 (a lost answer).
    """
    broker = s.brokers[b]
    if not broker.up or broker.controller.epoch > 0 or not vacant(s.zk) or not session_open(s.zk, b):
        return False

    s.zk.controller = b
    s.zk.epoch += 1
    return True


def hear_of_election(s, b: Broker):
    """Broker `b` finds that it is the controller.

    Guards:  /controller is its own, and it does not rule.
    Effects: its term begins.
    Kafka:   KafkaZkClient.registerControllerAndIncrementControllerEpoch, 2.1 to 3.9 (it compares the epoch).
    """
    broker = s.brokers[b]
    if not broker.up or broker.controller.epoch > 0 or s.zk.controller != b:
        return False

    broker.controller.epoch = s.zk.epoch
    broker.controller.doing = READING_BROKERS
    return True


def same_work(s, a):
    """ZooKeeper, contexts, requests and replicas are the same."""
    if max(s.zk.epoch, 0) != a.zk.epoch:
        return False
    for p in range(len(s.zk.partitions)):
        if not same_state(s.zk.partitions[p], a.zk.partitions[p]):
            return False
    for b in range(len(s.brokers)):
        if s.zk.clients[b].watch != a.zk.clients[b].watch or s.zk.clients[b].seen != a.zk.clients[b].seen:
            return False
        if not same_broker(s.brokers[b], a.brokers[b]):
            return False
    for epoch in range(len(s.network.requests)):
        for p in range(len(s.zk.partitions)):
            if not same_request(s.network.requests[epoch][p], a.network.requests[epoch][p]):
                return False
    return True


def same_state(one, other):
    """Whether two states of a partition are equal."""
    by = one.controller_epoch == other.controller_epoch and one.readers == other.readers
    return by and one.leader == other.leader and one.isr == other.isr and one.leader_epoch == other.leader_epoch


def same_request(one, other):
    """Whether two requests are equal."""
    return one.leader == other.leader and one.leader_epoch == other.leader_epoch and one.to == other.to


def same_broker(one, other):
    """Whether two brokers know the same, and do the same."""
    if one.up != other.up or one.seen_epoch != other.seen_epoch:
        return False
    mine = one.controller
    its = other.controller
    if mine.epoch != its.epoch or mine.doing != its.doing or mine.todo != its.todo or mine.live != its.live:
        return False
    for p in range(len(mine.partitions)):
        if one.replicas[p].leader != other.replicas[p].leader:
            return False
        if one.replicas[p].leader_epoch != other.replicas[p].leader_epoch:
            return False
        if not same_known(mine.partitions[p], its.partitions[p]):
            return False
    return True


def same_known(one, other):
    """Whether two controllers remember the same of a partition."""
    known = one.leader == other.leader and one.isr == other.isr and one.leader_epoch == other.leader_epoch
    return known and one.state == other.state


ONE_STEP = replace(
    PRESENT,
    transitions=tuple(t for t in PRESENT.transitions if t.function is failover.elect or t.function not in OFF),
    properties=(),
    expected={},
)
TO_ONE_STEP = Refinement(
    system="partition",
    abstract=ONE_STEP,
    added=tuple(Added(each) for each in acting(elect_unheard, hear_of_election)),
    equal={"zk.controller": "zk.controller", "zk.registered": "zk.registered"},
    passes=same_work,
    agrees=same_work,
    name="electing",
    variant=FENCED.variant,
)
