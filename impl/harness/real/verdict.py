"""A violated property, restated on what is seen of real brokers: what was acknowledged, what consumers read, what logs
and ZooKeeper hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from kafka.admin import KafkaAdminClient
from kafka.errors import EligibleLeadersNotAvailableError, KafkaError

from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, wait_until
from kafkaproof.impl.harness.driving.watch import known_state_in, read_znode, state_in
from kafkaproof.impl.harness.real.cluster import KafkaCluster
from kafkaproof.impl.harness.real.outside import seen_of
from kafkaproof.impl.harness.real.records import Clients
from kafkaproof.impl.seams.zookeeper.znodes import TOPICS, Topic
from kafkaproof.spec.language.domains import NOBODY

UNCLEAN = 1
"""Kafka's number of an election outside the ISR."""


class Seen(NamedTuple):
    """One partition, as it is seen from outside: its state in ZooKeeper, what each broker shows to consumers, and the
    records that the log of each replica holds.
    """

    partition: int
    state: dict[str, Any]
    shown: Mapping[int, list[bytes]]
    logs: Mapping[int, list[bytes]]

    @property
    def text(self) -> str:
        """All of it in words."""
        logs = "; ".join(f"broker {b} has {_words(log)}" for b, log in self.logs.items())
        return f"ZooKeeper: {TOPIC}-{self.partition} {json.dumps(self.state)}; {logs}"


def look(cluster: KafkaCluster, clients: Clients, p: int, brokers: int) -> Seen:
    """How a partition looks now, of whose replicas the first `brokers` may have one."""
    running = [b for b in range(brokers) if cluster.children[b].running]
    found = state_in(cluster, p)
    return Seen(
        p,
        seen_of(found) if found else {},
        {b: clients.visible(b, p) for b in running},
        {b: cluster.log_of(b, p) for b in range(brokers)},
    )


def lost(now: Seen, later: Seen, clients: Clients) -> list[str]:
    """The records that were acknowledged with acks=all, and that nobody can read afterwards, in words."""
    readable = later.shown.get(later.state.get("leader", NOBODY), [])
    return [
        f"{each.value.decode()}, acknowledged with acks=all by broker {each.broker} at offset {each.offset}, is in "
        f"{_where(each.value, later)}"
        for each in clients.produced
        if each.is_acknowledged and each.partition == now.partition and each.value not in readable
    ]


def unread(now: Seen, later: Seen, clients: Clients) -> list[str]:
    """The records that a consumer has read, and that nobody can read afterwards, in words."""
    readable = later.shown.get(later.state.get("leader", NOBODY), [])
    return [
        f"{value.decode()}, which a consumer has read, is in {_where(value, later)}"
        for value in clients.read
        if value not in readable
    ]


def incomplete(now: Seen, later: Seen, clients: Clients) -> list[str]:
    """The records that consumers are shown, or that are acknowledged, and that a member of the ISR lacks, in words."""
    shown = {value: b for b, log in now.shown.items() for value in log}
    shown |= {
        each.value: each.broker for each in clients.produced if each.is_acknowledged and each.partition == now.partition
    }
    return [
        f"{value.decode()}, committed by broker {b}, is not in the log of broker {member}, which is in the ISR"
        for value, b in shown.items()
        for member in now.state.get("isr", [])
        if value not in now.logs[member]
    ]


def waits(now: Seen, later: Seen, clients: Clients) -> list[str]:
    """The records that a leader that is alone in the ISR does not acknowledge, in words."""
    leader = now.state.get("leader")
    return [
        f"{each.value.decode()} is not acknowledged by broker {leader}, which is alone in the ISR"
        for each in clients.produced
        if now.state.get("isr") == [leader] and not each.is_acknowledged
    ]


def leaderless(now: Seen, later: Seen, clients: Clients) -> list[str]:
    """A partition that nobody leads, in words."""
    if later.state.get("leader") != NOBODY:
        return []
    return [f"nobody leads {TOPIC}-{later.partition}, whose ISR is {later.state['isr']}"]


