"""Properties of the old consumer's group: O2 to O4, O-OFFSET-MONO, and what else should hold for claims and offsets.

O1, at most one owner node for each partition, holds by the form of the state.
"""

from kafkaproof.spec.consumer.member import (
    CLAIMING,
    FAILED,
    IDLE,
    LOOKING,
    NONE,
    READING_OFFSETS,
    is_committed,
    reads,
    thread_for,
)
from kafkaproof.spec.consumer.zookeeper import FIRED, has_orphan
from kafkaproof.spec.kafka.zookeeper import ANSWERED, PROCESS
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, intersection, is_empty


def owned_by_session(s, c, p):
    """Whether the owner node of `p` belongs to the present session of `c`."""
    return s.zk.partitions[p].owner == c and not s.zk.partitions[p].orphaned


def reads_its_own(s):
    """A thread reads only partitions whose owner node names it and belongs to its consumer's session (O2)."""
    for c in range(len(s.consumers)):
        for p in range(len(s.zk.partitions)):
            for t in range(len(s.consumers[c].streams)):
                if contains(s.consumers[c].streams[t], p):
                    if not owned_by_session(s, c, p) or s.zk.partitions[p].thread != t:
                        return False
    return True


def one_reader(s):
    """No two consumers read the same partition at the same time."""
    for p in range(len(s.zk.partitions)):
        readers = 0
        for consumer in s.consumers:
            if reads(consumer, p):
                readers += 1
        if readers > 1:
            return False
    return True


def knows_assignment(consumer):
    """Whether an attempt has computed its own partitions."""
    return consumer.doing == READING_OFFSETS or consumer.doing == CLAIMING


def same_view_same_assignment(s):
    """No two consumers that have read the same members and partitions both assign themselves a partition (O3)."""
    for a in range(len(s.consumers)):
        for b in range(a):
            mine = s.consumers[a]
            yours = s.consumers[b]
            same = mine.members == yours.members and mine.size == yours.size
            if knows_assignment(mine) and knows_assignment(yours) and same:
                if not is_empty(intersection(mine.mine, yours.mine)):
                    return False
    return True


def is_at_rest(s, c):
    """Whether a consumer has nothing to do: it is at rest, or has no process."""
    consumer = s.consumers[c]
    if has_orphan(s.zk, c):
        return False
    if not consumer.up:
        return True
    client = s.zk.clients[c]
    return client.session == 1 and client.watch != FIRED and consumer.callback == NONE and consumer.doing == IDLE


def is_quiet(s):
    """Whether the group is stable: some consumer lives, there are brokers, and no consumer has anything to do."""
    somebody = False
    for c in range(len(s.consumers)):
        if not is_at_rest(s, c):
            return False
        if s.consumers[c].up:
            somebody = True
    return somebody and not s.zk.brokerless


def owned_and_read(s, p):
    """Whether the owner node of `p` names a living consumer's thread, which reads it."""
    partition = s.zk.partitions[p]
    if partition.owner == NOBODY or not owned_by_session(s, partition.owner, p):
        return False
    return contains(s.consumers[partition.owner].streams[partition.thread], p)


def quiet_group_reads_all(s):
    """When the group is stable, every partition is owned by a living thread, which reads it (O4, as safety)."""
    if not is_quiet(s):
        return True
    for p in range(s.zk.size):
        if not owned_and_read(s, p):
            return False
    return True


def remembers_claims(s):
    """A consumer knows every owner node of its session: it is in the registry, or the present attempt handles it."""
    for c in range(len(s.consumers)):
        consumer = s.consumers[c]
        for p in range(len(s.zk.partitions)):
            if owned_by_session(s, c, p) and not contains(consumer.registry, p):
                if not contains(consumer.claimed, p) and not contains(consumer.left, p):
                    return False
    return True


def claims_end_with_session(s):
    """An owner node belongs to an open session."""
    for partition in s.zk.partitions:
        if partition.owner != NOBODY and not partition.orphaned and not s.zk.clients[partition.owner].session:
            return False
    return True


def rests_registered(s):
    """A consumer with an open session and nothing to do is registered, so the others take it into account."""
    for c in range(len(s.consumers)):
        if s.consumers[c].up and is_at_rest(s, c) and s.zk.clients[c].registered != PROCESS:
            return False
    return True


def failed_holds_nothing(s):
    """A registered consumer whose attempt has failed has released its partitions, so others can claim them."""
    for c in range(len(s.consumers)):
        consumer = s.consumers[c]
        if consumer.doing == FAILED and s.zk.clients[c].registered == PROCESS and not is_empty(consumer.registry):
            return False
    return True


def deletes_its_own(before, after, c, p, delivery):
    """A consumer that releases or undoes claims deletes only its own owner nodes."""
    deleted = before.zk.partitions[p].owner != NOBODY and after.zk.partitions[p].owner == NOBODY
    return not deleted or before.zk.partitions[p].owner == c


