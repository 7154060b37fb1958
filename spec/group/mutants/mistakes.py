"""The deliberate mistakes of `group`: functions that take the place of the true ones."""

from kafkaproof.spec.group.cache import load_group, put_offset
from kafkaproof.spec.group.coordinator import (
    JOIN_PARKED,
    SYNC_PARKED,
    forget_member,
    members_of,
    park,
    subscribes,
    unpark,
)
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.join import prepare_rebalance
from kafkaproof.spec.group.network import (
    ILLEGAL_GENERATION,
    NONE,
    PARKED,
    STORED,
    SYNC,
    UNKNOWN_MEMBER_ID,
    answer,
    answer_syncs,
    asked,
    generation_of,
    give_assignment,
    give_generation,
    has_assignment,
    id_of,
    instance,
    waiter,
)
from kafkaproof.spec.group.records import GROUP_RECORD, GROUP_TOMBSTONE, OFFSET_RECORD, OFFSET_TOMBSTONE, TOMBSTONES
from kafkaproof.spec.group.sorts import NOWHERE, Broker, Client, MemberId
from kafkaproof.spec.group.storage import Refusal, leads, read_record, refuse_append, store_group, takes_appends
from kafkaproof.spec.group.sync import is_assignment
from kafkaproof.spec.group.verdicts import commit_verdict, gate, sync_verdict
from kafkaproof.spec.group.verdicts import membership as check_membership
from kafkaproof.spec.language.domains import NOBODY, Flag


def await_at_once(group):
    """A Stable group goes back to CompletingRebalance without collecting its members."""
    if group.state != PREPARING_REBALANCE:
        group.state = COMPLETING_REBALANCE if group.state == STABLE else PREPARING_REBALANCE
        group.owner = NOBODY


def generation_from_zero(group, leader, protocol, topic):
    """A group that becomes Empty begins to count again."""
    group.generation += 1
    group.delayed = 0
    group.leader = NOBODY if members_of(group) == 0 else leader
    group.protocol = NOBODY if members_of(group) == 0 else protocol
    group.state = EMPTY if members_of(group) == 0 else COMPLETING_REBALANCE
    if group.state == EMPTY:
        group.generation = 0


def same_generation_when_empty(group, leader, protocol, topic):
    """A group that becomes Empty keeps its generation."""
    group.generation += 0 if members_of(group) == 0 else 1
    group.delayed = 0
    group.leader = NOBODY if members_of(group) == 0 else leader
    group.protocol = NOBODY if members_of(group) == 0 else protocol
    group.state = EMPTY if members_of(group) == 0 else COMPLETING_REBALANCE


def forget_generation(group):
    """A rebalance forgets the generation."""
    if group.state != PREPARING_REBALANCE:
        group.state = PREPARING_REBALANCE
        group.generation = 0
        group.owner = NOBODY


def load_without_generation(group, record):
    """A coordinator that loads begins to count again."""
    load_group(group, record)
    group.generation = 0


def keep_leader(group, id, heir):
    """A leader that is lost leads on."""
    forget_member(group.members[id])
    if group.state == STABLE or group.state == COMPLETING_REBALANCE:
        prepare_rebalance(group)


def list_for_all(net, group, epoch):
    """Every member gets the list of members."""
    for id in range(len(group.members) - 1):
        if group.members[id].parked == JOIN_PARKED:
            give_generation(net, group.members[id].waiter, id, group.generation, epoch, 1)
            unpark(group.members[id])


def any_generation_stored(group, append):
    """The callback of an assignment does not compare the generation."""
    return not append.orphan and group.state == COMPLETING_REBALANCE


def anybody_assigns(broker, id, instance, generation):
    """The assignment of any member is taken."""
    verdict = sync_verdict(broker, id, instance, generation)
    return STORED if verdict == PARKED else verdict


def keep_assignment(client, phase, id):
    """A client that joins again acts on."""
    client.phase = phase
    client.id = id
    client.generation = 0
    client.epoch = 0
    client.leading = 0


def any_generation(broker, id, instance, generation):
    """SyncGroup and Heartbeat do not compare the generation."""
    if broker.group.state == ABSENT:
        return UNKNOWN_MEMBER_ID
    return check_membership(broker.group, id, instance)


def everything_to_all(net, group, epoch):
    """Every member is assigned the partition."""
    for id in range(len(group.members) - 1):
        if group.members[id].parked == SYNC_PARKED:
            give_assignment(net, group.members[id].waiter, epoch, 1)
            unpark(group.members[id])


def commit_unfenced(broker, id, instance, generation):
    """A commit of a member in any generation is accepted."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if broker.group.state == ABSENT or broker.group.state == DEAD:
        return ILLEGAL_GENERATION
    verdict = check_membership(broker.group, id, instance)
    return STORED if verdict == NONE else verdict


def commit_of_strangers(broker, id, instance, generation):
    """A commit in the present generation is accepted, whoever sends it."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    if broker.group.state == ABSENT or broker.group.state == DEAD:
        return ILLEGAL_GENERATION
    return STORED if generation == broker.group.generation else ILLEGAL_GENERATION


