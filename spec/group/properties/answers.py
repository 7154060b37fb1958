"""Properties of groups: answers to clients are true, and every member gets the answers that concern it.

An answer that appears in a step was given by a broker: for at least one broker, everything that it says must be true.
Source: GroupCoordinator.doJoinGroup, doSyncGroup, handleHeartbeat, doCommitOffsets and onCompleteJoin, 2.8.
"""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER, PENDING, SYNC_PARKED
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.member import JOINING, SYNCING, WORKING
from kafkaproof.spec.group.network import (
    COORDINATOR_LOAD_IN_PROGRESS,
    COORDINATOR_NOT_AVAILABLE,
    DISCONNECTED,
    FENCED_INSTANCE_ID,
    GROUP_MAX_SIZE_REACHED,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_COMMIT_OFFSET_SIZE,
    JOIN,
    MEMBER_ID_REQUIRED,
    NONE,
    NOT_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    REQUEST_TIMED_OUT,
    SYNC,
    UNANSWERED,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_SERVER_ERROR,
    WAIT,
    WORK,
)
from kafkaproof.spec.group.properties.stored import is_told
from kafkaproof.spec.group.records import OFFSET_RECORD
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains, is_empty


def is_member(broker, id):
    """Whether a member id belongs to a member of the group in a broker's cache."""
    return id != NOBODY and broker.group.members[id].status == MEMBER


def looks(broker):
    """Whether a broker looks at groups: it owns the partition and is not loading it, or it is unloading the group."""
    return broker.owned == 1 and not broker.loading or broker.group.state == DEAD


def joined_so(old, new, answer):
    """Whether the NONE to a join is true: it names the coordinator's present generation, of which the client is a
    member. Only the leader gets the list of members, and only until the assignment is stored.
    """
    group = new.group
    if not is_member(new, answer.id) or answer.generation != group.generation or answer.epoch != new.epoch:
        return False
    if old.group.state != PREPARING_REBALANCE:
        led = answer.leading == (1 if group.leader == answer.id and group.state == COMPLETING_REBALANCE else 0)
        return led and (group.state == STABLE or group.state == COMPLETING_REBALANCE)
    return group.state == COMPLETING_REBALANCE and answer.leading == (1 if group.leader == answer.id else 0)


def synced_so(new, client, answer):
    """Whether the NONE to a sync is true: the group is Stable, and the member gets its share in its own generation."""
    group = new.group
    if group.state != STABLE or not is_member(new, client.id) or group.generation != client.generation:
        return False
    return answer.epoch == new.epoch and answer.owns == (1 if group.owner == client.id else 0)


def rebalances(old, new, client, loses):
    """REBALANCE_IN_PROGRESS: members are joining; a commit must wait for the assignment; a sync, for the load."""
    if client.phase == JOINING:
        return False
    if client.phase == SYNCING and old.loading:
        return True
    if client.phase == WORKING and old.group.state == COMPLETING_REBALANCE:
        return is_member(old, client.id) and old.group.generation == client.generation
    return new.group.state == PREPARING_REBALANCE and (is_member(new, client.id) or loses)


def has_failed(before, after):
    """Whether an append has failed or been refused: there is a fault more, or the broker no longer leads."""
    if after.storage.faults > before.storage.faults:
        return True
    for b in range(len(after.brokers)):
        if after.brokers[b].appends.length < before.brokers[b].appends.length:
            return True
    return False


