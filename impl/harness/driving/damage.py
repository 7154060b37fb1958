"""What is broken of a running cluster at the moment, so that it can be mended in the end."""

from __future__ import annotations

from typing import Any

from kafkaproof.impl.harness.driving.catalogue import FAULTS, KILL, START, STOP
from kafkaproof.impl.harness.driving.cluster import Cluster

LASTING = {name: fault for name, fault in FAULTS.items() if fault.lasts}


class Broken:
    """Does things to a cluster; `brokers` are, for each fault that lasts, those that have it now."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.brokers: dict[str, set] = {name: set() for name in LASTING}

    def do(self, fault: str, *arguments: Any) -> None:
        """Do it with what it needs, which is a broker first where it lasts, and note whether it lasts."""
        declared, broker = FAULTS[fault], arguments[0] if arguments else None
        if declared.lasts and not (declared.slows and not arguments[1]):
            self.brokers[fault].add(broker)
        elif declared.lasts or declared.undoes:
            for each in declared.undoes or (declared,):
                self.brokers[each.name].discard(broker)
        elif declared in (KILL, START):
            for name in LASTING:
                if LASTING[name].ends:
                    self.brokers[name].discard(broker)
        getattr(self.cluster, fault)(*arguments)

    def mend(self) -> None:
        """Take everything back, and wait until all brokers are there; raises Unfinished where they never are.

        Brokers that have ended are started, also those that end meanwhile because they could not come up. Those whose
        disks have failed, or are to fail at the next append, are stopped first.
        """
        for fault in sorted(reversed(LASTING.values()), key=lambda each: not each.slows):
            mend = fault.undone_by or fault
            for broker in sorted(self.brokers[fault.name]) if not fault.disk else []:
                self.do(mend.name, broker, *([0.0] if fault.slows else []))
        for broker in sorted(set().union(*(self.brokers[fault] for fault in LASTING if LASTING[fault].disk))):
            if self.cluster.children[broker].running:
                self.do(STOP.name, broker)
        self.cluster.await_that(self._are_all_there, "all brokers are there")

    def _are_all_there(self) -> bool:
        for broker in self.cluster.size.broker_ids.all:
            self.start(broker)
        return self.cluster.is_whole()

    def start(self, broker: int) -> None:
        """Start a broker that does not run, or is about to end, as soon as that and its registration are gone."""
        former = self.cluster.children.get(broker)
        if former and former.running and not former.is_ending:
            return
        self.cluster.await_that(
            lambda: not (former and former.running) and self.cluster.owner(broker) is None,
            f"the former process of broker {broker} has ended, and its registration is gone",
        )
        self.do(START.name, broker)
