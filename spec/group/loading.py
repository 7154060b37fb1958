"""How a broker becomes coordinator and stops being it: by changes of the offsets partition's leader.

One thread handles the changes in order, at any time after they have happened. Until then a broker that no longer leads
answers as if it did, and one that already leads answers that it does not.

A load reads one record in each step. Meanwhile requests are refused, and leadership may move away. In that case the
load ends where it is, and the broker owns what it has read so far until the thread comes to the next change.
"""

from kafkaproof.spec.group.cache import install
from kafkaproof.spec.group.coordinator import JOIN_PARKED, SYNC_PARKED, forget_group, lay_to_rest
from kafkaproof.spec.group.deletion import abandon_appends, keep_waiters
from kafkaproof.spec.group.group_states import ABSENT, PREPARING_REBALANCE
from kafkaproof.spec.group.network import NOT_COORDINATOR, refuse
from kafkaproof.spec.group.sorts import Broker
from kafkaproof.spec.group.storage import count_fault, has_more, has_news, has_read, is_next_leader, read_record


def must_load(broker):
    """addLoadingPartition: whether an elected broker loads the partition: only if it does not already own it (2.8.1+).

    Kafka: GroupMetadataManager.addLoadingPartition, 2.8.1 to 3.9.
    """
    return not broker.owned


def take_over(s, b: Broker):
    """Broker `b` learns that it leads the offsets partition, and begins to load.

    Guards:  the next change to handle is its own election; it is not loading, and has unloaded what it had.
    Effects: requests are answered with COORDINATOR_LOAD_IN_PROGRESS; a broker that already owns the partition
             continues.
    Kafka:   GroupCoordinator.onElection, 2.4.1 to 3.9; GroupCoordinator.handleGroupImmigration, 0.9 to 2.4.0.
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

    Guards:  it is loading, still leads, and there is another record; a group that is already in its cache stays as it
             is, whatever the log says.
    Effects: the record replaces the former one with the same key, or removes it.
    Kafka:   GroupMetadataManager.loadGroupsAndOffsets, 0.9 to 3.9; loadGroup, 0.10.1 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.loading or broker.group.state != ABSENT or not has_more(s.storage, b, broker.read):
        return False

    read_record(s.storage, broker)
    return True


def load(s, b: Broker):
    """Broker `b` finishes the load, and owns the partition.

    Guards:  it is loading; it has read to the log end (0.11+), or no longer leads.
    Effects: the group is as the last records say: Stable with members, Empty without; sessions start anew. A group that
             was already in the cache stays as it was.
    Kafka:   GroupMetadataManager.loadGroupsAndOffsets, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.loading or broker.group.state == ABSENT and not has_read(s.storage, b, broker):
        return False

    if broker.group.state == ABSENT:
        install(broker.group)
    own(broker)
    return True


def drop_loaded(group):
    """Drop what a load has read, because it failed: nothing has entered the cache yet.

    Kafka: GroupMetadataManager.loadGroupsAndOffsets, 0.10.1 to 3.9.
    """
    forget_group(group)


def load_fails(s, b: Broker):
    """Broker `b` cannot read the log, but owns the partition all the same.

    Guards:  it is loading.
    Effects: nothing that it has read enters the cache; up to 0.10.0, offsets have.
    Kafka:   GroupMetadataManager.loadGroupsAndOffsets (catch and finally), 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.loading:
        return False

    if broker.group.state == ABSENT:
        drop_loaded(broker.group)
    own(broker)
    count_fault(s.storage)
    return True


def own(broker):
    """End the load, whether or not it succeeded: the partition is owned."""
    broker.loading = 0
    broker.read = 0
    broker.owned = 1


def disown(broker):
    """Give up the partition."""
    broker.owned = 0


def unload(s, b: Broker):
    """Broker `b` learns that it does not lead the offsets partition.

    Guards:  the next change to handle is the election of another broker; it is not loading.
    Effects: the group becomes Dead; parked requests are answered with NOT_COORDINATOR, except a static member's join in
             a Stable group, which its callback answers.
    Kafka:   GroupCoordinator.onGroupUnloaded, GroupMetadataManager.removeGroupsForPartition, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if broker.loading or not has_news(s.storage, broker.epoch) or is_next_leader(s.storage, b, broker.epoch):
        return False

    broker.epoch += 1
    disown(broker)
    if broker.group.state == PREPARING_REBALANCE:
        refuse(s.network, broker.group, JOIN_PARKED, NOT_COORDINATOR)
    refuse(s.network, broker.group, SYNC_PARKED, NOT_COORDINATOR)
    keep_waiters(broker)
    if broker.group.state != ABSENT:
        lay_to_rest(broker.group)
    abandon_appends(broker)
    return True
