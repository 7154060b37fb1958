"""A group whose last member is gone becomes Dead, leaves the cache, and gets its tombstone, in this order and at once.

One thread does all that, under the lock of the group. Others may come in between, as after `deletion.die`, because they
make a group of their own.
"""

from kafkaproof.spec.group.cache import forget_membership
from kafkaproof.spec.group.deletion import abandon_appends
from kafkaproof.spec.group.group_states import DEAD
from kafkaproof.spec.group.records import GROUP_TOMBSTONE, NO_RECORD, TOMBSTONES
from kafkaproof.spec.group.storage import leads, may_stop, note_death


def remove_group(storage, b, broker):
    """removeGroup, of a group without members, instead of a record of the Empty group: it is Dead, its tombstone is due,
    and its offset stays.

    Not modelled: that a tombstone which is already due is appended apart from this one.
    Kafka: GroupCoordinator.onCompleteJoin, 0.9 to 0.10.0; GroupMetadataManager.removeGroup, 0.9 to 0.10.0.
    """
    alone = broker.tombstone == NO_RECORD or broker.tombstone == GROUP_TOMBSTONE
    broker.tombstone = GROUP_TOMBSTONE if alone else TOMBSTONES
    forget_membership(broker.group)
    broker.group.state = DEAD
    abandon_appends(broker)
    note_death(storage, 1)


def has_read_again(storage, b, broker):
    """Whether a broker that loads has read enough: one that is elected again has the high watermark that it had, and
    reads again what was acknowledged.

    Kafka: GroupMetadataManager.loadGroupsAndOffsets, 0.9 to 0.10.0.
    """
    again = broker.owned == 1 and leads(storage, b)
    return may_stop(storage, b, broker.read) and (not again or broker.read >= storage.committed)
