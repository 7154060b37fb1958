"""Liveness of groups (L9 to L13): what must happen eventually, if timers fire, messages arrive, and clients act."""

from kafkaproof.spec.group.coordinator import GONE, MEMBER
from kafkaproof.spec.group.deletion import is_forsaken
from kafkaproof.spec.group.faults import waits_in_vain
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, DEAD, STABLE
from kafkaproof.spec.group.member import OUT, WORKING
from kafkaproof.spec.group.network import WAIT
from kafkaproof.spec.group.protocols import stays
from kafkaproof.spec.group.sorts import Broker, Client, KnownId
from kafkaproof.spec.group.storage import has_news, leads, time_has_passed
from kafkaproof.spec.language.fairness import at_last, finitely, strong, weak
from kafkaproof.spec.language.model import eventually, eventually_always
from kafkaproof.spec.language.sets import contains


def is_held(s, id):
    """Whether some client has a member id, or an answer is about to give it one."""
    for m in range(len(s.clients)):
        request = s.network.requests[m]
        if s.clients[m].id == id or s.network.answers[m].id == id or request.kind == WAIT and request.id == id:
            return True
    return False


def nobody_has(s, id):
    """No client has this member id: whoever had it is gone, or has forgotten it."""
    return not is_held(s, id)


def somebody_has(s, id):
    """Some client has this member id."""
    return is_held(s, id)


def would_drop(s, b):
    """The rebalance waits for a member whose client is alive."""
    group = s.brokers[b].group
    for id in range(len(group.members) - 1):
        member = group.members[id]
        if member.status == MEMBER and not stays(member) and is_held(s, id):
            return True
    return False


def would_drop_nobody(s, b):
    """The rebalance does not wait for any member whose client is alive."""
    return not would_drop(s, b)


def owes(s, b, id):
    """The group waits for the member to synchronize. (It need not wait for a join: a delayed join ends by itself.)"""
    return s.brokers[b].group.state == COMPLETING_REBALANCE


def is_coordinator(s, b):
    """Broker `b` leads the offsets partition, has loaded the group, and knows of no later election."""
    broker = s.brokers[b]
    return broker.owned and not broker.loading and leads(s.storage, b) and not has_news(s.storage, broker.epoch)


def at_coordinator(s, b):
    """The request arrives at the coordinator."""
    return is_coordinator(s, b)


def in_time(s, b, late):
    """The request arrives at the coordinator, and its client waits for it."""
    return not late and is_coordinator(s, b)


def works_in(s, m, b):
    """Client `m` works in the present generation of the group at broker `b`."""
    client = s.clients[m]
    group = s.brokers[b].group
    if client.phase != WORKING or client.generation != group.generation:
        return False
    return group.members[client.id].status == MEMBER


def all_work(s):
    """If the clients stay, the group settles: it is Stable, and every client that is there works in it (L9)."""
    for b in range(len(s.brokers)):
        for m in range(len(s.clients)):
            if s.clients[m].phase != OUT and is_coordinator(s, b):
                if s.brokers[b].group.state != STABLE or not works_in(s, m, b):
                    return False
    return True


def waits(s, m: Client):
    """A coordinator has parked a join or a sync of client `m`."""
    for broker in s.brokers:
        for member in broker.group.members:
            if contains(member.waiter, m):
                return True
    return False


def is_answered(s, m: Client):
    """Every join and every sync that a coordinator has parked is answered (L10)."""
    return not waits(s, m)


def is_dead(s, b: Broker, id: KnownId):
    """A group has a member whose client is gone."""
    return s.brokers[b].group.members[id].status != GONE and not is_held(s, id)


def has_left(s, b: Broker, id: KnownId):
    """A member whose client is gone for good leaves the group (L11)."""
    return not is_dead(s, b, id)


