"""Invariants of consumers: properties of their own or parts of several, on which proofs rest."""

from kafkaproof.spec.consumer.assignment import owner
from kafkaproof.spec.consumer.member import (
    CLAIMING,
    FAILED,
    IDLE,
    LOOKING,
    NEW_SESSION,
    NONE,
    READING_IDS,
    READING_OFFSETS,
    READING_TOPIC,
    RELEASING,
    START,
    UNDOING,
    Consumer,
    Partition,
    reads,
)
from kafkaproof.spec.consumer.properties.safety import owned_by_session
from kafkaproof.spec.consumer.zookeeper import FIRED, UNARMED
from kafkaproof.spec.kafka.zookeeper import ABSENT, ORPHAN, PROCESS
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, is_empty, union, with_member


def is_undisturbed(s):
    """Whether no session of a living process was lost, and no answer."""
    return s.zk.expiries == 0 and s.zk.splits == 0 and s.zk.losses == 0


def reads_anything(consumer):
    """Whether a thread of the consumer reads."""
    for partitions in consumer.streams:
        if not is_empty(partitions):
            return True
    return False


def process_is_gone(s, c: Consumer):
    """Without a process there is no session, no watch, nothing to be done and nothing that is read."""
    consumer = s.consumers[c]
    client = s.zk.clients[c]
    if consumer.up:
        return True
    idle = consumer.callback == NONE and consumer.doing == IDLE and is_empty(consumer.registry)
    return idle and not reads_anything(consumer) and not client.session and client.watch == UNARMED


def callback_registers(s, c: Consumer):
    """Who has nothing to register is registered, as long as its session is open."""
    consumer = s.consumers[c]
    if not s.zk.clients[c].session or consumer.callback == START or consumer.callback == NEW_SESSION:
        return True
    return s.zk.clients[c].registered == PROCESS


def is_assigned(consumer):
    """Whether an attempt has computed its own partitions, and still needs them."""
    return consumer.doing == CLAIMING or consumer.doing == READING_OFFSETS or consumer.doing == UNDOING


def own_is_assigned(s, c: Consumer, p: Partition):
    """What an attempt takes for its own is what the assignment gives it, by what it has read."""
    consumer = s.consumers[c]
    if not is_assigned(consumer):
        return not contains(consumer.mine, p)
    threads = len(consumer.streams)
    return contains(consumer.mine, p) == (p < consumer.size and owner(p, consumer.size, consumer.members, threads) == c)


def left_is_own(s, c: Consumer):
    """What an attempt has still to claim, to read or to undo is its own, and so is what it has claimed."""
    consumer = s.consumers[c]
    if not is_empty(difference(consumer.claimed, consumer.mine)):
        return False
    return not is_assigned(consumer) or is_empty(difference(consumer.left, consumer.mine))


def claim_is_tried(s, c: Consumer):
    """As long as no claim has failed, what is its own is claimed, or still to be; then all of it is."""
    consumer = s.consumers[c]
    if consumer.doing == CLAIMING and not consumer.conflict:
        return is_empty(difference(consumer.mine, union(consumer.claimed, consumer.left)))
    return consumer.doing != READING_OFFSETS or is_empty(difference(consumer.mine, consumer.claimed))


def phase_has_registry(s, c: Consumer):
    """Undisturbed, the registry is empty from the release to the start of the fetchers."""
    consumer = s.consumers[c]
    if not is_undisturbed(s) or consumer.doing == IDLE or consumer.doing == LOOKING:
        return True
    if consumer.doing == RELEASING:
        return is_empty(difference(consumer.left, consumer.registry))
    return is_empty(consumer.registry)


def attempt_holds_nothing(s, c: Consumer):
    """From the end of the release until the threads read, an attempt holds no partition."""
    consumer = s.consumers[c]
    if consumer.doing == IDLE or consumer.doing == LOOKING or consumer.doing == RELEASING or consumer.doing == FAILED:
        return True
    return is_empty(consumer.registry)


def starts_with_nothing(s, c: Consumer):
    """Undisturbed, a session is that of its process's start; who registers has done nothing else yet."""
    consumer = s.consumers[c]
    if not is_undisturbed(s):
        return True
    if consumer.up and not s.zk.clients[c].session or consumer.callback == NEW_SESSION:
        return False
    if consumer.callback != START:
        return True
    nothing = is_empty(consumer.registry) and consumer.doing == IDLE and s.zk.clients[c].watch == UNARMED
    return nothing and not reads_anything(consumer)


