"""Properties of the old consumer: how its process and its sessions begin and end, and when its watches fire."""

from kafkaproof.spec.consumer.member import FAILED, IDLE, LOOKING, NEW_SESSION, NONE, REBALANCE, START, is_committed
from kafkaproof.spec.consumer.zookeeper import ARMED, FIRED
from kafkaproof.spec.kafka.zookeeper import ABSENT, ORPHAN, PROCESS
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import is_empty


def starts_with_session(before, after, c):
    """A process starts with a session, and must register its id."""
    new = after.consumers[c]
    return not before.consumers[c].up and new.up == 1 and new.callback == START and after.zk.clients[c].session == 1


def registers_before_it_rebalances(before, after, c):
    """A process that registers gets its id and must rebalance, and its registry is empty. In a session that is over it
    gets neither, and if a former session has the id, it fails.
    """
    old = before.consumers[c]
    new = after.consumers[c]
    if old.callback != START and old.callback != NEW_SESSION or not is_empty(new.registry):
        return False
    if before.zk.clients[c].registered == ORPHAN:
        return after.zk.clients[c].registered == ORPHAN and new.callback != REBALANCE
    if not before.zk.clients[c].session:
        return new.callback == old.callback
    watches = after.zk.clients[c].watch == (ARMED if old.callback == START else FIRED)
    return after.zk.clients[c].registered == PROCESS and new.callback == REBALANCE and watches


def rebalance_begins(before, after, c):
    """A rebalance begins only in a living process that has none in progress, because it has registered or because its
    watch has fired; the flag is then cleared.
    """
    old = before.consumers[c]
    new = after.consumers[c]
    if not old.up or old.doing != IDLE or new.doing != LOOKING:
        return False
    if new.callback != old.callback:
        return old.callback == REBALANCE and new.callback == NONE
    return before.zk.clients[c].watch == FIRED and after.zk.clients[c].watch == ARMED


def leaves_nothing(before, after, c):
    """A process that shuts down has committed, and no rebalance holds its lock unless it is between two attempts. Its
    session ends with it.
    """
    old = before.consumers[c]
    if not old.up or old.callback != NONE or not is_committed(old) or old.doing != IDLE and old.doing != FAILED:
        return False
    for partition in after.zk.partitions:
        if partition.owner == c and not partition.orphaned:
            return False
    counted = after.zk.changes == before.zk.changes + 1
    return counted and not after.consumers[c].up and after.zk.clients[c].registered != PROCESS


def leaves_orphans(before, after, c):
    """When a process dies, its znodes stay as those of a former session, until that session expires."""
    if not before.consumers[c].up or after.consumers[c].up or after.zk.changes != before.zk.changes + 1:
        return False
    if (after.zk.clients[c].registered == ABSENT) != (before.zk.clients[c].registered == ABSENT):
        return False
    for p in range(len(after.zk.partitions)):
        if before.zk.partitions[p].owner == c:
            if after.zk.partitions[p].owner != c or not after.zk.partitions[p].orphaned:
                return False
    return after.zk.clients[c].registered != PROCESS


def session_splits(before, after, c):
    """A session splits only under a process that has registered and begun its rebalance. The former session keeps the
    id, and the process must register again.
    """
    old = before.consumers[c]
    new = after.consumers[c]
    if not old.up or old.callback != NONE or not before.zk.clients[c].session:
        return False
    if before.zk.clients[c].registered == ORPHAN or after.zk.clients[c].registered != ORPHAN:
        return False
    return new.up == 1 and new.callback == NEW_SESSION and after.zk.clients[c].session == 1


def orphans_go(before, after, c):
    """When a former session expires, all its znodes go."""
    owned = before.zk.clients[c].registered == ORPHAN
    for p in range(len(after.zk.partitions)):
        if before.zk.partitions[p].owner == c and before.zk.partitions[p].orphaned:
            owned = True
            if after.zk.partitions[p].owner != NOBODY:
                return False
    return owned and after.zk.clients[c].registered != ORPHAN


def changes_are_told(before, after):
    """A watch fires when a member comes or goes, and when a partition is added."""
    changed = before.zk.size != after.zk.size
    for i in range(len(after.consumers)):
        changed = changed or ((before.zk.clients[i].registered == ABSENT) != (after.zk.clients[i].registered == ABSENT))
    for c in range(len(after.consumers)):
        old = before.zk.clients[c]
        new = after.zk.clients[c]
        if changed and old.watch == ARMED and old.session and new.session and after.consumers[c].callback != REBALANCE:
            if new.watch != FIRED:
                return False
        if old.watch == FIRED and new.watch != FIRED and new.session and after.consumers[c].doing != LOOKING:
            if after.consumers[c].callback != REBALANCE:
                return False
    return True


def brokers_come_and_go(before, after):
    """When the last broker goes, or one comes back, the watches of those that have subscribed to the brokers fire."""
    for c in range(len(after.consumers)):
        old = before.zk.clients[c]
        if old.brokers_watched and old.watch == ARMED and after.zk.clients[c].watch != FIRED:
            return False
    return after.zk.brokerless != before.zk.brokerless


SESSIONS = (
    always_step(starts_with_session, of=("start",)),
    always_step(registers_before_it_rebalances, of=("register", "register_when_free")),
    always_step(rebalance_begins, of=("rebalance_registered", "rebalance_changed")),
    always_step(leaves_nothing, of=("shut_down",)),
    always_step(leaves_orphans, of=("crash",)),
    always_step(session_splits, of=("split_session",)),
    always_step(orphans_go, of=("expire_orphan",)),
    always_step(changes_are_told),
    always_step(brokers_come_and_go, of=("lose_brokers", "regain_brokers")),
)