def is_so(before, after, b, m):
    """Whether everything that the answer to client `m` says is true of broker `b`."""
    old = before.brokers[b]
    new = after.brokers[b]
    client = before.clients[m]
    answer = after.network.answers[m]
    verdict = answer.verdict
    if verdict == NONE:
        return joined_so(old, new, answer) if client.phase == JOINING else synced_so(new, client, answer)
    if verdict == UNKNOWN_MEMBER_ID:
        request = before.network.requests[m]
        named = request.known == 1 or is_member(old, request.id)
        return (looks(old) or looks(new) or old.owned) and named and not is_member(new, request.id)
    if verdict == ILLEGAL_GENERATION:
        absent = old.group.state == ABSENT and client.phase == WORKING
        return client.generation != old.group.generation and looks(old) and (absent or is_member(old, client.id))
    if verdict == REBALANCE_IN_PROGRESS:
        return rebalances(old, new, client, old.group.state == COMPLETING_REBALANCE)
    if verdict == MEMBER_ID_REQUIRED:
        drawn = answer.id != NOBODY and old.group.members[answer.id].status != MEMBER
        return drawn and new.group.members[answer.id].status == PENDING and not before.network.requests[m].known
    return is_so_of_broker(before, after, b, client, verdict)


def is_so_of_broker(before, after, b, client, verdict):
    """The same, for errors that say nothing about members."""
    old = before.brokers[b]
    new = after.brokers[b]
    if verdict == COORDINATOR_LOAD_IN_PROGRESS:
        return old.loading == 1
    if verdict == NOT_COORDINATOR:
        return not new.owned and old.group.state != DEAD or has_failed(before, after)
    if verdict == COORDINATOR_NOT_AVAILABLE:
        return old.group.state == DEAD or has_failed(before, after) and client.phase != JOINING
    if verdict == DISCONNECTED:
        return not new.owned and not new.loading and after.storage.faults > before.storage.faults
    if verdict == REQUEST_TIMED_OUT or verdict == INVALID_COMMIT_OFFSET_SIZE:
        return has_failed(before, after) and client.phase == WORKING
    if verdict == UNKNOWN_SERVER_ERROR:
        return has_failed(before, after) and client.phase == SYNCING
    if verdict == INCONSISTENT_GROUP_PROTOCOL or verdict == GROUP_MAX_SIZE_REACHED:
        return client.phase == JOINING and looks(old) and old.group.state != ABSENT
    return verdict == FENCED_INSTANCE_ID and not is_member(new, client.id)


def answers_are_so(before, after):
    """Answers to clients are true: a member's present generation, its share of the assignment, or the error that fits
    the state of a coordinator and its group.
    """
    for m in range(len(after.clients)):
        if before.network.answers[m].verdict == UNANSWERED and after.network.answers[m].verdict != UNANSWERED:
            so = False
            for b in range(len(after.brokers)):
                so = so or is_so(before, after, b, m)
            if not so:
                return False
    return True


def is_kept(after, id, m, phase):
    """Whether a broker keeps a waiting client's request: a join, a sync, or the callback of a commit."""
    for broker in after.brokers:
        if id != NOBODY and contains(broker.group.members[id].waiter, m):
            wanted = JOIN_PARKED if phase == JOINING else SYNC_PARKED
            if broker.group.members[id].parked == wanted and phase != WORKING:
                return True
        for append in broker.appends.slots:
            if contains(append.waiter, m) and (append.kind == OFFSET_RECORD) == (phase == WORKING):
                return True
        for prepared in broker.prepared.slots:
            if contains(prepared.waiter, m):
                return True
    return False


def taken_or_answered(before, after):
    """A request that a coordinator takes is answered in the same step, or kept to be answered later."""
    for m in range(len(after.clients)):
        old = before.network.requests[m]
        new = after.network.requests[m]
        if old.kind != WAIT and new.kind == WAIT and after.network.answers[m].verdict == UNANSWERED:
            if not is_kept(after, new.id, m, before.clients[m].phase):
                return False
    return True


def heartbeat_is_so(before, after, b, m):
    """A heartbeat is answered without an error only if it comes from a member of the present generation and there is no
    rebalance, or if the broker is loading. It changes nothing.
    """
    broker = before.brokers[b]
    client = before.clients[m]
    if client.phase != WORKING or before.network.requests[m].kind != WORK or not same_but_for_network(before, after, b):
        return False
    if after.network.answers[m].verdict != UNANSWERED:
        return after.network.requests[m].kind == WAIT
    if broker.loading:
        return True
    group = broker.group
    in_generation = is_member(broker, client.id) and group.generation == client.generation
    return looks(broker) and in_generation and (group.state == STABLE or group.state == COMPLETING_REBALANCE)


