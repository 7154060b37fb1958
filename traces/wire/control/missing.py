"""Finds the requests that steps had to send and that are not there. A request may come as late as it likes: it is missing only
where what came later on the same channel shows that it was left out.

A controller has one queue for each broker, and sends the next request when the one before it was answered. Its events are
handled one after the other, and each puts what it has written into the queues before the next one begins. So what tells of a
later write comes behind what tells of an earlier one, or in the same batch.

Kafka: RequestSendThread.doWork, 0.10 to 3.9; ControllerChannelManager.sendRequest, 0.10 to 3.9.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from kafkaproof.traces.explain.partitions.sent import LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA
from kafkaproof.traces.wire.control.comparing import says
from kafkaproof.traces.wire.control.entries import Entry, name_of
from kafkaproof.traces.wire.control.sendings import Sending, Sendings
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.history import History, Partition, Reign

EARLY = 1_000
"""By so many ms clocks may differ."""
Key = tuple[int, str, int]
"""A controller's term, a topic and the number of a partition."""
Channel = tuple[int, int | None]
"""A controller's term, and a broker."""
_IN_ORDER = LEADER_AND_ISR, UPDATE_METADATA
"""In this order a batch is sent, of each kind one request to a broker at most."""


class Told(NamedTuple):
    """A request that tells of a version that its controller has written: of which kind, and the zxid of the version."""

    exchange: Exchange
    kind: str
    zxid: int


class Missing:
    """What is missing of some traffic; `seen`: what each term has told of each partition; `sendings`: what it had to tell."""

    def __init__(
        self,
        history: History,
        exchanges: list[Exchange],
        seen: dict[Key, list[tuple[Exchange, Entry]]],
        sendings: Callable[[Reign, Partition], Sendings],
    ):
        self._history, self._seen, self._sendings = history, seen, sendings
        self._channels: dict[Channel, list[Exchange]] = defaultdict(list)
        for each in exchanges:
            self._channels[each.asked["controller_epoch"], each.broker].append(each)
        self._begins = min((each.time for each in exchanges), default=0)

    def find(self) -> Iterator[tuple[int, str, str]]:
        """What is missing: since when (ms), of which kind, and in words."""
        seen, recorded = {epoch for epoch, _ in self._channels}, {broker for _, broker in self._channels}
        for reign in self._history.reigns.values():
            for partition in self._history.states if reign.epoch in seen else ():
                for each in self._sendings(reign, partition).all:
                    for broker in sorted(each.must & recorded) if each.kind in _IN_ORDER else ():
                        if self._is_missing(reign, partition, each, broker):
                            yield each.time, each.kind, _words(partition, each, broker)

    def _is_missing(self, reign: Reign, partition: Partition, sending: Sending, broker: int) -> bool:
        """Whether a later request was sent to a broker that was there all the time, on a channel on which nothing was lost,
        and this one was not.
        """
        later = self._later(reign, sending, broker)
        if later is None or self._begins >= sending.time - EARLY:
            return False
        if self._history.failed_after(reign.session, sending.zxid, later.time):
            return False
        lives = self._history.lives_of(broker)
        if not any(life.time < sending.time - EARLY and life.ended_time >= later.time for life in lives):
            return False
        channel = self._channels[reign.epoch, broker]
        if any(each.is_lost or each.answered is None for each in channel if each.time < later.time):
            return False
        return not self._has_arrived(reign, partition, sending, broker)

    # What came later

    def _later(self, reign: Reign, sending: Sending, broker: int) -> Exchange | None:
        """The first request to a broker that tells of a write, this or a later one, and comes behind a sending or in its place."""
        kinds, told = _IN_ORDER[_IN_ORDER.index(sending.kind) :], self._told.get((reign.epoch, broker), ())
        return next((each.exchange for each in told if each.kind in kinds and each.zxid >= sending.zxid), None)

    @cached_property
    def _told(self) -> dict[Channel, list[Told]]:
        """What tells of what a controller has written, on each channel, in the order of time."""
        found: dict[Channel, list[Told]] = defaultdict(list)
        for (epoch, topic, number), seen in self._seen.items():
            sendings = self._sendings(self._history.reigns[epoch], (topic, number))
            for exchange, entry in seen:
                zxid = self._version_told(sendings, entry)
                if zxid is not None:
                    found[epoch, exchange.broker].append(Told(exchange, entry.kind, zxid))
        return {channel: sorted(told, key=lambda each: each.exchange.time) for channel, told in found.items()}

    def _version_told(self, sendings: Sendings, entry: Entry) -> int | None:
        """The zxid of the version of which something tells, None where its controller has not written it."""
        if entry.elected is None or entry.leader_epoch is None:
            return None
        place = self._history.version_of(entry.partition, entry.elected, entry.leader_epoch, entry.version)
        version = None if place is None else self._history.states[entry.partition][place]
        return version.zxid if version and sendings.is_own(version) else None

    # What is there

    def _has_arrived(self, reign: Reign, partition: Partition, sending: Sending, broker: int) -> bool:
        """Whether this was sent to a broker, or something newer that took its place in a batch."""
        seen = [each for each in self._seen[(reign.epoch, *partition)] if each[0].time >= sending.time - EARLY]
        own = [entry for exchange, entry in seen if exchange.broker == broker]
        if any(says(sending, entry) for entry in own):
            return True
        has_gone_out = any(says(sending._replace(kind=kind), entry) for kind in _IN_ORDER for _, entry in seen)
        return not has_gone_out and any(_replaces(entry, sending) for entry in own)


def _replaces(entry: Entry, sending: Sending) -> bool:
    """Whether an entry takes the place of something that its batch had collected before."""
    newer = entry.kind == sending.kind and (entry.leader_epoch or 0) >= (sending.leader_epoch or 0)
    return newer or entry.kind == STOP_REPLICA


def _words(partition: Partition, each: Sending, broker: int) -> str:
    leader, isr = each.elected
    return (
        f"{name_of(partition)}: {each.trigger} ({each.zxid:#x}) sends leader {leader}, leader epoch "
        f"{each.leader_epoch}, ISR {sorted(isr)} to broker {broker}, which got what is sent after it"
    )
