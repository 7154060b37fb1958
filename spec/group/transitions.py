"""The transitions of groups, with their kinds and pictures; `model` makes variants of them."""

from kafkaproof.spec.group import (
    deletion,
    faults,
    find_coordinator,
    join,
    loading,
    member,
    membership,
    offsets,
    static,
    sync,
    transactions,
    validation,
)
from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.language.model import CONTINUATION, EVENT, TIMER, Arrow, Transition

BROKER = "broker {b}"
CLIENT = "client {m}"
LOG = "cluster"


def asking(request, *functions):
    """Transitions in which a client's request is handled by a broker."""
    return tuple(
        Transition(function, BROKER, (Arrow(CLIENT, BROKER, request + ": {answer}", "request"),))
        for function in functions
    )


def hearing(what, arrow, *functions, kind=EVENT):
    """Transitions in which a broker hears something of the offsets partition."""
    return tuple(Transition(function, BROKER, (Arrow(LOG, BROKER, what, arrow),), kind=kind) for function in functions)


def acting(lane, *functions, kind=EVENT):
    """Transitions that handle no request of a client's."""
    return tuple(Transition(function, lane, kind=kind) for function in functions)


CLIENTS = (
    *acting(
        CLIENT,
        member.joined,
        member.synced,
        member.rejoin,
        member.start_over,
        member.retry,
        member.give_in,
        member.leave,
        member.start,
    ),
    *declared.faults(faults.give_up, faults.crash_client, lane=CLIENT),
)
REQUESTS = (
    asking("JoinGroup", join.first_join, join.join)
    + asking("SyncGroup", sync.sync, sync.sync_refused)
    + asking("Heartbeat", membership.heartbeat)
    + asking("LeaveGroup", membership.leave)
    + asking("OffsetCommit", offsets.commit, offsets.commit_refused)
)
TOOLS = acting(BROKER, find_coordinator.find, offsets.fetch, offsets.reset_offset, validation.refuse)
TOMBSTONES = (
    *acting(BROKER, deletion.remove_dead, deletion.bury, kind=CONTINUATION),
    *declared.faults(faults.time_passes, lane="cluster"),
)
EXPIRY = acting(BROKER, deletion.clean_up, kind=TIMER)
TIMERS = (
    *acting(BROKER, join.complete_join, kind=CONTINUATION),
    *acting(BROKER, join.join_timeout, membership.expire, kind=TIMER),
)
CALLBACKS = hearing("acknowledged", "answer", sync.group_stored, offsets.offset_stored) + hearing(
    "fails", "answer", sync.group_not_stored, offsets.offset_not_stored
)
LOADING = (
    *hearing("leads", "event", loading.take_over),
    *hearing("record", "message", loading.read, kind=CONTINUATION),
    *acting(BROKER, loading.load, loading.load_fails, kind=CONTINUATION),
    *hearing("another leads", "event", loading.unload),
    *declared.faults(faults.crash, lane=BROKER),
)
FAULTS = declared.faults(faults.fail_over, faults.elect_again, lane="cluster")
EARLIEST = CLIENTS + REQUESTS + TOOLS + TIMERS + CALLBACKS + LOADING + TOMBSTONES + FAULTS
COMMON = CLIENTS + REQUESTS + TOOLS + TIMERS + CALLBACKS + LOADING + EXPIRY + TOMBSTONES + FAULTS
"""From 0.10.1 on; before, the expiry task looks at offsets alone."""
DELETION = acting(BROKER, deletion.delete_group, deletion.topic_deleted)
PENDING = acting(CLIENT, member.take_id) + acting(BROKER, membership.expire_pending, kind=TIMER)
BESIDE = asking("Heartbeat", membership.heartbeat_beside)
OFFSET_DELETION = acting(BROKER, deletion.delete_offset)
MODERN = PENDING + BESIDE + acting(BROKER, membership.sync_timeout, kind=TIMER) + OFFSET_DELETION
REPLACEMENT = (
    asking("JoinGroup", static.static_join)
    + hearing("acknowledged", "answer", static.static_stored)
    + hearing("fails", "answer", static.static_not_stored)
    + acting(BROKER, static.remove_static)
)
TRANSACTIONS = acting(
    BROKER,
    transactions.commit_in_transaction,
    transactions.taken_up,
    transactions.not_taken_up,
    transactions.write_marker,
    transactions.marker_stored,
    transactions.marker_not_stored,
) + acting("cluster", transactions.end)
REFUSALS = acting(BROKER, validation.refuse_type, validation.refuse_topic)
COMPLETION = acting(BROKER, transactions.complete_later, kind=CONTINUATION)