def _serves(cluster: KafkaCluster) -> bool:
    """Whether the leader that ZooKeeper names appends a record, within a second."""
    state = state_in(cluster, 0)
    if state is None or state.leader not in cluster.registered():
        return False
    record = Clients(TOPIC, {state.leader: cluster.children[state.leader].port}).produce(state.leader, 0, 1)
    return wait_until(lambda: record.error is not None, 1.0) and record.error == DONE


def _is_removed(cluster: KafkaCluster) -> bool:
    """Whether no broker has a log of the topic."""
    return not any(cluster.has_log(b, 0) for b in range(cluster.size.brokers))


def _creates_states(cluster: KafkaCluster) -> bool:
    """Whether a controller has given the topic, which an operator creates, its first state."""
    if not cluster.below(TOPICS):
        cluster.create_events([cluster.registered()])
    return state_in(cluster, 0) is not None


def _elects_if_forced(cluster: KafkaCluster) -> bool:
    """Whether the controller finds a leader when it is asked for an unclean election."""
    try:
        with closing(KafkaAdminClient(bootstrap_servers=_addresses(cluster))) as admin:
            admin.elect_leaders(UNCLEAN, {TOPIC: [0]})
    except EligibleLeadersNotAvailableError:
        return known_state_in(cluster, 0).leader != NOBODY
    except KafkaError:
        pass
    return True


def _addresses(cluster: KafkaCluster) -> list[str]:
    """Where the brokers that run are found."""
    return [link.address for b, link in cluster.inner.items() if cluster.children[b].running]


def _has_moved(cluster: Cluster) -> bool:
    """Whether the topic's znode says that nothing is added or removed."""
    topic = read_znode(cluster, Topic.path_of(TOPIC), Topic)
    return topic is not None and not any(moved for _, moved in (*topic.adding, *topic.removing))


def _is_assigned(cluster: KafkaCluster) -> bool:
    """Whether the ISR of each partition is part of its assignment."""
    topic = read_znode(cluster, Topic.path_of(TOPIC), Topic)
    return topic is None or all(
        state is None or set(state.isr) <= set(replicas)
        for p, replicas in enumerate(topic.assignments)
        for state in (state_in(cluster, p),)
    )


RESTATED: Mapping[str, Callable[[Seen, Seen, Clients], list[str]]] = {
    "committed": lost,
    "isr_complete": incomplete,
    "stable_read": unread,
    "alone_acknowledges": waits,
    "may_go_when_followed": leaderless,
}
"""What shows from outside that a property is violated, `now` at the end of the counterexample and `later` when all
brokers are in sync again.
"""
HOLDS: Mapping[str, tuple[str, Callable[[KafkaCluster], bool]]] = {
    "removed_when_deleted": ("a broker has a log of the topic that is deleted", _is_removed)
}
"""Properties that no client sees, and that show in more than ZooKeeper: what is seen while they are violated, and
whether they hold.
"""
MENDED: Mapping[str, tuple[str, Callable[[KafkaCluster], bool]]] = {
    "one_controller": ("nobody rules", lambda cluster: cluster.controller() is not None),
    "is_served": ("the leader that ZooKeeper names takes no record", _serves),
    "trapped": ("a new topic gets no first state", _creates_states),
    "has_moved": ("a reassignment is not over", _has_moved),
    "isr_assigned": ("an ISR has a member outside the assignment", _is_assigned),
    "force_elects": (
        "an unclean election that is asked for is answered ELIGIBLE_LEADERS_NOT_AVAILABLE",
        _elects_if_forced,
    ),
}
"""The same of what is to come by itself, and does not: whether it has come when nothing is held any more."""
ASKED = ("alone_acknowledges",)
"""The properties for which a producer asks the leader at the end for acks=all, while nothing is held but fetches;
whether brokers come to be in sync later is nothing to them.
"""


def _where(value: bytes, seen: Seen) -> str:
    brokers = [str(b) for b, log in seen.logs.items() if value in log]
    return f"the log of broker {' and '.join(brokers)} alone" if brokers else "no log"


def _words(log: list[bytes]) -> str:
    return ", ".join(value.decode() for value in log) or "nothing"
