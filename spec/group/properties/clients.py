"""Properties of groups: which requests clients send in each phase, and how they act on answers."""

from kafkaproof.spec.group.faults import waits_in_vain
from kafkaproof.spec.group.member import JOINING, OUT, SYNCING, WORKING
from kafkaproof.spec.group.network import (
    COMMIT,
    FENCED_INSTANCE_ID,
    GROUP_MAX_SIZE_REACHED,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_COMMIT_OFFSET_SIZE,
    JOIN,
    LEAVE,
    MEMBER_ID_REQUIRED,
    NONE,
    NOTHING,
    PARKED,
    REBALANCE_IN_PROGRESS,
    STORED,
    SYNC,
    UNANSWERED,
    UNKNOWN_MEMBER_ID,
    WAIT,
    WORK,
)
from kafkaproof.spec.group.properties.invariants import (
    answer_says_what_was_asked,
    answered_while_waiting,
    joining_asks_to_join,
    late_is_named,
    out_is_nothing,
    syncing_asks_to_sync,
    waiter_waits,
    working_asks_to_work,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step


def asks_by_phase(s):
    """A client sends the requests of its phase, with its member id and generation: it joins, it synchronizes, or it
    sends heartbeats and commits. A client that is out sends none.
    """
    for m in range(len(s.clients)):
        if not out_is_nothing(s, m) or not joining_asks_to_join(s, m):
            return False
        if not syncing_asks_to_sync(s, m) or not working_asks_to_work(s, m):
            return False
        client = s.clients[m]
        if (client.epoch == 0) != (client.generation == 0):
            return False
        if s.network.requests[m].leading != (client.leading if client.phase == SYNCING else 0):
            return False
    return True


def late_as_it_was_sent(s):
    """A late request keeps the content with which it was sent, and an empty slot has no content."""
    for m in range(len(s.clients)):
        late = s.network.late[m]
        if not late_is_named(s, m) or late.leading and late.kind != SYNC:
            return False
        if late.generation > 0 and late.kind != SYNC and late.kind != COMMIT or late.kind == NOTHING and late.known:
            return False
    return True


def answer_is_whole(s):
    """Only a client that waits is answered. Ids, generations, lists of members and assignments are in the answers that
    call for them, and in no others.
    """
    for m in range(len(s.clients)):
        answer = s.network.answers[m]
        if not answered_while_waiting(s, m) or not answer_says_what_was_asked(s, m):
            return False
        if answer.verdict == PARKED or answer.verdict == STORED or (answer.epoch > 0) != (answer.verdict == NONE):
            return False
    return True


def parked_is_waited_for(s):
    """A client that waits for a parked join or sync sent it with that member id, and has no other answer."""
    for b in range(len(s.brokers)):
        for id in range(len(s.brokers[b].group.members) - 1):
            for m in range(len(s.clients)):
                if not waiter_waits(s, b, id, m):
                    return False
    return True


def is_reset(client):
    """Whether a client has no generation, and acts on nothing."""
    return client.generation == 0 and client.epoch == 0 and not client.leading and not client.owns


def has_joined(old, new, answer):
    """Whether a client has adopted what the answer to its join says."""
    same = new.id == answer.id and new.generation == answer.generation and new.epoch == answer.epoch
    return old.phase == JOINING and new.phase == SYNCING and same and new.leading == answer.leading


def has_synced(old, new, answer):
    """Whether a client has adopted its assignment, in the generation that it joined."""
    same = new.id == old.id and new.generation == old.generation and new.epoch == old.epoch
    return old.phase == SYNCING and new.phase == WORKING and same and new.owns == answer.owns and not new.leading


def goes_on(old, new):
    """Whether a client is in the same phase and knows the same as before."""
    same = new.id == old.id and new.generation == old.generation and new.owns == old.owns
    return new.phase == old.phase and same and new.leading == old.leading and new.epoch == old.epoch


def ends_client(verdict):
    """Whether an error says that there is no place in the group for the client."""
    if verdict == FENCED_INSTANCE_ID or verdict == GROUP_MAX_SIZE_REACHED:
        return True
    return verdict == INCONSISTENT_GROUP_PROTOCOL or verdict == INVALID_COMMIT_OFFSET_SIZE


def makes_rejoin(old, verdict):
    """Whether an error makes a client join again with its id: for a sync, any; otherwise the end of its generation."""
    if old.phase == SYNCING:
        return True
    return old.phase == WORKING and (verdict == REBALANCE_IN_PROGRESS or verdict == ILLEGAL_GENERATION)


def does_as_told(before, after, m):
    """A client acts on its answer: it adopts what it was given. On UNKNOWN_MEMBER_ID it forgets its id; on
    MEMBER_ID_REQUIRED it joins with the id that it was given; at the end of a generation it joins again. On any other
    error it stops or repeats the request.

    Source: AbstractCoordinator.JoinGroupResponseHandler, SyncGroupResponseHandler, HeartbeatResponseHandler, 3.2 to 3.9.
    """
    old = before.clients[m]
    new = after.clients[m]
    answer = before.network.answers[m]
    kind = after.network.requests[m].kind
    if answer.verdict == UNANSWERED or after.network.answers[m].verdict != UNANSWERED:
        return False
    if kind == WAIT or (kind == NOTHING) != (new.phase == OUT):
        return False
    if answer.verdict == NONE:
        return has_joined(old, new, answer) or has_synced(old, new, answer)
    if answer.verdict == UNKNOWN_MEMBER_ID:
        return new.phase == JOINING and new.id == NOBODY and is_reset(new)
    if ends_client(answer.verdict):
        return new.phase == OUT and is_reset(new)
    if answer.verdict == MEMBER_ID_REQUIRED:
        return old.phase == JOINING and new.phase == JOINING and new.id == answer.id
    if makes_rejoin(old, answer.verdict):
        return new.phase == JOINING and new.id == old.id and is_reset(new)
    return goes_on(old, new)


def forgets_as_told(before, after, m):
    """The same for clients up to 3.1: at the end of its generation, a client forgets its member id, too.

    Source: AbstractCoordinator.resetGenerationOnResponseError, 2.4 to 3.1.
    """
    if before.network.answers[m].verdict != ILLEGAL_GENERATION:
        return does_as_told(before, after, m)
    new = after.clients[m]
    return new.phase == JOINING and new.id == NOBODY and is_reset(new) and after.network.requests[m].kind == JOIN


def is_as_asked(late, request):
    """Whether a late request is the one that was sent; of heartbeats and commits, a commit."""
    kind = COMMIT if request.kind == WORK else request.kind
    same = late.id == request.id and late.known == request.known and late.generation == request.generation
    return late.kind == kind and same and late.leading == request.leading


def gives_up_waiting(before, after, m):
    """A client that gives up closes its connection: its request may still arrive, but nobody waits for the answer. If
    it works, it goes on; otherwise it joins again with its id.
    """
    old = before.clients[m]
    new = after.clients[m]
    request = before.network.requests[m]
    if old.phase == OUT or request.kind != WAIT and not is_as_asked(after.network.late[m], request):
        return False
    if request.kind == WAIT and after.network.late[m].kind != before.network.late[m].kind:
        return False
    if after.network.requests[m].kind == WAIT or after.network.answers[m].verdict != UNANSWERED:
        return False
    rises = 0 if waits_in_vain(before, m) else 1
    if after.storage.faults != before.storage.faults + rises:
        return False
    if old.phase == WORKING:
        return goes_on(old, new)
    return new.phase == JOINING and new.id == old.id and is_reset(new)


def dies_out(before, after, m):
    """A client whose process dies forgets everything. The request that it has sent may still arrive."""
    request = before.network.requests[m]
    if before.clients[m].phase == OUT or after.clients[m].phase != OUT:
        return False
    if request.kind != WAIT and not is_as_asked(after.network.late[m], request):
        return False
    return after.storage.faults == before.storage.faults + 1


def starts_anew(before, after, m):
    """Only a client that is out starts, and it joins without a member id."""
    return before.clients[m].phase == OUT and after.clients[m].phase == JOINING and after.clients[m].id == NOBODY


def says_goodbye(before, after):
    """LeaveGroup is sent only by a client that has a member id and waits for nothing; the client is out then. Otherwise
    a client is out only if it is told that it has no place in the group, or if its process dies.
    """
    for m in range(len(after.clients)):
        late = after.network.late[m]
        if late.kind == LEAVE and before.network.late[m].kind != LEAVE:
            waits = before.network.requests[m].kind == WAIT or late.id == NOBODY
            if waits or late.id != before.clients[m].id or after.clients[m].phase != OUT:
                return False
        elif before.clients[m].phase != OUT and after.clients[m].phase == OUT:
            dies = after.storage.faults > before.storage.faults
            if not dies and not ends_client(before.network.answers[m].verdict) and late.kind != LEAVE:
                return False
    return True


ANSWERED = ("joined", "synced", "take_id", "rejoin", "start_over", "retry", "give_in")
ASKING = (
    always(asks_by_phase),
    always(late_as_it_was_sent),
    always(answer_is_whole),
    always(parked_is_waited_for),
    always_step(gives_up_waiting, of=("give_up",)),
    always_step(dies_out, of=("crash_client",)),
    always_step(starts_anew, of=("start",)),
    always_step(says_goodbye),
)
CLIENTS = (*ASKING, always_step(does_as_told, of=ANSWERED))
FORGETFUL = (*ASKING, always_step(forgets_as_told, of=ANSWERED))
"""Of clients up to 3.1."""
