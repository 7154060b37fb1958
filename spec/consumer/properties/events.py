"""Properties of the old consumer: where each phase of an attempt leads, and which watches inform whom."""

from kafkaproof.spec.consumer.member import (
    CLAIMING,
    FAILED,
    IDLE,
    LISTING,
    LOOKING,
    READING_IDS,
    READING_OFFSETS,
    READING_TOPIC,
    RELEASING,
    UNDOING,
    reads,
)
from kafkaproof.spec.consumer.properties.invariants import (
    callback_registers,
    claim_is_tried,
    id_has_session,
    is_assigned,
    left_is_own,
    orphan_has_id,
    orphan_keeps_out,
    own_is_assigned,
    owns_what_it_holds,
    phase_has_registry,
    position_is_no_older,
    process_is_gone,
    reads_anything,
    reads_registry,
    starts_with_nothing,
    uncommitted_is_registered,
    untold_has_assignment,
    untold_has_listed,
    watches_when_registered,
)
from kafkaproof.spec.consumer.zookeeper import UNARMED
from kafkaproof.spec.kafka.zookeeper import ABSENT, ANSWERED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, is_empty, without_member


def works_through(consumer):
    """Whether the phase of an attempt handles partitions one after the other."""
    if consumer.doing == RELEASING or consumer.doing == UNDOING:
        return True
    return consumer.doing == READING_OFFSETS or consumer.doing == CLAIMING


def attempt_is_whole(s):
    """An attempt knows what it has read so far, and has partitions to do only in the phases that handle partitions.
    Outside an attempt, a consumer knows nothing of a former one.
    """
    for c in range(len(s.consumers)):
        consumer = s.consumers[c]
        if not left_is_own(s, c) or not claim_is_tried(s, c) or not phase_has_registry(s, c):
            return False
        for p in range(len(consumer.positions)):
            if not own_is_assigned(s, c, p):
                return False
        if works_through(consumer) == is_empty(consumer.left):
            return False
        listed = consumer.doing == READING_IDS or consumer.doing == READING_TOPIC or is_assigned(consumer)
        if listed != contains(consumer.members, c) or (consumer.size > 0) != is_assigned(consumer):
            return False
        if consumer.conflict and consumer.doing != CLAIMING and consumer.doing != UNDOING:
            return False
        for failure in consumer.failures:
            if failure and consumer.doing == IDLE:
                return False
    return True


def sessions_are_whole(s):
    """Without a process there is no session. A consumer that need not register is registered. An id belongs to an open
    session or a former one.
    """
    for c in range(len(s.consumers)):
        if not process_is_gone(s, c) or not callback_registers(s, c) or not starts_with_nothing(s, c):
            return False
        if not orphan_keeps_out(s, c) or not id_has_session(s, c):
            return False
        if not s.consumers[c].up and s.zk.clients[c].brokers_watched:
            return False
    for p in range(len(s.zk.partitions)):
        node = s.zk.partitions[p]
        if not orphan_has_id(s, p) or node.owner == NOBODY and (node.thread > 0 or node.orphaned):
            return False
    return True


def owns_what_it_does(s):
    """While no session of a living process and no answer is lost, a consumer owns what its phase says, reads it only at
    rest, and has read it at least as far as the stored offset.
    """
    for c in range(len(s.consumers)):
        for p in range(len(s.zk.partitions)):
            if not owns_what_it_holds(s, c, p) or not reads_registry(s, c, p):
                return False
            if not uncommitted_is_registered(s, c, p) or not position_is_no_older(s, c, p):
                return False
    return True


def untold_is_up_to_date(s):
    """While no session of a living process and no answer is lost, a consumer without a fired watch has the current
    members, partitions and assignment, and its watch will fire at the next change.
    """
    for c in range(len(s.consumers)):
        if not untold_has_listed(s, c) or not watches_when_registered(s, c):
            return False
        for p in range(len(s.zk.partitions)):
            if not untold_has_assignment(s, c, p):
                return False
    return True


