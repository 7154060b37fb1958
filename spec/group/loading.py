"""How a broker becomes coordinator, and ceases to be: by changes of the offsets partition's leader.

Changes are handled in order, by one thread, at any time after they have happened: until then a broker that leads no
more answers as if it did, and one that leads already answers that it does not.

A load takes one record a step, and others go on meanwhile: requests are refused, and leadership may move away.
Then the load ends where it is, and the broker owns what it has read so far until the thread comes to the next change.
"""

from kafkaproof.spec.group.cache import install
from kafkaproof.spec.group.coordinator import JOIN_PARKED, SYNC_PARKED, forget_group, lay_to_rest
from kafkaproof.spec.group.deletion import abandon_appends
from kafkaproof.spec.group.network import NOT_COORDINATOR, refuse
from kafkaproof.spec.group.sorts import Broker
from kafkaproof.spec.group.states import ABSENT
from kafkaproof.spec.group.storage import count_fault, has_more, has_news, is_next_leader, may_stop, read_record


def must_load(broker):
    """addLoadingPartition: whether a broker that is elected loads: not when it owns the partition already."""
    return not broker.owned


def take_over(s, b: Broker):
    """Broker `b` learns that it leads the offsets partition, and begins to load.

    Guards:  the next change that it has not handled is its election; it is not loading, and has unloaded.
    Effects: requests are answered with COORDINATOR_LOAD_IN_PROGRESS; a broker that owns the partition goes on.
    Kafka:   GroupCoordinator.onElection, GroupMetadataManager.scheduleLoadGroupAndOffsets, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if broker.loading or broker.group.state != ABSENT and not broker.owned:
        return False
    if not has_news(s.storage, broker.epoch) or not is_next_leader(s.storage, b, broker.epoch):
        return False

    broker.epoch += 1
    if must_load(broker):
        broker.loading = 1
    return True


def read(s, b: Broker):
    """Broker `b` reads the next record of the log.

    Guards:  it is loading, still leads, and there is one; a group in its cache stays as it is, whatever the log says.
    Effects: it counts in place of a former one with the same key, or removes that.
    Kafka:   GroupMetadataManager.doLoadGroupsAndOffsets, loadGroup, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.loading or broker.group.state != ABSENT or not has_more(s.storage, b, broker.read):
        return False

    read_record(s.storage, broker)
    return True


def load(s, b: Broker):
    """Broker `b` has read the log, and owns the partition.

    Guards:  it is loading, and has read to the log end (2.1+), or does not lead any more.
    Effects: the group is as the last records say: Stable with members, else Empty; sessions begin anew. A group that
             was in the cache is as it was.
    Kafka:   GroupMetadataManager.doLoadGroupsAndOffsets, loadGroupsAndOffsets, 2.1 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.loading or broker.group.state == ABSENT and not may_stop(s.storage, b, broker.read):
        return False

    if broker.group.state == ABSENT:
        install(broker.group)
    own(broker)
    return True


def load_fails(s, b: Broker):
    """Broker `b` cannot read the log, and owns the partition nevertheless.

    Guards:  it is loading.
    Effects: nothing of what it has read is in the cache.
    Kafka:   GroupMetadataManager.loadGroupsAndOffsets, catch and finally, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.loading:
        return False

    if broker.group.state == ABSENT:
        forget_group(broker.group)
    own(broker)
    count_fault(s.storage)
    return True


def own(broker):
    """The load is over, however it ended: the partition is owned."""
    broker.loading = 0
    broker.read = 0
    broker.owned = 1


def disown(broker):
    """The partition is not owned any more."""
    broker.owned = 0


def unload(s, b: Broker):
    """Broker `b` learns that it does not lead the offsets partition.

    Guards:  the next change that it has not handled is another's election; it is not loading.
    Effects: the group is Dead; parked requests are answered with NOT_COORDINATOR.
    Kafka:   GroupCoordinator.onResignation, onGroupUnloaded, GroupMetadataManager.removeGroupsForPartition, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if broker.loading or not has_news(s.storage, broker.epoch) or is_next_leader(s.storage, b, broker.epoch):
        return False

    broker.epoch += 1
    disown(broker)
    refuse(s.network, broker.group, JOIN_PARKED, NOT_COORDINATOR)
    refuse(s.network, broker.group, SYNC_PARKED, NOT_COORDINATOR)
    if broker.group.state != ABSENT:
        lay_to_rest(broker.group)
    abandon_appends(broker)
    return True
