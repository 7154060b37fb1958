"""What brokers may be doing where a log begins in the middle of a cluster's life.

A snapshot tells the open sessions, who is registered, /controller and its epoch, and nothing of what brokers
believe. Whatever one can believe is reached by the transitions themselves, in a ZooKeeper of a little earlier: it
starts, registers, perhaps wins one of the last elections, perhaps loses /controller, perhaps its session expires, or
its process is gone and another one has started.
"""

from collections.abc import Callable, Mapping

from kafkaproof.spec.election import election, faults, session
from kafkaproof.spec.election.history import legacy
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.traces.explain.election.possibilities import Candidate, Possibilities, Shared
from kafkaproof.traces.explain.election.single_steps import ElectionSteps, Local

_TERMS = 4
"""A controller that was deposed more elections ago than this is taken to have heard of it."""


def begin(possible: Possibilities, sessions: Mapping[int, int], registered: Mapping[int, int]) -> None:
    """Set what each broker may be doing, by its newest open session and that of its registration in a snapshot."""
    if possible.shared == Shared() and not sessions:
        return
    for broker in possible.sets:
        states = _states(possible.steps, broker, possible.shared, broker in registered or broker not in sessions)
        if broker in registered and registered[broker] != sessions[broker]:
            states = _replaced(possible, broker, states)
        if broker not in sessions:
            scene = possible.scene(broker)
            expired = (possible.steps.take(faults.expire_session.__name__, ANSWERED, local, scene) for local in states)
            states = {possible.steps.down} | {outcome.local for outcome in expired if outcome}
        possible.sets[broker] = frozenset(states)
        possible.close(broker)


def _states(steps: ElectionSteps, broker: int, shared: Shared, registered: bool) -> set[Local]:
    """The local states of a process with an open session."""
    life = _Life(steps, broker)
    started = life.after({steps.down}, shared, session.start, shared)
    if not registered:
        return started
    nobody, own = shared._replace(controller=None), shared._replace(controller=broker)
    idle = life.after(started, nobody, session.register_broker, nobody)
    created = life.after(idle, nobody, legacy.create, own)
    if shared == own:
        return created | life.after(created, own, legacy.raise_epoch, own, "NONODE") | life.elected(idle, own)
    past = life.deposed(created, own)
    for back in range(min(_TERMS, shared.epoch)):
        term = Shared(broker, shared.epoch - back, shared.version - back)
        past |= life.deposed(life.elected(idle, term), term)
    return past | life.after(started, shared, session.register_broker, shared)


def _replaced(possible: Possibilities, broker: int, states: set[Local]) -> set[Local]:
    """The states of another process, where what the session of the former one owns is still there."""
    life, shared = _Life(possible.steps, broker), possible.shared
    started = life.after(states, shared, session.start, shared)
    return started | life.after(started, shared, session.register_broker, shared, "NODEEXISTS")


class _Life:
    """What one broker does, in a ZooKeeper of a little earlier."""

    def __init__(self, steps: ElectionSteps, broker: int):
        self.steps, self.broker = steps, broker

    def after(
        self, states: set[Local], before: Shared, transition: Callable, after: Shared, answer: str = "OK"
    ) -> set[Local]:
        """The states after a step that gets this answer and leads from one shared state to another."""
        world = self._world(states, before)
        world.settle(self.broker, world.outcomes(self.broker, [Candidate(transition.__name__, answer)], after), after)
        return set(world.sets[self.broker])

    def elected(self, states: set[Local], term: Shared) -> set[Local]:
        """The states of a broker that has just won the election of a term, by whatever transitions the variant has."""
        found = set()
        for earlier in (Shared(None, term.epoch - 1, term.version - 1), Shared()):
            if earlier.version >= 0:
                owner = earlier._replace(controller=self.broker)
                created = self.after(states, earlier, legacy.create, owner)
                refused = self.after(created, owner, legacy.raise_epoch, owner, "NONODE")
                found |= self.after(states, earlier, election.register, term)
                found |= self.after(created, owner, legacy.raise_epoch, term)
                found |= self.after(refused, owner, election.found_epoch, term)
        return found

    def deposed(self, states: set[Local], term: Shared) -> set[Local]:
        """The same broker after /controller was taken from it."""
        world = self._world(states, term)
        world.settle_operator(faults.delete_controller.__name__, term._replace(controller=None))
        return set(world.sets[self.broker])

    def _world(self, states: set[Local], shared: Shared) -> Possibilities:
        world = Possibilities(self.steps, [self.broker], shared)
        world.sets[self.broker] = frozenset(states)
        world.close(self.broker)
        return world