def position_is_kept(s):
    """A consumer has a position in the partitions of its registry, and in those whose offset the attempt has read so
    far. It has forgotten its positions in others.
    """
    for consumer in s.consumers:
        for p in range(len(consumer.positions)):
            kept = contains(consumer.registry, p) or contains(consumer.mine, p)
            if consumer.positions[p].offset > 0 and not kept:
                return False
    return True


def same_attempt(old, new):
    """Whether a consumer is in the same phase, with the same partitions to do and being read."""
    same = old.up == new.up and old.callback == new.callback and old.doing == new.doing and old.left == new.left
    return same and old.registry == new.registry and old.mine == new.mine and old.claimed == new.claimed


def answer_ends_phase(before, after, c):
    """A read in an attempt leads to another phase, or ends the attempt. In a session that is over it changes nothing."""
    old = before.consumers[c]
    new = after.consumers[c]
    if old.doing == IDLE or old.doing == FAILED or works_through(old):
        return False
    if not before.zk.clients[c].session:
        return same_attempt(old, new)
    return old.doing != new.doing


def looks_first(before, after, c):
    """A consumer that finds a broker and its own id stops its fetchers. Without its id the attempt fails. Without a
    broker the rebalance ends and changes nothing.
    """
    old = before.consumers[c]
    new = after.consumers[c]
    if old.doing != LOOKING:
        return False
    if not before.zk.clients[c].session:
        return new.doing == LOOKING
    if before.zk.clients[c].registered == ABSENT:
        return new.doing == FAILED and not reads_anything(new)
    if before.zk.brokerless:
        return new.doing == IDLE and new.registry == old.registry and after.zk.clients[c].brokers_watched == 1
    return not reads_anything(new) and (new.doing == LISTING if is_empty(old.registry) else new.left == old.registry)


def lists_who_is_there(before, after, c):
    """An attempt that has listed the members knows all whose ids are there, and watches for the next change. It goes on
    if the consumer is one of them.
    """
    new = after.consumers[c]
    if before.consumers[c].doing != LISTING:
        return False
    if not before.zk.clients[c].session:
        return new.doing == LISTING
    if after.zk.clients[c].watch == UNARMED or (new.doing == READING_IDS) == (
        before.zk.clients[c].registered == ABSENT
    ):
        return False
    for i in range(len(after.consumers)):
        if new.doing == READING_IDS and contains(new.members, i) != (before.zk.clients[i].registered != ABSENT):
            return False
    return True


def reads_who_is_there(before, after, c):
    """An attempt fails if a listed member is gone before its id is read; otherwise it goes on."""
    new = after.consumers[c]
    if before.consumers[c].doing != READING_IDS:
        return False
    if not before.zk.clients[c].session:
        return new.doing == READING_IDS
    gone = False
    for i in range(len(after.consumers)):
        gone = gone or contains(before.consumers[c].members, i) and before.zk.clients[i].registered == ABSENT
    return new.doing == (FAILED if gone else READING_TOPIC)


def assigns_what_is_there(before, after, c):
    """An attempt that has read the topic knows how many partitions it has. It is over if it is assigned none."""
    new = after.consumers[c]
    if before.consumers[c].doing != READING_TOPIC:
        return False
    if not before.zk.clients[c].session:
        return new.doing == READING_TOPIC
    if new.doing == IDLE:
        return is_empty(new.registry) and not reads_anything(new)
    return new.size == before.zk.size and not is_empty(new.mine) and new.left == new.mine


def one_at_a_time(before, after, c, p, delivery):
    """Owner nodes are released, claimed and undone one by one: each is one of those left to do, and is done once the
    answer has arrived.
    """
    old = before.consumers[c]
    new = after.consumers[c]
    if not works_through(old) or old.doing == READING_OFFSETS or not contains(old.left, p):
        return False
    if not before.zk.clients[c].session or delivery != ANSWERED:
        return same_attempt(old, new)
    left = without_member(old.left, p)
    return new.doing != old.doing if is_empty(left) else new.left == left and new.doing == old.doing


