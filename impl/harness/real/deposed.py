"""Deposed controllers that still act: what keeps a real one from finding out.

A controller handles its events in the order in which they came, and looks whose /controller is when it comes to that
event. One that still acts has its connection to ZooKeeper slow: what it reads of /controller is held on its link. One
that still lists the brokers was told of a change of theirs before it was told that /controller is gone.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkaproof.impl.harness.driving.acts import ZOOKEEPER
from kafkaproof.impl.harness.real.moves import frames_of
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.partition.brokers import broker_change
from kafkaproof.spec.partition.zookeeper import brokers_changed


class Deposed(NamedTuple):
    """A controller that is deposed by the step `since`, and acts before step `until`, in which it finds out.

    Steps are numbered from 1. `lists`: that in which it lists the brokers, for which some must come or go right before
    it is deposed; 0 where none must.
    """

    broker: int
    since: int
    until: int
    lists: int


def deposed_in(states: list[Plain], steps: list[Step]) -> list[Deposed]:
    """The controllers that act after they were deposed; `states` has one state more than there are `steps`."""
    if not hasattr(states[0].zk, "controller") or not hasattr(states[0].brokers[0], "controller"):
        return []
    return [
        found
        for since in range(1, len(states))
        for b in range(len(states[0].brokers))
        if (found := _deposed(states, steps, b, since))
    ]


def _deposed(states, steps, b, since) -> Deposed | None:
    before, after = states[since - 1], states[since]
    epoch = after.brokers[b].controller.epoch
    if before.zk.controller != b or after.zk.controller == b or epoch == 0:
        return None
    until = next((n for n in range(since, len(states)) if states[n].brokers[b].controller.epoch != epoch), len(states))
    acts = [number for number in range(since + 1, min(until, len(steps)) + 1) if _is_of(steps[number - 1], b, epoch)]
    lists = next((number for number in acts if steps[number - 1].name == broker_change.__name__), 0)
    return Deposed(b, since, until, 0 if lists and brokers_changed(before.zk, b) else lists) if acts else None


def _is_of(step: Step, b: int, epoch: int) -> bool:
    """Whether a step shows a controller at work: by what it asks of ZooKeeper, or by what it has sent."""
    return any(wanted.link == ZOOKEEPER and wanted.broker == b or wanted.epoch == epoch for wanted in frames_of(step))