def same_but_for_network(before, after, b):
    """Whether a step has left a broker's group and its appends, and the log, as they were."""
    old = before.brokers[b]
    new = after.brokers[b]
    if old.group.state != new.group.state or old.appends.length != new.appends.length:
        return False
    if old.group.generation != new.group.generation or old.group.leader != new.group.leader:
        return False
    if after.storage.log.length != before.storage.log.length or old.tombstone != new.tombstone:
        return False
    for id in range(len(old.group.members) - 1):
        if old.group.members[id].status != new.group.members[id].status:
            return False
        if old.group.members[id].parked != new.group.members[id].parked:
            return False
    return old.group.offset == new.group.offset and old.group.pending == new.group.pending


def beside_a_request(before, after, b, m):
    """The heartbeat thread sends its request while a sync or a commit waits, and changes neither."""
    old = before.network.requests[m]
    waits = old.kind == WAIT and before.clients[m].phase != JOINING
    same = after.network.answers[m].verdict == before.network.answers[m].verdict
    return waits and after.network.requests[m].kind == WAIT and same and same_but_for_network(before, after, b)


def is_taken(before, after, m, late, kind):
    """Whether a request was there and was taken: a late one is gone; the client of any other waits or is answered."""
    if late:
        return before.network.late[m].kind == kind and after.network.late[m].kind != kind
    return before.network.requests[m].kind == kind and after.network.requests[m].kind == WAIT


def first_join_is_taken(before, after, b, m, late, first, second):
    """A join without a member id creates a pending member, or a member that waits with the protocols that it offers."""
    request = before.network.late[m] if late else before.network.requests[m]
    if request.known or not is_taken(before, after, m, late, JOIN):
        return False
    old = before.brokers[b].group.members[request.id]
    new = after.brokers[b].group.members[request.id]
    if new.status == old.status:
        return late == 1 or after.network.answers[m].verdict != UNANSWERED
    if not looks(before.brokers[b]) or before.brokers[b].group.state == DEAD:
        return False
    if new.status == PENDING:
        return after.brokers[b].group.state == max(before.brokers[b].group.state, EMPTY)
    return new.status == MEMBER and new.first == first and new.second == second and new.fresh == 1


def join_is_taken(before, after, b, m, late, first, second, changed):
    """A join with a member id comes from a pending member or a member. It waits for a rebalance with the protocols that
    it offers. A member that brings nothing new is told the present generation, unless it leads a Stable group.
    """
    request = before.network.late[m] if late else before.network.requests[m]
    if not request.known or not is_taken(before, after, m, late, JOIN):
        return False
    group = before.brokers[b].group
    old = group.members[request.id]
    new = after.brokers[b].group.members[request.id]
    if after.brokers[b].group.state == PREPARING_REBALANCE and new.parked == JOIN_PARKED:
        if not contains(new.waiter, m):
            return late == 1 or after.network.answers[m].verdict != UNANSWERED
        if group.state == COMPLETING_REBALANCE or group.state == STABLE and group.leader != request.id:
            news = changed == 1 or first != old.first or second != old.second
            if old.status == MEMBER and not news:
                return False
        return new.status == MEMBER and new.first == first and new.second == second
    if not late and after.network.answers[m].verdict == NONE:
        leads = group.state == STABLE and group.leader == request.id
        return not changed and not leads and first == old.first and second == old.second
    return same_but_for_network(before, after, b) or new.status != old.status


