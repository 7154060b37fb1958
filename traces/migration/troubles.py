"""What goes wrong with a migration though each record conforms, and the way out."""

from __future__ import annotations

from kafkaproof.traces.migration.drivers import Driver
from kafkaproof.traces.migration.in_zookeeper import states_in
from kafkaproof.traces.migration.judged import Reign, Trouble
from kafkaproof.traces.migration.timeline import Timeline
from kafkaproof.traces.zookeeper.transactions import Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.quorum import Progress

_LEFT = (
    "delete /migration before controllers with an empty log are started: they would copy nothing, and delete from ZooKeeper "
    "all that their log has not"
)
_AGAIN = (
    "a quorum rules again, and copies nothing, because /migration was left behind: what brokers wrote to ZooKeeper in between is "
    "not in its log"
)
_EPOCHS = "delete /controller until /controller_epoch, which each election raises by 1, is as high as in these states"
_STOP = "stop the controllers at once, delete /controller and /migration, and let a broker rule; then begin anew"
_GO_BACK = (
    "stop the controllers, delete /controller and /migration, and let a broker rule; then begin anew, with controllers whose "
    "disks are empty"
)
_NEXT = (
    "let another controller of the quorum lead, if /migration has an offset above 0: it makes ZooKeeper like its log; else go "
    "back, and begin anew"
)
_BY_HAND = (
    "create the znodes of partitions that a topic lacks by hand (/brokers/topics/TOPIC/partitions/N/state, with any state): the "
    "controller writes over them"
)


def left_behind(transaction: Transaction, progress: Progress | None) -> Trouble | None:
    """A broker rules again, and /migration says that all was copied."""
    if progress is None or not progress.is_copied:
        return None
    text = (
        f"a broker rules again, and /migration is left behind: it says that all was copied (offset {progress.offset})"
    )
    return Trouble(transaction.zxid, transaction.time, text, _LEFT)


def begun_again(transaction: Transaction, progress: Progress) -> Trouble:
    """A quorum rules again behind that."""
    place = f"offset {progress.offset} of epoch {progress.epoch}"
    text = f"{_AGAIN}; it is deleted as soon as the log has passed {place}, by time or by an election"
    return Trouble(transaction.zxid, transaction.time, text, _STOP, True)


def later_states(transaction: Transaction, epoch: int, tree: Tree, root: str) -> Trouble | None:
    """Partitions that the broker that rules leaves alone, because a quorum wrote them in a later epoch.

    Kafka: PartitionStateMachine.doElectLeaderForPartitions, 1.1 to 3.9.
    """
    later = [name for name, state in states_in(tree, root) if state.controller_epoch > epoch]
    if not later:
        return None
    text = f"states are of a later epoch than {epoch}, that of the controller, which elects no leader for them"
    return Trouble(transaction.zxid, transaction.time, text, _EPOCHS, what=tuple(later))


def late_write(transaction: Transaction, driver: Driver) -> Trouble:
    """A deposed controller has written /migration, whose version the one that rules does not know any more."""
    text = (
        f"{driver.name} was deposed, and wrote /migration: all that the one that rules writes is refused from here on"
    )
    return Trouble(transaction.zxid, transaction.time, text, _NEXT)


def unrecorded_copy(progress: Progress | None, reign: Reign, timeline: Timeline) -> Trouble | None:
    """The log of the quorum has the copy, another controller has led since, and /migration does not know of it.

    Kafka: KRaftMigrationDriver.WaitForControllerQuorumEvent, 3.4 to 3.9.
    """
    ends = [each.end for each in timeline.copies if not each.aborted]
    if progress is None or progress.is_copied or not ends or not reign.owner:
        return None
    if all(leader.offset < ends[-1] for leader in timeline.log.leaders.values()):
        return None
    text = (
        f"the copy is complete in the quorum's log (offset {ends[-1]}), and /migration does not say so: no controller that came "
        "to lead since goes on"
    )
    return Trouble(reign.zxid, reign.time, text, _GO_BACK)


def missing_state(driver: Driver, reign: Reign) -> Trouble | None:
    """A controller makes ZooKeeper like its log, sets the state of a partition that is not there, and begins again.

    Kafka: KRaftMigrationDriver.SyncKRaftMetadataEvent, 3.5 to 3.9.
    """
    if not driver.synchronises or driver.lacks is None:
        return None
    text = (
        f"{driver.name} makes ZooKeeper like its log, sets what is not there (first at {driver.lacks:#x}), and begins again: "
        "brokers hear of nothing"
    )
    return Trouble(reign.zxid, reign.time, text, _BY_HAND)