def leader_is_lost(s, to, committed, kept):
    """The leader of the offsets partition has crashed since its election, and does not know that it leads."""
    leader = s.brokers[s.storage.leaders[s.storage.epoch - 1]]
    return not leader.owned and not leader.loading and not has_news(s.storage, leader.epoch)


def leader_serves(s):
    """Eventually the leader of the offsets partition has loaded the group, and no other broker owns it (L12)."""
    for b in range(len(s.brokers)):
        if leads(s.storage, b) and not is_coordinator(s, b) or s.brokers[b].owned and not leads(s.storage, b):
            return False
    return True


def is_forgotten(s, b: Broker):
    """A coordinator has an Empty group without offsets, or a Dead one."""
    broker = s.brokers[b]
    return broker.owned and (is_forsaken(broker.group) or broker.group.state == DEAD)


def is_removed(s, b: Broker):
    """An Empty group without offsets dies and leaves the cache, unless a client joins or commits (L13)."""
    return not is_forgotten(s, b)


def interval_has_passed(s):
    """The check interval of offsets has passed."""
    return time_has_passed(s.storage)


CLIENTS_ACT = (
    weak("joined", "synced", "take_id", "rejoin", "start_over", "retry", "give_in", each=("m",)),
    strong("first_join", "static_join", "join", each=("m",), when=in_time),
    strong("sync", each=("m",), when=in_time),
    strong("heartbeat", each=("m",), when=at_coordinator),
    weak("give_up", each=("m",), when=waits_in_vain),
)
APPENDS_END = (
    weak("group_stored", "group_not_stored", "static_stored", "static_not_stored", each=("b",)),
    weak("offset_stored", "offset_not_stored", each=("b",)),
    weak("append", each=("b",)),
)
LEADERS_MOVE = (weak("take_over", "read", "load", "unload", each=("b",)), weak("remove_dead", each=("b",)))
MEMBERS_STAY = (
    finitely("leave", "start", "clean_up"),
    finitely("expire", "expire_pending", when=somebody_has),
    finitely("join_timeout", when=would_drop),
)
THE_DEAD_EXPIRE = (
    weak("expire", each=("b", "id"), when=nobody_has),
    weak("expire_pending", each=("b", "id"), when=nobody_has),
)
THE_SILENT_EXPIRE = (weak("expire", each=("b", "id"), when=owes),)
REBALANCES_END = (weak("complete_join", "join_timeout", each=("b",)),)
REBALANCE_ENDS = eventually(
    all_work,
    given=CLIENTS_ACT
    + MEMBERS_STAY
    + APPENDS_END
    + LEADERS_MOVE
    + THE_DEAD_EXPIRE
    + (weak("complete_join", "join_timeout", each=("b",), when=would_drop_nobody),),
)
PARKED_IS_ANSWERED = eventually(
    is_answered, after=waits, given=APPENDS_END + LEADERS_MOVE + REBALANCES_END + THE_SILENT_EXPIRE
)
DEAD_LEAVE = APPENDS_END + LEADERS_MOVE + REBALANCES_END + THE_SILENT_EXPIRE + THE_DEAD_EXPIRE
LEADER_SERVES = eventually_always(
    leader_serves, given=LEADERS_MOVE + (weak("fail_over", when=leader_is_lost),), brokers=2, epochs=2
)
THE_FORGOTTEN_GO = eventually(
    is_removed,
    after=is_forgotten,
    given=APPENDS_END
    + LEADERS_MOVE
    + (strong("clean_up", each=("b",)), weak("bury", each=("b",)), at_last(interval_has_passed)),
    periods=1,
    generations=2,
)
SHARED = (REBALANCE_ENDS, PARKED_IS_ANSWERED, LEADER_SERVES, THE_FORGOTTEN_GO)
LIVENESS = SHARED + (eventually(has_left, after=is_dead, given=DEAD_LEAVE),)
STATIC = SHARED + (eventually(has_left, after=is_dead, given=DEAD_LEAVE, faults=1),)
