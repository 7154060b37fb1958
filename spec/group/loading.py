"""How a broker becomes coordinator, and ceases to be: by changes of the offsets partition's leader.

Changes are handled in order, by one thread, at any time after they have happened: until then a broker that leads no
more answers as if it did, and one that leads already answers that it does not.
"""

from spec.group.coordinator import JOIN_PARKED, OFFSET_RECORD, SYNC_PARKED, Broker, forget_append, forget_group
from spec.group.network import NOT_COORDINATOR, refuse, refuse_appends
from spec.group.storage import Position, has_news, is_next_leader, is_readable, read_log


def take_over(s, b: Broker):
    """Broker `b` learns that it leads the offsets partition, and begins to load.

    Guards:  the next change that it has not handled is its election; it is not loading.
    Effects: requests are answered with COORDINATOR_LOAD_IN_PROGRESS.
    Kafka:   GroupCoordinator.onElection, GroupMetadataManager.scheduleLoadGroupAndOffsets, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if broker.loading or not has_news(s.storage, broker.epoch) or not is_next_leader(s.storage, b, broker.epoch):
        return False

    broker.epoch += 1
    broker.loading = 1
    return True


def load(s, b: Broker, upto: Position):
    """Broker `b` has read the log, and owns the partition.

    Guards:  it is loading; `upto` is the log end (2.1+).
    Effects: the group is as the last records say: Stable with members, else Empty; sessions begin anew.
    Kafka:   GroupMetadataManager.doLoadGroupsAndOffsets, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.loading or not is_readable(s.storage, upto):
        return False

    read_log(s.storage, broker.group, upto)
    broker.loading = 0
    broker.owned = 1
    return True


def abandon_appends(broker):
    """The group of all callbacks is Dead; those of group records do nothing any more."""
    for k in range(len(broker.appends.slots) - 1):
        i = len(broker.appends.slots) - 2 - k
        if broker.appends.slots[i].kind == OFFSET_RECORD:
            broker.appends.slots[i].orphan = 1
        elif i < broker.appends.length:
            forget_append(broker, i)


def disown(broker):
    """The partition is not owned any more."""
    broker.owned = 0


def unload(s, b: Broker):
    """Broker `b` learns that it does not lead the offsets partition.

    Guards:  the next change that it has not handled is another's election; it is not loading.
    Effects: the group is Dead, and leaves the cache; parked requests are answered with NOT_COORDINATOR.
    Kafka:   GroupCoordinator.onResignation, onGroupUnloaded, GroupMetadataManager.removeGroupsForPartition, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if broker.loading or not has_news(s.storage, broker.epoch) or is_next_leader(s.storage, b, broker.epoch):
        return False

    broker.epoch += 1
    disown(broker)
    refuse(s.network, broker.group, JOIN_PARKED, NOT_COORDINATOR)
    refuse(s.network, broker.group, SYNC_PARKED, NOT_COORDINATOR)
    refuse_appends(s.network, broker, NOT_COORDINATOR)
    forget_group(broker.group)
    abandon_appends(broker)
    return True