def sync_is_taken(before, after, b, m, late, owner):
    """The leader's sync, and no other, has the assignment stored. Another member's sync waits for it, or is answered."""
    request = before.network.late[m] if late else before.network.requests[m]
    if not is_taken(before, after, m, late, SYNC):
        return False
    old = before.brokers[b]
    new = after.brokers[b]
    awaited = old.group.state == COMPLETING_REBALANCE and is_member(old, request.id)
    if not awaited or request.generation != old.group.generation or not old.owned:
        return same_but_for_network(before, after, b)
    if old.loading:
        return new.group.state == old.group.state
    stored = new.appends.length + new.prepared.length - old.appends.length - old.prepared.length
    if new.group.members[request.id].parked != SYNC_PARKED or (stored == 1) != (request.id == old.group.leader):
        return False
    return new.group.state == COMPLETING_REBALANCE and new.group.generation == old.group.generation


def refused_sync_begins_rebalance(before, after, b, m, late, error):
    """If the log refuses the leader's assignment, every parked sync is answered, and there is a rebalance."""
    request = before.network.late[m] if late else before.network.requests[m]
    old = before.brokers[b]
    if old.group.state != COMPLETING_REBALANCE or request.id != old.group.leader or not looks(old):
        return False
    if not late and after.network.answers[m].verdict == UNANSWERED or not is_taken(before, after, m, late, SYNC):
        return False
    if after.storage.faults != before.storage.faults + 1 or request.generation != old.group.generation:
        return False
    if not is_told(before, after, error):
        return False
    same = after.storage.log.length == before.storage.log.length
    return same and after.brokers[b].group.state == PREPARING_REBALANCE


def commit_is_taken(before, after, b, m, late):
    """A commit of a member in the present generation is appended under that generation, unless the assignment is
    awaited. Nothing else in the group changes.
    """
    request = before.network.late[m] if late else before.network.requests[m]
    if not late and not is_taken(before, after, m, late, WORK) or late and after.network.late[m].kind == request.kind:
        return False
    old = before.brokers[b]
    new = after.brokers[b]
    if old.group.state != new.group.state or old.group.offset != new.group.offset:
        return False
    if new.appends.length == old.appends.length:
        return after.storage.log.length == before.storage.log.length
    append = new.appends.slots[old.appends.length]
    return append.generation == request.generation and is_empty(append.waiter) == (late == 1)


def refused_commit_is_answered(before, after, b, m, error):
    """A commit that the log refuses is one that would have been accepted. It is answered, and nothing changes."""
    client = before.clients[m]
    old = before.brokers[b]
    if not is_taken(before, after, m, 0, WORK) or after.network.answers[m].verdict == UNANSWERED:
        return False
    if not is_told(before, after, error):
        return False
    if not is_member(old, client.id) or client.generation != old.group.generation or not looks(old):
        return False
    counted = after.storage.faults == before.storage.faults + 1
    return counted and old.group.state != COMPLETING_REBALANCE and same_but_for_network(before, after, b)


def refusal_changes_nothing(before, after, b):
    """A request that is refused for its own sake leaves the group as it is."""
    return same_but_for_network(before, after, b)


TRUE = (always_step(answers_are_so),)
"""From 2.4 on: before, a Dead group was answered like an unknown one, and REBALANCE_IN_PROGRESS was checked first."""
ANSWERS = (
    always_step(taken_or_answered),
    always_step(heartbeat_is_so, of=("heartbeat",)),
    always_step(beside_a_request, of=("heartbeat_beside",)),
    always_step(first_join_is_taken, of=("first_join",)),
    always_step(join_is_taken, of=("join",)),
    always_step(sync_is_taken, of=("sync",)),
    always_step(refused_sync_begins_rebalance, of=("sync_refused",)),
    always_step(commit_is_taken, of=("commit",)),
    always_step(refused_commit_is_answered, of=("commit_refused",)),
)
REFUSALS = (always_step(refusal_changes_nothing, of=("refuse_type", "refuse_topic")),)
"""Of requests that come from nobody in particular."""
