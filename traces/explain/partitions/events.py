"""Runs the events of a controller about one partition: what each of them writes to its state, until the event is over.

The transitions decide. Here is only what they are run from: a controller that goes by what the evidence admits, and is
called to handle something, and a partition as ZooKeeper has it. The controller is a broker of its own, without replicas.
"""

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkaproof.spec.kafka.state_machines import OFFLINE_PARTITION
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import only
from kafkaproof.spec.partition import brokers, log_dirs, rebalance, triggers
from kafkaproof.spec.partition.context import READING_BROKERS
from kafkaproof.spec.partition.creation import creation
from kafkaproof.spec.partition.expansion import expansion
from kafkaproof.spec.partition.network import PREFERRED_TYPE, UNCLEAN_TYPE, ask, put_shutdown
from kafkaproof.spec.partition.znodes import FIRED
from kafkaproof.traces.explain.partitions.scene import PARTITION, Begun, Run, Scene, Stage, stage_of
from kafkaproof.traces.explain.partitions.strategies import Elected

Ids = frozenset[int]
_REMEMBERED = 20_000
_NOBODY: Ids = frozenset()


class Partition(NamedTuple):
    """A partition: its replicas, and leader and ISR of its state; `isr` is None where there is no state."""

    replicas: tuple[int, ...]
    leader: int = NOBODY
    isr: Ids | None = None

    @property
    def state(self) -> Elected | None:
        """Its state, None where there is none."""
        return None if self.isr is None else Elected(self.leader, self.isr)


class Seen(NamedTuple):
    """What a controller goes by, when it handles an event, or after it has read who is there.

    `live`: the registered brokers, `offline` those of them that are shutting down, `failed` those that have lost the
    partition's log directory; `unclean`: whether the topic allows unclean elections; `leaderless`: the leader was missing
    before, so that the partition is offline; `queued`: its topic is queued for deletion; `newer`: a controller of a higher
    epoch wrote the partition's state; `remembered`: the leader in the controller's cache, None where that is the one of
    the state.
    """

    live: Ids
    offline: Ids = _NOBODY
    unclean: bool = False
    failed: Ids = _NOBODY
    leaderless: bool = False
    queued: bool = False
    newer: bool = False
    remembered: int | None = None


class Beginnings:
    """The events of a variant's controller, each as it begins."""

    def __init__(self, stage: Stage):
        self._stage = stage

    def rests(self, partition: Partition, seen: Seen) -> Begun:
        """Nothing happens."""
        return Begun(self._scene(partition, seen, seen.live), None)

    def begins(self, partition: Partition, seen: Seen, gone: int = NOBODY, listed: bool = False) -> Begun:
        """A term begins; of those that are gone the controller takes this broker first. `listed`: an operator has asked
        for preferred leaders.
        """
        scene = self._scene(partition, seen, seen.live, gone)
        scene.forget()
        scene.state.zk.preferred = int(listed)
        scene.controller.live, scene.controller.deleting, scene.controller.doing = 0, 0, READING_BROKERS
        return Begun(scene, None)

    def misses(self, partition: Partition, seen: Seen, gone: int) -> Begun:
        """The controller looks again who is there, after it has known this broker."""
        return self._reads(partition, seen, seen.live, seen.live | {gone}, gone)

    def joins(self, partition: Partition, seen: Seen, joined: int) -> Begun:
        """The controller sees that a broker has come."""
        return self._reads(partition, seen, seen.live | {joined}, seen.live - {joined}, joined)

    def _reads(self, partition: Partition, seen: Seen, live: Ids, before: Ids, broker: int) -> Begun:
        scene = self._scene(partition, seen, before, broker)
        scene.register(live)
        client = scene.state.zk.clients[scene.seat]
        client.watch, client.seen = FIRED, scene.controller.live
        return Begun(scene, brokers.broker_change)

    def releases(self, partition: Partition, seen: Seen, leaver: int) -> Begun:
        """A broker asks to be shut down."""
        scene = self._scene(partition, seen._replace(offline=seen.offline - {leaver}), seen.live, leaver)
        put_shutdown(scene.state.network, scene.number[leaver])
        return Begun(scene, brokers.controlled_shutdown, (scene.number[leaver],))

    def loses(self, partition: Partition, seen: Seen, broker: int) -> Begun:
        """A broker answers that the log directory of the partition has failed."""
        scene = self._scene(partition, seen._replace(failed=seen.failed - {broker}), seen.live, broker)
        scene.state.brokers[scene.seat].errors[scene.number[broker]] = only(0)
        return Begun(scene, log_dirs.storage_error, (scene.number[broker],))

    def notices(self, partition: Partition, seen: Seen, broker: int) -> Begun:
        """The controller reads that a broker has lost some log directory."""
        scene = self._scene(partition, seen, seen.live, broker)
        scene.state.zk.log_dir_events = only(scene.number[broker])
        return Begun(scene, log_dirs.log_dir_notification)

    def permits(self, partition: Partition, seen: Seen) -> Begun:
        """Unclean elections are enabled."""
        return Begun(self._scene(partition, seen, seen.live), triggers.unclean_enabled)

    def prefers(self, partition: Partition, seen: Seen) -> Begun:
        """An operator asks for preferred leaders, in ZooKeeper."""
        scene = self._scene(partition, seen, seen.live)
        scene.state.zk.preferred = 1
        return Begun(scene, triggers.preferred_election)

    def asks(self, partition: Partition, seen: Seen, unclean: bool) -> Begun:
        """An administrator asks the controller for an election, a preferred or an unclean one."""
        scene = self._scene(partition, seen, seen.live)
        ask(scene.state.network, UNCLEAN_TYPE if unclean else PREFERRED_TYPE)
        return Begun(scene, triggers.admin_election)

    def balances(self, partition: Partition, seen: Seen) -> Begun:
        """The timer of the automatic rebalance fires."""
        return Begun(self._scene(partition, seen, seen.live), rebalance.rebalance)

    def makes(self, partition: Partition, seen: Seen) -> Begun:
        """The controller reads of a new topic."""
        return self._made(partition, seen, creation.topic_change, 1)

    def adds(self, partition: Partition, seen: Seen) -> Begun:
        """The controller reads of a partition that was added to its topic, which has another one."""
        return self._made(partition, seen, expansion.new_partitions, 2)

    def _made(self, partition: Partition, seen: Seen, transition: Callable, partitions: int) -> Begun:
        scene = self._scene(partition, seen, seen.live, partitions=partitions)
        scene.forget()
        return Begun(scene, transition)

    def deletes(self, partition: Partition, seen: Seen, first: int) -> Begun:
        """The controller reads that the topic is to be deleted; of the replicas it takes this one first."""
        scene = self._scene(partition, seen._replace(queued=False), seen.live, first)
        scene.state.zk.deleting = only(0)
        return Begun(scene, triggers.topic_deletion)

    def _scene(self, partition: Partition, seen: Seen, live: Ids, other: int = NOBODY, partitions: int = 1) -> Scene:
        """A controller at work that takes these brokers for live, before the event."""
        others = {other, *(seen.live if self._stage.tells else ())}
        scene = Scene(self._stage, partition.state, partition.replicas, others, other, partitions, seen.newer)
        s, known = scene.state, scene.partition
        scene.register(live)
        if seen.remembered is not None:
            known.leader = scene.number.get(seen.remembered, NOBODY)
        scene.know(live, seen.offline & live, seen.failed & live)
        if seen.leaderless and partition.isr is not None:
            known.state = OFFLINE_PARTITION
        s.zk.unclean = int(seen.unclean)
        if seen.queued:
            s.zk.deleting = scene.controller.deleting = only(0)
        return scene


