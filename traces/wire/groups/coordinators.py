"""Who coordinates a group: the elections of its partition of __consumer_offsets, and what FindCoordinator answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import inf

from kafkaproof.spec.group.find_coordinator import find_verdict
from kafkaproof.spec.group.network import NONE
from kafkaproof.spec.group.network import Verdict as Codes
from kafkaproof.spec.group.placement import partition_for
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.wire.control.answers import errors_in
from kafkaproof.traces.wire.control.entries import entries_of
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.groups.calls import error_in
from kafkaproof.traces.wire.groups.hidden import SOON, Elected
from kafkaproof.traces.wire.history import History, Partition
from kafkaproof.traces.wire.verdicts import LISTED, STEP, WRONG, Verdict

FIND = "FindCoordinator"
OFFSETS_TOPIC = "__consumer_offsets"
_NONE = Codes.names[NONE]
OF_GROUPS = 0
"""The type of key that asks for a group's coordinator."""


class Coordinators:
    """What ZooKeeper's log tells of the partitions of __consumer_offsets."""

    def __init__(self, history: History):
        self._history = history
        self.partitions = max((p + 1 for topic, p in history.states if topic == OFFSETS_TOPIC), default=0)

    def partition(self, group: str) -> Partition | None:
        """The partition that holds a group, None where there is none."""
        return (OFFSETS_TOPIC, partition_for(group, self.partitions)) if self.partitions else None

    def elections(self, group: str) -> list[tuple[int, int]]:
        """Whom was elected to lead it and when (ms), from the first state on."""
        partition = self.partition(group)
        versions = self._history.states.get(partition, []) if partition else []
        return [(each.time, each.state.leader) for each in versions if not each.stays]

    def begins(self, group: str) -> int | None:
        """Since when anything is known of the partition (ms): from its first state on; None where there is none."""
        elections = self.elections(group)
        return elections[0][0] if elections else None

    def may_be_gone(self, topic: str, until: int | None) -> bool:
        """Whether a topic was deleted until a time (ms)."""
        return any(each.data is None and each.time <= (until or inf) for each in self._history.topics.get(topic, ()))

    def lives(self, broker: int) -> list[int]:
        """When a broker has registered again (ms)."""
        return [each.time for each in self._history.lives_of(broker)][1:]

    def heard(self, exchanges: Iterable[Exchange], group: str, vacant: bool) -> dict[int, list[tuple[int, int]]]:
        """Of each broker, when it has accepted a LeaderAndIsr (ms), and how many elections it must have heard of then.

        Where the leader is nobody, or none that lives, who coordinated before goes on (ReplicaManager.makeFollowers); `vacant`:
        such elections count all the same, as for a new process.
        """
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        partition = self.partition(group)
        versions = self._history.states.get(partition, []) if partition else []
        epochs = [each.state.leader_epoch for each in versions if not each.stays]
        for each in exchanges:
            if each.broker is None or each.told is None or each.answered is None or each.is_lost:
                continue
            live = each.broker, *(leader["broker_id"] for leader in each.asked.get("live_leaders", ()))
            for entry in entries_of(each):
                accepted = errors_in(each).get(entry.partition) == _NONE and error_in(each.told) == _NONE
                follows = vacant or entry.elected is not None and entry.elected.leader in live
                if entry.partition == partition and accepted and follows and entry.leader_epoch in epochs:
                    found[each.broker].append((each.answered, epochs.index(entry.leader_epoch) + 1))
        return found

    # FindCoordinator

    def judge(self, exchange: Exchange) -> Verdict:
        """Whether each answer names who has been elected before it passed, or nobody."""
        if exchange.told is None or exchange.is_lost:
            return Verdict(LISTED, "its answer did not pass, or the request was dropped")
        if exchange.asked.get("key_type", OF_GROUPS) != OF_GROUPS:
            return Verdict(LISTED, "it asks for the coordinator of a transaction")
        for key, told in _found(exchange.asked, exchange.told):
            if why := self._why_not(key, told, exchange):
                return Verdict(WRONG, why)
        return Verdict(STEP, "")

    def _why_not(self, group: str, told: dict, exchange: Exchange) -> str | None:
        until = (exchange.answered or exchange.time) + SOON
        leaders = [leader for time, leader in self.elections(group) if time <= until and leader != NOBODY]
        verdict, known = told["error_code"].name.upper(), int(told["node_id"] >= 0)
        if verdict != Codes.names[find_verdict(known)]:
            return (
                f"{group}: answered {verdict}, node {told['node_id']}, where it is {Codes.names[find_verdict(known)]}"
            )
        if known and told["node_id"] not in leaders:
            elected = ", ".join(map(str, dict.fromkeys(leaders))) or "nobody"
            return f"{group}: coordinator {told['node_id']}, where its partition was led by {elected}"
        return None


def _found(asked: dict, told: dict) -> Iterator[tuple[str, dict]]:
    """The groups that are asked about, each with its answer."""
    if "coordinators" in told:
        yield from ((each["key"], each) for each in told["coordinators"])
    else:
        yield asked.get("key", asked.get("group_id", "")), told


def elected(elections: Iterable[tuple[int, int]], places: dict[int, int]) -> list[Elected]:
    """Elections by the numbers of brokers."""
    return [Elected(time, places.get(leader, NOBODY)) for time, leader in elections]
