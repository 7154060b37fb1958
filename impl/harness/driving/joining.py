"""A ZooKeeper that is in use: what is there, and what size a cluster of ours has that goes on with it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError

from kafkaproof.impl.harness.driving.cluster import Size
from kafkaproof.impl.harness.driving.faults import OPERATOR
from kafkaproof.impl.harness.driving.zookeeper_server import require
from kafkaproof.impl.seams.zookeeper.features import PATH as FEATURES
from kafkaproof.impl.seams.zookeeper.features import VERSIONS
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, INNER, TOPICS, Controller, State, Topic, TopicConfig
from kafkaproof.spec.errors import UserError

MIGRATION, BROKER_CONFIGS, MOST_BROKERS = "/migration", "/config/brokers", 9
"""How many brokers there may be, ours and others."""
UNCLEAN, SHOWN = "unclean.leader.election.enable", 3


@dataclass(frozen=True)
class Found:
    """What is in a ZooKeeper: its topics with the states of their partitions, and the brokers that are registered.

    `spoken`: the inter.broker.protocol.version of its brokers, 2.8 or 3.9; `unclean`: the topics that allow unclean elections.
    """

    zookeeper: str
    topics: dict[str, Topic]
    states: dict[tuple[str, int], State]
    registered: dict[int, bytes]
    spoken: str
    unclean: frozenset[str] = frozenset()

    @property
    def brokers(self) -> set[int]:
        """The brokers that are registered, or in an assignment."""
        return {*self.registered, *(r for topic in self.topics.values() for each in topic.assignments for r in each)}

    def at_risk(self, own: Collection[int]) -> list[tuple[str, int]]:
        """The partitions that some brokers, whose logs are empty, could lead: one of them is in sync, or has a replica that an
        unclean election may choose, since nobody in sync is registered. Of a partition without a state there are no records.

        Source: kafka.controller.PartitionStateMachine.collectUncleanLeaderElectionState, 2.4 to 3.9.
        """

        def may_lead(place: tuple[str, int], state: State) -> bool:
            topic, p = place
            may_choose = topic in self.unclean and not self.registered.keys() & set(state.isr)
            return bool(set(own) & {*state.isr, *(self.topics[topic].assignments[p] if may_choose else ())})

        return sorted(place for place, state in self.states.items() if may_lead(place, state))


def look_at(zookeeper: str) -> Found | None:
    """What is in a ZooKeeper, None where it is empty; raises UserError where it does not answer, where a KRaft quorum rules
    there, or where something is no content of Kafka's.
    """
    require(zookeeper)
    client = KazooClient(zookeeper, timeout=OPERATOR)
    try:
        client.start(OPERATOR)
        return _found(client, zookeeper)
    except (KazooException, KazooTimeoutError) as error:
        raise UserError(f"{zookeeper}: ZooKeeper does not answer ({error!r})") from None
    finally:
        client.stop()
        client.close()


def _found(client: KazooClient, zookeeper: str) -> Found | None:
    _require_no_quorum(zookeeper, _read(client, MIGRATION), _read(client, Controller.path))
    topics = {name: _topic(client, zookeeper, name) for name in _below(client, TOPICS)}
    registered = {int(name): client.get(f"{BROKER_IDS}/{name}")[0] for name in _below(client, BROKER_IDS)}
    if not topics and not registered:
        return None
    places = [(name, p) for name, topic in topics.items() for p in range(len(topic.assignments))]
    states = {place: State.decode(data) for place in places if (data := _read(client, State.path_of(*place)))}
    feature = _content(_read(client, FEATURES)).get("version", VERSIONS["2.8"])
    spoken = "2.8" if feature == VERSIONS["2.8"] else "3.9"
    return Found(zookeeper, topics, states, registered, spoken, _unclean(client, topics))


def _unclean(client: KazooClient, topics: Collection[str]) -> frozenset[str]:
    """The topics that allow unclean elections, by their own configuration or that of any broker."""
    brokers = any(_allows(client, f"{BROKER_CONFIGS}/{name}", False) for name in _below(client, BROKER_CONFIGS))
    return frozenset(topic for topic in topics if _allows(client, TopicConfig.path_of(topic), brokers))


def _allows(client: KazooClient, path: str, default: bool) -> bool:
    """Whether a configuration allows unclean elections; `default`: where it does not say."""
    config = _content(_read(client, path)).get("config")
    return str(config[UNCLEAN]).lower() == "true" if isinstance(config, dict) and UNCLEAN in config else default


def _content(data: bytes | None) -> dict[str, Any]:
    """The content of a znode that is an object in JSON, nothing of any other."""
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _below(client: KazooClient, path: str) -> list[str]:
    try:
        return sorted(client.get_children(path))
    except NoNodeError:
        return []


def _read(client: KazooClient, path: str) -> bytes | None:
    try:
        return client.get(path)[0]
    except NoNodeError:
        return None


def _topic(client: KazooClient, zookeeper: str, name: str) -> Topic:
    """A topic; raises UserError for one that no broker of ours could write again."""
    path = Topic.path_of(name)
    try:
        return Topic.decode(client.get(path)[0])
    except (ValueError, LookupError, TypeError):
        raise UserError(
            f"{zookeeper}: {path} does not assign brokers to partitions that are numbered from 0 on; mend or delete it"
        ) from None


def _require_no_quorum(zookeeper: str, migration: bytes | None, controller: bytes | None) -> None:
    """Raise UserError where a KRaft quorum has the metadata, or is about to take it.

    Source: kafka.zk.MigrationZNode, 3.4 to 3.9; kafka.zk.ControllerZNode, 3.4 to 3.9.
    """
    progress, owner = _content(migration), _content(controller)
    ruling = owner.get("kraftControllerEpoch", -1) >= 0
    if ruling or progress.get("kraft_metadata_offset", -1) >= 0:
        who = owner.get("brokerid") if ruling else progress.get("kraft_controller_id")
        raise UserError(
            f"{zookeeper}: {Controller.path if ruling else MIGRATION} says that the KRaft controller {who} rules: "
            f"no broker of ours takes part in that; where the cluster went back to ZooKeeper, delete {MIGRATION}"
        )


def joined(size: Size, found: Found, empty_logs: bool = False) -> Size:
    """The size of a cluster of ours that goes on with what was found; `empty_logs`: although records may be lost. Raises
    UserError where it could not.
    """
    own = set(size.broker_ids.all)
    _require_strangers(found, own)
    if not empty_logs:
        _require_no_risk(found, own)
    others = tuple(sorted(found.brokers - own))
    if len(own) + len(others) > MOST_BROKERS:
        raise UserError(
            f"{found.zookeeper}: brokers {_listed(others)} are registered there or have replicas, and with {len(own)} of ours "
            f"these are more than {MOST_BROKERS}, the most; start fewer, or move the replicas"
        )
    offsets = found.topics.get(OFFSETS_TOPIC)
    groups = size.groups and (offsets is None or len(offsets.assignments) == 1)
    return replace(size, partitions=0, groups=groups, recorded=False, joins=True, others=others, spoken=found.spoken)


def _require_strangers(found: Found, own: set[int]) -> None:
    """Raise UserError where a registered broker is one of ours, or has no listener that ours know."""
    if both := sorted(own & found.registered.keys()):
        raise UserError(f"{found.zookeeper}: broker {_listed(both)} is registered there; stop it, or give other --ids")
    for broker, data in sorted(found.registered.items()):
        if f'"{INNER}://' not in data.decode(errors="replace"):
            raise UserError(
                f"{found.zookeeper}: broker {broker} is registered without a listener {INNER}, by which our brokers and "
                f"others reach each other; give it one (inter.broker.listener.name={INNER}), or stop it"
            )


def _require_no_risk(found: Found, own: set[int]) -> None:
    """Raise UserError where one of ours, whose log is empty, could lead a partition that has records."""
    if risky := found.at_risk(own):
        named = [f"{topic}-{p}" for topic, p in risky[:SHOWN]] + ["..."] * (len(risky) > SHOWN)
        raise UserError(
            f"{found.zookeeper}: {len(risky)} partitions ({', '.join(named)}) may be led by {_listed(sorted(own))}, and brokers "
            "of ours begin with empty logs: their records would be gone, and brokers of Kafka that come back would delete "
            "theirs; give other --ids and move the replicas (docs/run.md), or accept that with --empty-logs"
        )


def told_of(found: Found, size: Size) -> str:
    """What becomes of what was found, in a line."""
    own = set(size.broker_ids.all)
    partitions = sum(len(topic.assignments) for topic in found.topics.values())
    empty = len(found.at_risk(own))
    told = [f"joins a cluster of {partitions} partitions in {len(found.topics)} topics"]
    if size.others:
        told.append(f"not ours: {_listed(size.others)}")
    if empty:
        told.append(
            f"our logs begin empty: {empty} of them may be led by ours, without their records, and a broker of Kafka that "
            "comes back deletes its own"
        )
    if not size.groups:
        told.append(f"{OFFSETS_TOPIC} has not just one partition, so no groups are served")
    return "; ".join(told)


def _listed(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, brokers))
