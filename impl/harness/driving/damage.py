"""What is broken of a running cluster at the moment, so that it can be mended in the end."""

from __future__ import annotations

from kafkaproof.impl.harness.driving.cluster import Cluster

MENDS = {
    "pause": "resume",
    "hold": "release",
    "cut_links": "mend_links",
    "cut_zookeeper": "mend_zookeeper",
    **dict.fromkeys(("hold_frame", "delay_frame", "lose_frame"), "let_go"),
}
"""Faults that last, and what takes them back."""
UNDONE = {mend: tuple(fault for fault in MENDS if MENDS[fault] == mend) for mend in MENDS.values()}
SLOW = ("slow_links", "slow_zookeeper")
DISKS = ("fail_log_dir", "fill_disk", "tear")
OF_PROCESS = ("pause", "hold", "cut_links", "slow_links", *DISKS)
"""Faults that end with the process: a new one finds a disk that works."""


class Broken:
    """Does things to a cluster; `brokers` are, for each fault that lasts, those that have it now."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.brokers: dict[str, set[int]] = {fault: set() for fault in (*MENDS, *SLOW, *DISKS)}

    def do(self, fault: str, broker: int | None = None, *others: object) -> None:
        """Do it, and note whether it lasts."""
        if fault in MENDS or fault in DISKS or fault in SLOW and others[0]:
            self.brokers[fault].add(broker)
        elif fault in UNDONE or fault in SLOW:
            for each in UNDONE.get(fault, (fault,)):
                self.brokers[each].discard(broker)
        elif fault in ("kill", "start"):
            for each in OF_PROCESS:
                self.brokers[each].discard(broker)
        getattr(self.cluster, fault)(*(() if broker is None else (broker, *others)))

    def mend(self) -> None:
        """Take everything back, start the brokers that have ended, also those that end meanwhile because they could not
        come up, and those anew whose disks have failed or are to fail at the next append, and wait until all are there;
        raises Unfinished where they never are.
        """
        for fault in (*SLOW, *reversed(MENDS)):
            for broker in sorted(self.brokers[fault]):
                self.do(MENDS.get(fault, fault), broker, *([0.0] if fault in SLOW else []))
        for broker in sorted(set().union(*(self.brokers[fault] for fault in DISKS))):
            if self.cluster.children[broker].running:
                self.do("stop", broker)
        self.cluster.await_that(self._are_all_there, "all brokers are there")

    def _are_all_there(self) -> bool:
        for broker in range(self.cluster.size.brokers):
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
        self.do("start", broker)