def is_claimed(before, after, c, p, delivery):
    """A claim creates an owner node if there is none. It succeeds by that node, or by an existing one of the same
    thread. Otherwise it is a conflict: once all claims were tried, those that succeeded are undone.
    """
    old = before.consumers[c]
    new = after.consumers[c]
    node = before.zk.partitions[p]
    if old.doing != CLAIMING or node.owner != NOBODY and after.zk.partitions[p].owner != node.owner:
        return False
    if not before.zk.clients[c].session or delivery != ANSWERED:
        return True
    if node.owner == NOBODY and (after.zk.partitions[p].owner != c or after.zk.partitions[p].orphaned):
        return False
    fails = node.owner != NOBODY and node.owner != c
    if new.doing == CLAIMING:
        return (new.conflict == 1) == (fails or old.conflict == 1) and contains(new.claimed, p) != fails
    return (new.doing == UNDOING or new.doing == FAILED) == (fails or old.conflict == 1)


def is_released(before, after, c, p, delivery):
    """An owner node that is released or undone is gone. After the last one the registry is empty, and the attempt goes
    on or has failed.
    """
    old = before.consumers[c]
    new = after.consumers[c]
    if old.doing != RELEASING and old.doing != UNDOING:
        return False
    if not before.zk.clients[c].session or delivery != ANSWERED:
        return True
    if after.zk.partitions[p].owner != NOBODY or reads(new, p):
        return False
    if new.doing == old.doing:
        return new.registry == old.registry
    return (
        new.doing == (LISTING if old.doing == RELEASING else FAILED) and is_empty(new.left) and is_empty(new.registry)
    )


def offset_is_read(before, after, c, p):
    """The offset of a partition is read once in an attempt, and need not be committed."""
    old = before.consumers[c]
    new = after.consumers[c]
    if old.doing != READING_OFFSETS or not contains(old.left, p):
        return False
    if not before.zk.clients[c].session:
        return new.doing == READING_OFFSETS and new.left == old.left
    left = without_member(old.left, p)
    return new.doing != READING_OFFSETS if is_empty(left) else new.left == left


def is_consumed(before, after, c, p):
    """A thread takes one record of a partition that it reads, and the new position is to be committed."""
    old = before.consumers[c]
    new = after.consumers[c].positions[p]
    reading = reads(old, p) and contains(old.registry, p)
    return reading and new.offset == old.positions[p].offset + 1 and new.uncommitted == 1


def is_stored(before, after, c, p):
    """A commit stores what was read from a partition of the registry and not yet committed, so nothing is left to
    commit. In a session that is over it stores nothing.
    """
    old = before.consumers[c]
    if not contains(old.registry, p) or not old.positions[p].uncommitted:
        return False
    if not before.zk.clients[c].session:
        return after.zk.partitions[p].offset == before.zk.partitions[p].offset
    stored = after.zk.partitions[p].offset == old.positions[p].offset
    return stored and not after.consumers[c].positions[p].uncommitted


def read_and_committed(s):
    """A record was read, and its offset is committed."""
    for partition in s.zk.partitions:
        if partition.offset > 0:
            return True
    return False


CONSUMED = (sometimes(read_and_committed, offsets=1),)
EVENTS = (
    always(attempt_is_whole),
    always(sessions_are_whole),
    always(owns_what_it_does),
    always(untold_is_up_to_date),
    always(position_is_kept),
    always_step(answer_ends_phase, of=("look", "list_group", "read_subscriptions", "read_partitions")),
    always_step(looks_first, of=("look",)),
    always_step(lists_who_is_there, of=("list_group",)),
    always_step(reads_who_is_there, of=("read_subscriptions",)),
    always_step(assigns_what_is_there, of=("read_partitions",)),
    always_step(one_at_a_time, of=("release", "claim", "undo")),
    always_step(is_claimed, of=("claim",)),
    always_step(is_released, of=("release", "undo")),
    always_step(offset_is_read, of=("read_offset",)),
    always_step(is_consumed, of=("consume",)),
    always_step(is_stored, of=("commit",)),
)
