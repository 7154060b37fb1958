"""Members, as seen by their clients: each acts alone, and learns about the group only from the answers it gets.

Rebalancing is eager: a client that joins again has given up what it was assigned. A client that is out, for whatever
reason, may start again, and then knows no member id.

A member owns `s.clients[m]` and reaches the rest through the network. Which id a coordinator would draw for
it (`draw`) is the one thing that depends on the whole state.
"""

from kafkaproof.spec.group.coordinator import GONE
from kafkaproof.spec.group.network import (
    FENCED_INSTANCE_ID,
    GROUP_MAX_SIZE_REACHED,
    ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL,
    INVALID_COMMIT_OFFSET_SIZE,
    JOIN,
    MEMBER_ID_REQUIRED,
    NONE,
    REBALANCE_IN_PROGRESS,
    SYNC,
    UNANSWERED,
    UNKNOWN_MEMBER_ID,
    WAIT,
    WORK,
    ask,
    drop_request,
    in_messages,
    instance,
    say_goodbye,
)
from kafkaproof.spec.group.records import STATIC_RECORD
from kafkaproof.spec.group.sorts import Client, Epoch, Generation, MemberId
from kafkaproof.spec.group.storage import in_log
from kafkaproof.spec.language.domains import NOBODY, Choice, Flag, Record
from kafkaproof.spec.language.sets import contains, is_empty

Phase = Choice("OUT", "JOINING", "SYNCING", "WORKING")
OUT, JOINING, SYNCING, WORKING = Phase
CLIENT = Record(
    phase=(Phase, "where the client is in the protocol"),
    id=(MemberId, "the member id that it believes it has"),
    generation=(Generation, "generation of its last join, 0 if it has to join"),
    epoch=(Epoch, "leader epoch of the coordinator that gave the generation; Kafka's clients do not know it"),
    leading=(Flag(), "it was told that it is the leader"),
    owns=(Flag(), "it acts on the topic partition"),
)


def in_callback(append, id):
    """Whether the callback of an append may still put a member id into the group (for a static member, either id)."""
    return append.kind == STATIC_RECORD and (append.id == id or append.former == id or append.now == id)


def is_held(s, id):
    """Whether a member id is in use: in a client, a message, the log, a coordinator's cache, or a callback."""
    if in_messages(s.network, id) or in_log(s.storage, id):
        return True
    for client in s.clients:
        if client.id == id:
            return True
    for broker in s.brokers:
        if broker.group.members[id].status != GONE:
            return True
        for prepared in broker.prepared.slots:
            if contains(prepared.record.members, id):
                return True
        for append in broker.appends.slots:
            if in_callback(append, id):
                return True
    return False


def draw(s):
    """The least member id that is not in use."""
    found = len(s.brokers[0].group.members) - 1
    for i in range(len(s.brokers[0].group.members) - 1):
        id = len(s.brokers[0].group.members) - 2 - i
        if not is_held(s, id):
            found = id
    return found


def set_out(client, phase, id):
    """Reset a client: it has no generation, and acts on nothing."""
    client.phase = phase
    client.id = id
    client.generation = 0
    client.epoch = 0
    client.leading = 0
    client.owns = 0


def join_afresh(s, m):
    """Client `m` joins without a member id."""
    set_out(s.clients[m], JOINING, NOBODY)
    ask(s.network, m, JOIN, NOBODY, 0, 0, 0)
    ask(s.network, m, JOIN, draw(s), 0, 0, 0)


def verdict_for(network, m):
    """The error code in the answer that has come for client `m`."""
    return network.answers[m].verdict


def tells_to_reset(phase, verdict):
    """Whether an error makes the client forget its member id: only if the coordinator does not know it (3.2+).

    Kafka: AbstractCoordinator.resetStateOnResponseError, 3.2 to 3.9.
    """
    return verdict == UNKNOWN_MEMBER_ID


def tells_to_join(phase, verdict):
    """Whether an error makes the client join again with the id that it has."""
    if verdict == NONE or tells_to_reset(phase, verdict) or verdict == FENCED_INSTANCE_ID:
        return False
    return phase == SYNCING or verdict == REBALANCE_IN_PROGRESS or verdict == ILLEGAL_GENERATION


def is_fatal(verdict):
    """Whether an error ends the client."""
    if verdict == FENCED_INSTANCE_ID or verdict == GROUP_MAX_SIZE_REACHED:
        return True
    return verdict == INCONSISTENT_GROUP_PROTOCOL or verdict == INVALID_COMMIT_OFFSET_SIZE


def joined(s, m: Client):
    """Client `m` learns its generation, and synchronizes.

    Guards:  its join was answered with NONE.
    Effects: it knows its id, the generation, and whether it leads.
    Kafka:   AbstractCoordinator.JoinGroupResponseHandler, 0.9 to 3.9.
    """
    client = s.clients[m]
    answer = s.network.answers[m]
    if client.phase != JOINING or answer.verdict != NONE:
        return False

    client.phase = SYNCING
    client.id = answer.id
    client.generation = answer.generation
    client.epoch = answer.epoch
    client.leading = answer.leading
    ask(s.network, m, SYNC, client.id, 1, client.generation, client.leading)
    return True


def synced(s, m: Client):
    """Client `m` gets its assignment, and works.

    Guards:  its sync was answered with NONE.
    Effects: it acts on what it was assigned, sends heartbeats, and commits.
    Kafka:   AbstractCoordinator.SyncGroupRequestHandler, 0.9; AbstractCoordinator.SyncGroupResponseHandler, 0.10.0 to
             3.9; AbstractCoordinator.onJoinComplete, 0.9 to 3.9.
    """
    client = s.clients[m]
    answer = s.network.answers[m]
    if client.phase != SYNCING or answer.verdict != NONE:
        return False

    client.phase = WORKING
    client.owns = answer.owns
    client.leading = 0
    ask(s.network, m, WORK, client.id, 1, client.generation, 0)
    return True


