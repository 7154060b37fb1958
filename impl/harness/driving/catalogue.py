"""What may be done to a cluster: each thing is declared here once, for files of faults, for chaos, and for mending.

Each is a method of its name of `Faults` or `Cluster`.
"""

from __future__ import annotations

from dataclasses import dataclass

BROKER, REPLICA, DELAY, TOPIC, FRAME = (
    ("broker",),
    ("broker", "partition"),
    ("broker", "delay"),
    ("topic",),
    ("broker", "link", "pattern"),
)
NO_LOGS = "legacy brokers have no logs"
NO_TOPICS = "in legacy clusters topics are neither created nor deleted"


@dataclass(frozen=True)
class Fault:
    """Something that may be done.

    `needs`: what it is to be told. `often`: how often chaos does it beside the others, 0: never. `undone_by`: what takes it
    back, where it lasts; a `disk` that is broken is mended by a new process. `ends`: with the process of its broker.
    `running`: it is done to a running broker only. `ours`: only brokers of our own do it. `not_legacy`: why a legacy
    cluster has no such thing. `our_zookeeper`: it is done to a ZooKeeper that the cluster has started itself.
    """

    needs: tuple[str, ...] = ()
    often: int = 0
    undone_by: str = ""
    disk: bool = False
    ends: bool = False
    running: bool = False
    ours: bool = False
    not_legacy: str = ""
    our_zookeeper: bool = False

    @property
    def slows(self) -> bool:
        """Whether it lasts until it is done again with a delay of 0."""
        return self.needs == DELAY

    @property
    def lasts(self) -> bool:
        """Whether it is to be mended."""
        return bool(self.undone_by) or self.disk or self.slows


FAULTS = {
    "kill": Fault(BROKER, often=4, running=True),
    "start": Fault(BROKER, often=8),
    "pause": Fault(BROKER, often=3, running=True, undone_by="resume", ends=True),
    "resume": Fault(BROKER, often=5),
    "expire": Fault(BROKER, often=3, running=True),
    "delete_controller": Fault(often=3),
    "stop": Fault(BROKER, often=1, running=True),
    "ask_for_preferred": Fault(often=1),
    "fail_log_dir": Fault(REPLICA, often=1, running=True, disk=True, ends=True),
    "cut_zookeeper": Fault(BROKER, often=2, undone_by="mend_zookeeper"),
    "mend_zookeeper": Fault(BROKER, often=4),
    "cut_links": Fault(BROKER, often=2, undone_by="mend_links", ends=True),
    "mend_links": Fault(BROKER, often=4),
    "slow_zookeeper": Fault(DELAY, often=2),
    "slow_links": Fault(DELAY, often=2, ends=True),
    "restart_zookeeper": Fault(often=1, our_zookeeper=True),
    "fill_disk": Fault(REPLICA, often=1, running=True, disk=True, ends=True, ours=True, not_legacy=NO_LOGS),
    "tear": Fault(REPLICA, often=1, running=True, disk=True, ends=True, ours=True, not_legacy=NO_LOGS),
    "allow_unclean": Fault(often=1),
    "create_topic": Fault(TOPIC, often=4, not_legacy=NO_TOPICS),
    "delete_topic": Fault(TOPIC, often=8, not_legacy=NO_TOPICS),
    "reassign": Fault(
        ("partition", "replicas"), often=3, not_legacy="in legacy clusters partitions are not reassigned"
    ),
    "lose_frame": Fault(FRAME, often=2, undone_by="let_go"),
    "hold_frame": Fault(FRAME, undone_by="let_go"),
    "delay_frame": Fault((*FRAME, "delay"), undone_by="let_go"),
    "let_go": Fault(BROKER),
    "write_znode": Fault(("path", "data")),
    "hold": Fault(("broker", "before"), running=True, undone_by="release", ends=True, ours=True),
    "release": Fault(BROKER, ours=True),
    "stop_all": Fault(),
}
"""By their names; chaos draws from them in this order."""
END = "stop_all"


def undone(mend: str) -> tuple[str, ...]:
    """The faults that something takes back."""
    return tuple(name for name, fault in FAULTS.items() if fault.undone_by == mend)