def commit_without_group(broker, id, instance, generation):
    """A commit without a group is accepted in any state."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    return STORED if generation == 0 and broker.group.state != DEAD else ILLEGAL_GENERATION


def commit_not_compared(broker, id, instance, generation):
    """Any commit is accepted while there is a group."""
    verdict = gate(broker)
    if verdict != NONE:
        return verdict
    return STORED if broker.group.state != ABSENT and broker.group.state != DEAD else ILLEGAL_GENERATION


def commit_of_later_generations(broker, id, instance, generation):
    """A commit of a member in a generation that is not older is accepted."""
    verdict = commit_verdict(broker, id, instance, generation)
    if verdict != ILLEGAL_GENERATION or generation < broker.group.generation:
        return verdict
    return STORED if broker.group.state == STABLE else verdict


def read_in_part(s_storage, read):
    """A coordinator serves although it could not read the whole log."""
    return read <= s_storage.log.length


def acknowledge_unreplicated(s_storage, position):
    """An append is acknowledged before it is replicated."""
    s_storage.faults += 0


def last_callback_wins(cached, position):
    """The callback that comes last sets the offset."""
    return position


def keep_deleted(s_storage, broker):
    """Tombstones are ignored when the log is loaded."""
    kind = s_storage.log.slots[broker.read].kind
    if kind == GROUP_TOMBSTONE or kind == OFFSET_TOMBSTONE or kind == TOMBSTONES:
        broker.read += 1
    else:
        read_record(s_storage, broker)


def keep_first(s_storage, broker):
    """The first record of a key is kept when the log is loaded."""
    kind = s_storage.log.slots[broker.read].kind
    if kind == GROUP_RECORD and broker.group.generation > 0 or kind == OFFSET_RECORD and broker.group.offset != NOWHERE:
        broker.read += 1
    else:
        read_record(s_storage, broker)


def stable_at_once(s, b: Broker, m: Client, late: Flag(), owner: MemberId):
    """The group is Stable before the assignment is acknowledged."""
    broker = s.brokers[b]
    group = broker.group
    if asked(s.network, m, late) != SYNC or not is_assignment(group, owner, has_assignment(s.network, m, late)):
        return False
    id = id_of(s.network, m, late)
    verdict = sync_verdict(broker, id, instance(s.network, m), generation_of(s.network, m, late))
    answer(s.network, m, late, NONE if verdict == STORED else verdict)
    if verdict == STORED:
        store_group(s.storage, b, broker, owner)
        group.owner = owner
        group.state = STABLE
        answer_syncs(s.network, group, broker.epoch)
    if verdict == NONE or verdict == STORED:
        give_assignment(s.network, waiter(m, late), broker.epoch, 1 if group.owner == id else 0)
    elif verdict == PARKED:
        park(group.members[id], SYNC_PARKED, waiter(m, late))
    return True


def stable_though_refused(s, b: Broker, m: Client, late: Flag(), error: Refusal):
    """The group is Stable before the assignment is appended, which the log then refuses."""
    broker = s.brokers[b]
    group = broker.group
    if asked(s.network, m, late) != SYNC or not takes_appends(s.storage, b):
        return False
    id = id_of(s.network, m, late)
    if sync_verdict(broker, id, instance(s.network, m), generation_of(s.network, m, late)) != STORED:
        return False

    answer(s.network, m, late, NONE)
    group.owner = id
    group.state = STABLE
    answer_syncs(s.network, group, broker.epoch)
    give_assignment(s.network, waiter(m, late), broker.epoch, 1)
    refuse_append(s.storage)
    return True


def first_of_leader(group, protocol):
    """The protocol is the first of the leader's."""
    if members_of(group) == 0 or group.leader == NOBODY:
        return protocol == 0
    return protocol == group.members[group.leader].first


def tell_nobody(net, clients, verdict):
    """A member that is lost is not answered."""
    pass


def leave_parked(net, group, request, verdict):
    """A rebalance leaves parked syncs where they are."""
    group.generation += 0


def dead_is_alive(broker, instance, may_be_told, first, second):
    """A Dead group that is still in the cache takes members."""
    verdict = gate(broker)
    return PARKED if verdict == NONE else verdict


def own_for_ever(broker):
    """A broker that leads no more goes on."""
    broker.loading = 0


def succeed(s_storage, b, position):
    """An append is acknowledged by a broker that leads no more."""
    return position != NOWHERE or not leads(s_storage, b)


def owner_if_stored(s_storage, position):
    """The assignment in a group record that may not have been appended."""
    return NOBODY if position == NOWHERE else s_storage.log.slots[position].owner


def answer_no_join(broker, append):
    """The callback of a static member answers nobody."""
    return 0


def keep_both(member):
    """The former id of a static member stays in the group."""
    member.parked = 0
    member.waiter = 0


def never_fenced(group, id, instance):
    """The id that was replaced is asked like any other, and a static member under any id."""
    return NONE


def unpark_silently(net, group, request, verdict):
    """A rebalance drops parked syncs without answering them."""
    for member in group.members:
        if member.parked == request:
            unpark(member)


def expire_in_stable(group):
    """An offset expires by its age although the group runs, and subscribes to its topic."""
    return group.offset != NOWHERE and group.aged


def expire_when_empty(group):
    """The offset of an Empty group expires at once."""
    return group.offset != NOWHERE and group.state == EMPTY


def expire_ageless(group):
    """The offset of a topic that nobody subscribes to expires at once."""
    return group.offset != NOWHERE and group.state == STABLE and not subscribes(group)


def expire_at_once(group):
    """An offset expires whenever the expiry task runs."""
    return group.offset != NOWHERE


def nothing_pending(broker):
    """The expiry task does not look for commits that are pending."""
    return False


def merge_aborted(group, commits, aged):
    """A transaction's offset counts although it was aborted."""
    if group.pending > group.offset:
        put_offset(group, group.pending, aged)
    group.pending = NOWHERE


def expire_without_removal(broker):
    """An expired offset stays in the cache, and its tombstone is due."""
    broker.tombstone = OFFSET_TOMBSTONE


def accept_all(group, id):
    """The group takes whoever comes, however full it is."""
    return True
