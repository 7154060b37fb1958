"""Scenarios: what is done to a running cluster, step by step, to bring about a failure that Kafka once had."""

from __future__ import annotations

from collections.abc import Callable

from impl.cluster import TOPIC, Cluster, wait_until
from impl.watch import Watcher
from impl.znodes import ControllerEpoch, State
from spec.errors import UserError

HOLD = "write_leader"


def split_brain(cluster: Cluster, watcher: Watcher) -> None:
    """A controller sleeps in the middle of a rebalance, is deposed, and writes when it wakes (KAFKA-6082).

    Up to 2.0 the write lands: its version is the one that the sleeper has read, since its successor changed nothing.
    The brokers obey the successor and refuse the sleeper's request, so ZooKeeper names a leader that nobody obeys.
    From 2.1 on the check of the epoch refuses the write. Until the sleeper has written the others stop before such a
    write too: the successor's own rebalance would leave it a version that is not the present one.
    """
    sleeper = 1
    cluster.start(sleeper)
    _need(wait_until(lambda: cluster.controller() == sleeper and _state(cluster)), "broker 1 leads and rules")
    watcher.look(cluster)
    watcher.say(f"broker {sleeper} is to stop in its next rebalance, before {HOLD}")
    cluster.hold(sleeper, HOLD)
    everybody = list(range(cluster.size.brokers))
    others = [broker for broker in everybody if broker != sleeper]
    for broker in others:
        cluster.start(broker)
    _need(wait_until(lambda: cluster.children[sleeper].stopped), "the preferred leader is in the ISR, and is elected")
    epoch = _epoch(cluster)
    for broker in others:
        cluster.hold(broker, HOLD)
    cluster.delete_controller()
    watcher.say("an operator deletes /controller")
    _need(wait_until(lambda: cluster.controller() not in (None, sleeper) and _epoch(cluster) > epoch
                     and cluster.registered() == everybody), "another broker is elected")
    watcher.look(cluster)
    before, written = _state(cluster), cluster.recorded(sleeper, HOLD)
    cluster.resume(sleeper)
    watcher.say(f"broker {sleeper} goes on")
    _need(wait_until(lambda: cluster.recorded(sleeper, HOLD) > written), "the sleeper writes")
    landed = _state(cluster) != before
    for broker in others:
        cluster.release(broker)
    watcher.look(cluster)
    watcher.say("its write has landed" if landed else "its write has not landed", landed=landed)


SCENARIOS: dict[str, Callable[[Cluster, Watcher], None]] = {"split-brain": split_brain}
LEAST_BROKERS = {"split-brain": 2}
SESSION = 300.0
"""Longer than any broker sleeps in a scenario, in seconds."""


def _state(cluster):
    path = State.path_of(TOPIC, 0)
    return State.decode(cluster.operator.get(path)[0]) if cluster.operator.exists(path) else None


def _epoch(cluster):
    return ControllerEpoch.decode(cluster.operator.get(ControllerEpoch.path)[0]).epoch


def _need(happened, what):
    if not happened:
        raise UserError(f"the scenario did not come about: {what}: waited five minutes; is the machine very busy?")
