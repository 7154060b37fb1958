"""Lemmas of groups (current): what a coordinator has in its cache, what its log holds, and who it has told what.

In short: a group is in the cache only of a broker that owns the partition; what is acknowledged is committed; and the
coordinator of an epoch knows the last generation that it has handed out, with the leader whom it has told so.
"""

from kafkaproof.spec.group.coordinator import PENDING, has_timers
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE
from kafkaproof.spec.group.producer.network import NONE
from kafkaproof.spec.group.properties.invariants import (
    Place,
    append_is_written,
    cached_is_owned,
    change_is_past,
    committed_is_written,
    generation_is_chosen,
    is_reading,
    no_group_has_no_members,
    no_group_is_nothing,
    parked_is_member,
    reads_while_it_loads,
    record_is_whole,
    tombstone_is_due,
)
from kafkaproof.spec.group.properties.offsets import last_before, offset_before
from kafkaproof.spec.group.properties.safety import epoch_told, generation_told, is_as_stored, told
from kafkaproof.spec.group.records import (
    GROUP_RECORD,
    GROUP_TOMBSTONE,
    NO_RECORD,
    OFFSET_RECORD,
    OFFSET_TOMBSTONE,
    TOMBSTONES,
)
from kafkaproof.spec.group.sorts import NOWHERE, Broker, Client, KnownId
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import is_empty


def loads_into_nothing(s, b: Broker):
    """A broker that loads does not own the partition, and its group is not in the cache yet."""
    broker = s.brokers[b]
    return not broker.loading or not broker.owned and broker.group.state == ABSENT


def loads_no_other(s, b: Broker):
    """A broker that loads has a group in its cache only if it owns the partition already."""
    broker = s.brokers[b]
    return not broker.loading or broker.owned or broker.group.state == ABSENT


def unread_is_nothing(s, b: Broker):
    """Nor of one of which no record was read."""
    broker = s.brokers[b]
    group = broker.group
    if broker.read > 0 or has_timers(group):
        return True
    if group.leader != NOBODY or group.protocol != NOBODY or group.topic != NOBODY or group.owner != NOBODY:
        return False
    return group.generation == 0 and group.offset == NOWHERE


def loaded_is_chosen(s, b: Broker):
    """So has one that is being loaded."""
    group = s.brokers[b].group
    if not is_reading(s.brokers[b]) or group.leader == NOBODY:
        return True
    return group.protocol != NOBODY and group.topic != NOBODY and group.generation > 0


def loaded_is_not_pending(s, b: Broker, id: KnownId):
    """What is loaded has no pending members."""
    return not is_reading(s.brokers[b]) or s.brokers[b].group.members[id].status != PENDING


def nobody_is_pending(s, b: Broker, id: KnownId):
    """Nobody is pending: member ids are not required."""
    return s.brokers[b].group.members[id].status != PENDING


def nothing_in_transactions(s, b: Broker):
    """No producer commits offsets."""
    return s.producer.transaction == NONE and s.producer.position == NOWHERE and s.brokers[b].group.pending == NOWHERE


def written_is_known(s, p: Place):
    """What is in the log is of a group or an offset, or a tombstone."""
    kind = s.storage.log.slots[p].kind
    if p >= s.storage.log.length:
        return kind == NO_RECORD
    if kind == GROUP_RECORD or kind == OFFSET_RECORD:
        return True
    return kind == GROUP_TOMBSTONE or kind == OFFSET_TOMBSTONE or kind == TOMBSTONES


def append_is_of_group(s, b: Broker):
    """A callback is of a commit, or of the group in the cache; it is an orphan when that is gone."""
    broker = s.brokers[b]
    for append in broker.appends.slots:
        if append.kind == GROUP_RECORD:
            if not has_timers(broker.group) or append.orphan or not is_empty(append.waiter):
                return False
        elif append.kind == OFFSET_RECORD:
            if not has_timers(broker.group) and not append.orphan:
                return False
        elif append.kind != NO_RECORD:
            return False
    return True


def answered_is_committed(s, p: Place):
    """A commit that was answered with NONE is committed."""
    return not s.storage.log.slots[p].ghosts.answered or p < s.storage.committed


def has_membership_read(s, broker):
    """Whether a broker that loads has the members and the generation of the last group record that it has read."""
    last = last_before(s, broker.read)
    if last == NOWHERE:
        return broker.group.generation == 0 and broker.group.leader == NOBODY
    return is_as_stored(broker.group, s.storage.log.slots[last])


def loads_what_was_read(s, b: Broker):
    """Who loads as leader has what the records say that it has read, the last one of each key."""
    broker = s.brokers[b]
    if not is_reading(broker) or broker.epoch != s.storage.epoch:
        return True
    if broker.read > s.storage.log.length or broker.group.offset != offset_before(s, broker.read):
        return False
    return has_membership_read(s, broker)


def told_by_elected(s, m: Client):
    """Who was told that it leads was told so by a coordinator that was elected, in a generation."""
    client = s.clients[m]
    answer = s.network.answers[m]
    if not told(client, answer):
        return True
    return 1 <= epoch_told(client, answer) <= s.storage.epoch and generation_told(client, answer) > 0


def id_told(client, answer):
    """The member id with which a client leads."""
    return client.id if client.leading else answer.id


def knows_generation(broker, epoch, generation, leader):
    """Whether a coordinator that made a generation in an epoch, with a leader, has made no later one or still has this
    one, or has moved on.
    """
    if broker.epoch != epoch:
        return broker.epoch > epoch
    if not broker.owned:
        return not broker.loading
    if not has_timers(broker.group) or generation > broker.group.generation:
        return False
    if broker.group.state != COMPLETING_REBALANCE or generation < broker.group.generation:
        return True
    return broker.group.leader == leader


def told_is_known(s, m: Client, b: Broker):
    """The coordinator that has told a client that it leads has handed out no later generation, or one that this client
    leads, unless the group was deleted, or the broker has moved on.
    """
    client = s.clients[m]
    answer = s.network.answers[m]
    broker = s.brokers[b]
    epoch = epoch_told(client, answer)
    generation = generation_told(client, answer)
    if not told(client, answer) or s.storage.ghosts.deleted or s.storage.leaders[epoch - 1] != b:
        return True
    return knows_generation(broker, epoch, generation, id_told(client, answer))


COORDINATORS = (
    change_is_past,
    cached_is_owned,
    no_group_is_nothing,
    reads_while_it_loads,
    unread_is_nothing,
    no_group_has_no_members,
    generation_is_chosen,
    loaded_is_chosen,
    parked_is_member,
    loaded_is_not_pending,
    record_is_whole,
    tombstone_is_due,
    nothing_in_transactions,
    written_is_known,
    committed_is_written,
    append_is_written,
    append_is_of_group,
    answered_is_committed,
    loads_what_was_read,
    told_by_elected,
    told_is_known,
)