def take_id(s, m: Client):
    """Client `m` joins again with the member id that it was given.

    Guards:  its join was answered with MEMBER_ID_REQUIRED.
    Effects: it knows its id.
    Kafka:   AbstractCoordinator.JoinGroupResponseHandler, 2.2 to 3.9 (KIP-394).
    """
    client = s.clients[m]
    answer = s.network.answers[m]
    if answer.verdict != MEMBER_ID_REQUIRED:
        return False

    client.id = answer.id
    ask(s.network, m, JOIN, client.id, 1, 0, 0)
    return True


def rejoin(s, m: Client):
    """Client `m` joins again with its id, because a rebalance goes on, or its generation is over.

    Guards:  an answer said so, or its sync failed with any error other than UNKNOWN_MEMBER_ID.
    Effects: it has no generation, and gives up its assignment.
    Kafka:   AbstractCoordinator.onJoinPrepare, 0.9 to 3.9; AbstractCoordinator.SyncGroupRequestHandler, 0.9;
             AbstractCoordinator.SyncGroupResponseHandler, 0.10.0 to 3.9;
             AbstractCoordinator.HeartbeatCompletionHandler, 0.9 to 0.10.0;
             AbstractCoordinator.HeartbeatResponseHandler, 0.10.1 to 3.9.
    """
    client = s.clients[m]
    verdict = verdict_for(s.network, m)
    if client.phase == JOINING or verdict == UNANSWERED or not tells_to_join(client.phase, verdict):
        return False

    set_out(client, JOINING, client.id)
    ask(s.network, m, JOIN, client.id, 1, 0, 0)
    return True


def start_over(s, m: Client):
    """Client `m` joins without an id, because the coordinator does not know its id.

    Guards:  it was answered with UNKNOWN_MEMBER_ID.
    Effects: it has neither id nor generation, and gives up its assignment.
    Kafka:   AbstractCoordinator.HeartbeatCompletionHandler, 0.9 to 0.10.0; AbstractCoordinator.resetGeneration,
             0.10.1 to 2.3; resetGenerationOnResponseError, 2.4 to 3.1; resetStateOnResponseError, 3.2 to 3.9.
    """
    if not tells_to_reset(s.clients[m].phase, verdict_for(s.network, m)):
        return False

    join_afresh(s, m)
    return True


def retry(s, m: Client):
    """Client `m` asks again, perhaps another broker.

    Guards:  its join, heartbeat or commit was answered with an error that says nothing about the group.
    Effects: the same request may be sent again; if it has no member id, a new one is drawn for it, because the former
             one may be in use by now.
    Kafka:   AbstractCoordinator.coordinatorDead, 0.9 to 1.0.1; markCoordinatorUnknown, 1.0.2 to 3.9.
    """
    client = s.clients[m]
    verdict = verdict_for(s.network, m)
    if client.phase == SYNCING or verdict <= NONE or verdict == MEMBER_ID_REQUIRED:
        return False
    if tells_to_reset(client.phase, verdict) or is_fatal(verdict):
        return False
    if client.phase == WORKING and tells_to_join(client.phase, verdict):
        return False

    request = s.network.requests[m]
    kind = JOIN if client.phase == JOINING else WORK
    id = request.id
    ask(s.network, m, kind, NOBODY, request.known, request.generation, 0)
    request.id = id if request.known or not is_held(s, id) else draw(s)
    return True


def give_in(s, m: Client):
    """Client `m` is told that it has no place in the group, and stops.

    Guards:  it was answered with FENCED_INSTANCE_ID, INCONSISTENT_GROUP_PROTOCOL, GROUP_MAX_SIZE_REACHED or
             INVALID_COMMIT_OFFSET_SIZE.
    Effects: it acts on nothing.
    Kafka:   AbstractCoordinator.JoinGroupResponseHandler (fatal errors), 0.9 to 3.9.
    """
    if not is_fatal(verdict_for(s.network, m)):
        return False

    set_out(s.clients[m], OUT, NOBODY)
    ask(s.network, m, JOIN, NOBODY, 0, 0, 0)
    drop_request(s.network.requests[m])
    return True


def may_leave(client):
    """Whether a client sends LeaveGroup when it closes: here only if it works; Kafka's does whenever it has an id."""
    return client.phase == WORKING


def leave(s, m: Client):
    """Client `m` leaves the group.

    A client that waits for an answer is left out: the broker reads its LeaveGroup only after it has answered.

    Guards:  it may leave, as `may_leave` says; it waits for no answer, and is not static.
    Effects: LeaveGroup is in flight; nobody waits for the answer.
    Kafka:   AbstractCoordinator.maybeLeaveGroup, 0.9 to 3.9.
    """
    client = s.clients[m]
    if not may_leave(client) or s.network.requests[m].kind == WAIT or not is_empty(instance(s.network, m)):
        return False

    set_out(client, OUT, NOBODY)
    say_goodbye(s.network, m)
    return True


def start(s, m: Client):
    """A new process of client `m` joins.

    Guards:  the client is OUT.
    Effects: it joins without a member id.
    Kafka:   AbstractCoordinator.ensureActiveGroup, 0.9 to 3.9.
    """
    if s.clients[m].phase != OUT:
        return False

    join_afresh(s, m)
    return True
