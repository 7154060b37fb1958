"""What may be done to a cluster: each thing is declared here once, for files of faults, for chaos, and for mending.

Each is the method of that name of `Faults` or `Cluster`.
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
NO_REASSIGNMENTS = "in legacy clusters partitions are not reassigned"


@dataclass(frozen=True)
class Fault:
    """Something that may be done, by its name in files of faults.

    `needs`: what it is to be told. `often`: how often chaos does it beside the others, 0: never. `undoes`: what it
    takes back. `disk`: it breaks a disk, which a new process mends. `ends`: with the process of its broker. `running`:
    it is done to a running broker only. `ours`: only brokers of our own do it. `mixed`: only a cluster of both kinds has
    it. `not_legacy`: why a legacy cluster has
    no such thing. `our_zookeeper`: it is done to a ZooKeeper that the cluster has started itself.
    """

    name: str
    needs: tuple[str, ...] = ()
    often: int = 0
    undoes: tuple[Fault, ...] = ()
    disk: bool = False
    ends: bool = False
    running: bool = False
    ours: bool = False
    mixed: bool = False
    not_legacy: str = ""
    our_zookeeper: bool = False

    @property
    def undone_by(self) -> Fault | None:
        """What takes it back, None where nothing does."""
        return next((mend for mend in FAULTS.values() if self in mend.undoes), None)

    @property
    def slows(self) -> bool:
        """Whether it lasts until it is done again with a delay of 0."""
        return self.needs == DELAY

    @property
    def lasts(self) -> bool:
        """Whether it is to be mended."""
        return bool(self.undone_by) or self.disk or self.slows


KILL = Fault("kill", BROKER, often=4, running=True)
START = Fault("start", BROKER, often=8)
PAUSE = Fault("pause", BROKER, often=3, running=True, ends=True)
RESUME = Fault("resume", BROKER, often=5, undoes=(PAUSE,))
EXPIRE = Fault("expire", BROKER, often=3, running=True)
DELETE_CONTROLLER = Fault("delete_controller", often=3)
STOP = Fault("stop", BROKER, often=1, running=True)
ASK_FOR_PREFERRED = Fault("ask_for_preferred", often=1)
FAIL_LOG_DIR = Fault("fail_log_dir", REPLICA, often=1, running=True, disk=True, ends=True)
CUT_ZOOKEEPER = Fault("cut_zookeeper", BROKER, often=2)
MEND_ZOOKEEPER = Fault("mend_zookeeper", BROKER, often=4, undoes=(CUT_ZOOKEEPER,))
CUT_LINKS = Fault("cut_links", BROKER, often=2, ends=True)
MEND_LINKS = Fault("mend_links", BROKER, often=4, undoes=(CUT_LINKS,))
SLOW_ZOOKEEPER = Fault("slow_zookeeper", DELAY, often=2)
SLOW_LINKS = Fault("slow_links", DELAY, often=2, ends=True)
RESTART_ZOOKEEPER = Fault("restart_zookeeper", often=1, our_zookeeper=True)
FILL_DISK = Fault("fill_disk", REPLICA, often=1, running=True, disk=True, ends=True, ours=True, not_legacy=NO_LOGS)
TEAR = Fault("tear", REPLICA, often=1, running=True, disk=True, ends=True, ours=True, not_legacy=NO_LOGS)
ALLOW_UNCLEAN = Fault("allow_unclean", often=1)
CREATE_TOPIC = Fault("create_topic", TOPIC, often=4, not_legacy=NO_TOPICS)
DELETE_TOPIC = Fault("delete_topic", TOPIC, often=8, not_legacy=NO_TOPICS)
REASSIGN = Fault("reassign", ("partition", "replicas"), often=3, not_legacy=NO_REASSIGNMENTS)
LOSE_FRAME = Fault("lose_frame", FRAME, often=2)
HOLD_FRAME = Fault("hold_frame", FRAME)
DELAY_FRAME = Fault("delay_frame", (*FRAME, "delay"))
LET_GO = Fault("let_go", BROKER, undoes=(LOSE_FRAME, HOLD_FRAME, DELAY_FRAME))
WRITE_ZNODE = Fault("write_znode", ("path", "data"))
HOLD = Fault("hold", ("broker", "before"), running=True, ends=True, ours=True)
RELEASE = Fault("release", BROKER, ours=True, undoes=(HOLD,))
REPLACE = Fault("replace", BROKER, running=True, mixed=True)
STOP_ALL = Fault("stop_all")
FAULTS = {fault.name: fault for fault in list(vars().values()) if isinstance(fault, Fault)}
"""All that are declared above, by their names; chaos draws from them in this order."""