_NAMES = [name for name, value in vars(Beginnings).items() if callable(value) and not name.startswith("_")]


class Events:
    """The same events, each run to its end: a method of `Beginnings` is here one that gives what is written."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Run]: ...

    def __init__(self, stage: Stage):
        self.beginnings = Beginnings(stage)
        for name in _NAMES:
            run = lru_cache(_REMEMBERED)(_to_its_end(getattr(self.beginnings, name)))
            setattr(self, name, lru_cache(_REMEMBERED)(_renamed(run)))


def _to_its_end(event: Callable[..., Begun]) -> Callable[..., Run]:
    """An event that is run when it is called."""

    def run(*of) -> Run:
        return event(*of).run()

    return run


def _renamed(event: Callable[..., Run]) -> Callable[..., Run]:
    """An event that is run with the same names for the brokers of all partitions: those of its replicas come first."""

    def run(partition: Partition, seen: Seen, *more: int) -> Run:
        members = sorted({*(partition.isr or ()), partition.leader, *seen.live, *seen.offline, *seen.failed})
        brokers = [broker for broker in more if not isinstance(broker, bool)]
        ids = [id for id in dict.fromkeys((*partition.replicas, *members, *brokers)) if id != NOBODY]
        number = {broker: place for place, broker in enumerate(ids)} | {NOBODY: NOBODY}
        named = partial(_in_names, number.__getitem__)
        found = event(named(partition), named(seen), *map(named, more))
        return tuple(_in_names([*ids, NOBODY].__getitem__, written) for written in found)

    return run


def _in_names(name: Callable[[int], int], part: Any) -> Any:
    """A part of what is known of a partition, its brokers called otherwise."""
    if isinstance(part, bool | str) or part is None:
        return part
    if isinstance(part, int):
        return name(part)
    parts = [_in_names(name, each) for each in part]
    return type(part)(*parts) if hasattr(part, "_fields") else type(part)(parts)


def first(run: Run) -> Elected | None:
    """What an event writes first, None where it writes nothing."""
    return run[0].after if run else None


@cache
def events_of(variant: str, system: str = PARTITION, telling: bool = False) -> Events:
    """The events of a variant of *partition*, or of *topics*, for all partitions of a process."""
    return Events(stage_of(variant, system, telling=telling))