def claims_afresh(before, after, c, p, delivery):
    """A claim does not succeed by the owner node of a former session, which will vanish."""
    node = before.zk.partitions[p]
    old = node.owner == c and node.orphaned and node.thread == thread_for(before.consumers[c], p)
    return not old or not before.zk.clients[c].session or delivery != ANSWERED


def offset_never_falls(before, after):
    """The stored offset of a partition never falls (O-OFFSET-MONO)."""
    for p in range(len(after.zk.partitions)):
        if after.zk.partitions[p].offset < before.zk.partitions[p].offset:
            return False
    return True


def commits_what_was_read(before, after, c, p):
    """A consumer commits only what it has read: no record is skipped, but one may be read twice."""
    new = after.zk.partitions[p].offset
    return new == before.zk.partitions[p].offset or new == before.consumers[c].positions[p].offset


def begins_at_stored(before, after, c, p):
    """A consumer begins at the offset that was stored when it read it."""
    consumer = after.consumers[c]
    if consumer.doing == before.consumers[c].doing and consumer.left == before.consumers[c].left:
        return True
    return consumer.positions[p].offset == before.zk.partitions[p].offset or not contains(before.consumers[c].mine, p)


def commits_before_release(before, after, c, p, delivery):
    """What was read is committed before an owner node is released."""
    return is_committed(before.consumers[c])


SAFETY = (
    always(reads_its_own),
    always(one_reader),
    always(same_view_same_assignment),
    always(quiet_group_reads_all),
    always(remembers_claims),
    always(claims_end_with_session),
    always(rests_registered),
    always(failed_holds_nothing),
    always_step(deletes_its_own, of=("release", "undo")),
    always_step(claims_afresh, of=("claim",)),
    always_step(offset_never_falls),
    always_step(commits_what_was_read, of=("commit",)),
    always_step(begins_at_stored, of=("read_offset",)),
    always_step(commits_before_release, of=("release",)),
)


def herd(s):
    """All members are in a rebalance at once, and have stopped reading."""
    for consumer in s.consumers:
        if not consumer.up or consumer.doing == IDLE or consumer.doing == LOOKING:
            return False
    return True


def split_view(s):
    """Two consumers have read different memberships, and both claim the same partition."""
    for a in range(len(s.consumers)):
        for b in range(a):
            mine = s.consumers[a]
            yours = s.consumers[b]
            if mine.doing == CLAIMING and yours.doing == CLAIMING and mine.members != yours.members:
                if not is_empty(intersection(mine.mine, yours.mine)):
                    return True
    return False


def split_topic(s):
    """Two consumers have read different numbers of partitions, and both claim the same partition."""
    for a in range(len(s.consumers)):
        for b in range(len(s.consumers)):
            mine = s.consumers[a]
            yours = s.consumers[b]
            if mine.doing == CLAIMING and yours.doing == CLAIMING and mine.size < yours.size:
                if mine.members == yours.members and not is_empty(intersection(mine.mine, yours.mine)):
                    return True
    return False


def claim_undone(s):
    """A claim has failed after another one of the same attempt has succeeded."""
    for consumer in s.consumers:
        if consumer.conflict and not is_empty(consumer.claimed):
            return True
    return False


def claim_forgotten(s):
    """A consumer with nothing to do keeps an owner node that it does not know of, so nobody can claim the partition."""
    for p in range(len(s.zk.partitions)):
        owner = s.zk.partitions[p].owner
        if owner != NOBODY and is_at_rest(s, owner) and not contains(s.consumers[owner].registry, p):
            return True
    return False


def read_again(s):
    """A consumer reads records that another has read and committed."""
    for consumer in s.consumers:
        for p in range(len(s.zk.partitions)):
            if reads(consumer, p) and contains(consumer.registry, p):
                if consumer.positions[p].offset < s.zk.partitions[p].offset:
                    return True
    return False


def waits_for_brokers(s):
    """A consumer has found no broker, and keeps its partitions."""
    for c in range(len(s.consumers)):
        if s.zk.brokerless and s.zk.clients[c].brokers_watched and not is_empty(s.consumers[c].registry):
            return True
    return False


def failed_unregistered(s):
    """An attempt of a consumer that is not registered has failed with partitions still in the registry."""
    for c in range(len(s.consumers)):
        consumer = s.consumers[c]
        if consumer.doing == FAILED and s.zk.clients[c].registered != PROCESS and not is_empty(consumer.registry):
            return True
    return False


GOALS = (
    sometimes(herd, consumers=2),
    sometimes(split_view, consumers=2),
    sometimes(split_topic, consumers=2, partitions=3, changes=1),
    sometimes(claim_undone, consumers=2, partitions=2),
    sometimes(claim_forgotten, consumers=2, expiries=1),
    sometimes(read_again, consumers=2, offsets=1),
    sometimes(waits_for_brokers, changes=1),
    sometimes(failed_unregistered, expiries=1),
)