def orphan_has_id(s, p: Partition):
    """Undisturbed, an owner's node of a former session stands beside the id of that session."""
    node = s.zk.partitions[p]
    if not is_undisturbed(s) or not node.orphaned:
        return True
    return node.owner != NOBODY and s.zk.clients[node.owner].registered == ORPHAN


def orphan_keeps_out(s, c: Consumer):
    """Undisturbed, who has an id of a former session has not registered."""
    if not is_undisturbed(s) or s.zk.clients[c].registered != ORPHAN:
        return True
    return not s.consumers[c].up or s.consumers[c].callback == START


def id_has_session(s, c: Consumer):
    """A registered id belongs to an open session."""
    return s.zk.clients[c].registered != PROCESS or s.zk.clients[c].session == 1


def held(consumer):
    """The partitions whose nodes a consumer has to own, by the phase that it is in."""
    if consumer.doing == RELEASING or consumer.doing == UNDOING:
        return consumer.left
    if consumer.doing == CLAIMING:
        return consumer.claimed
    return consumer.mine if consumer.doing == READING_OFFSETS else consumer.registry


def owns_what_it_holds(s, c: Consumer, p: Partition):
    """Undisturbed, a consumer owns in its session what it holds, and nothing else."""
    return not is_undisturbed(s) or owned_by_session(s, c, p) == contains(held(s.consumers[c]), p)


def reads_registry(s, c: Consumer, p: Partition):
    """Undisturbed, the threads read the registry, but while it is given up."""
    consumer = s.consumers[c]
    if not is_undisturbed(s):
        return True
    if consumer.doing == IDLE or consumer.doing == LOOKING:
        return reads(consumer, p) == contains(consumer.registry, p)
    return not reads(consumer, p)


def uncommitted_is_registered(s, c: Consumer, p: Partition):
    """What was read and not committed is in the registry, and not yet released."""
    consumer = s.consumers[c]
    if not consumer.positions[p].uncommitted:
        return True
    return contains(consumer.registry, p) and (
        consumer.doing != RELEASING or not is_undisturbed(s) or contains(consumer.left, p)
    )


def position_is_no_older(s, c: Consumer, p: Partition):
    """Undisturbed, an owner has read at least as far as the stored offset says."""
    consumer = s.consumers[c]
    if not is_undisturbed(s) or not contains(held(consumer), p):
        return True
    if consumer.doing == CLAIMING or consumer.doing == UNDOING:
        return True
    if consumer.doing == READING_OFFSETS and contains(consumer.left, p):
        return True
    return consumer.positions[p].offset >= s.zk.partitions[p].offset


def is_listed(consumer):
    """Whether an attempt has listed the members."""
    return consumer.doing == READING_IDS or consumer.doing == READING_TOPIC or is_assigned(consumer)


def present_members(s):
    """The consumers whose ids are registered."""
    members = 0
    for c in range(len(s.zk.clients)):
        if s.zk.clients[c].registered != ABSENT:
            members = with_member(members, c)
    return members


def untold_has_listed(s, c: Consumer):
    """Undisturbed, who was not told of a change has listed the members that there are, and their partitions."""
    consumer = s.consumers[c]
    if not is_undisturbed(s) or s.zk.clients[c].watch == FIRED or not is_listed(consumer):
        return True
    return consumer.members == present_members(s) and (consumer.size == s.zk.size or not is_assigned(consumer))


def untold_has_assignment(s, c: Consumer, p: Partition):
    """Undisturbed, who rests and was not told of a change has what the present assignment gives it, unless there is no
    broker.
    """
    consumer = s.consumers[c]
    client = s.zk.clients[c]
    if not is_undisturbed(s) or not consumer.up or consumer.doing != IDLE or consumer.callback != NONE:
        return True
    if client.watch == FIRED or s.zk.brokerless and client.brokers_watched:
        return True
    own = p < s.zk.size and owner(p, s.zk.size, present_members(s), len(consumer.streams)) == c
    return contains(consumer.registry, p) == own


def watches_when_registered(s, c: Consumer):
    """Undisturbed, who is registered watches, or was told of a change."""
    consumer = s.consumers[c]
    if not is_undisturbed(s) or not consumer.up or consumer.callback == START:
        return True
    return s.zk.clients[c].watch != UNARMED
