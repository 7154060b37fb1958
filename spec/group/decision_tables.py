"""What a coordinator answers, as tables: the request, the state of the group, the answer and the next state.

A cell is (answer, next state); the next state is None if it does not change. NEW is 2.8.1 to 3.9, where member ids are
required, without static members. STATIC has the requests of static members. The tables of earlier releases are each made
from the next one, and have the names of the variants. Gates come first, in tables of their own: for a broker that is
loading, for the first time or again; for one that does not own the partition; and for a request that found the group
before it was unloaded, and finds it Dead now. In a state without members, a row says how a former member is answered.
"member" is a member other than the leader, unless the row says otherwise. PARKED: answered when the rebalance goes on.
STORED: answered when the callback of the append runs. Time is not modelled, so restarting a session timer is left out.
"""

ABSENT, EMPTY, PREPARING, COMPLETING, STABLE, DEAD = (
    "Absent",
    "Empty",
    "PreparingRebalance",
    "CompletingRebalance",
    "Stable",
    "Dead",
)
STATES = (ABSENT, EMPTY, PREPARING, COMPLETING, STABLE, DEAD)
UNKNOWN, ILLEGAL, REBALANCE = "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"
UNAVAILABLE, INCONSISTENT, REQUIRED = "COORDINATOR_NOT_AVAILABLE", "INCONSISTENT_GROUP_PROTOCOL", "MEMBER_ID_REQUIRED"
NOT_FOUND, NON_EMPTY, LOADING, NOT_HERE = (
    "GROUP_ID_NOT_FOUND",
    "NON_EMPTY_GROUP",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "NOT_COORDINATOR",
)
SUBSCRIBED, UNSTABLE, FENCED, FULL, TOO_LONG = (
    "GROUP_SUBSCRIBED_TO_TOPIC",
    "UNSTABLE_OFFSET_COMMIT",
    "FENCED_INSTANCE_ID",
    "GROUP_MAX_SIZE_REACHED",
    "OFFSET_METADATA_TOO_LARGE",
)


def row(absent, empty, preparing, completing, stable, dead):
    """The row of one request: a cell for each state. An answer alone means that the state does not change."""
    cells = (absent, empty, preparing, completing, stable, dead)
    return {state: cell if isinstance(cell, tuple) else (cell, None) for state, cell in zip(STATES, cells)}


PARK = ("PARKED", PREPARING)
GONE = ("NONE", PREPARING)
NEW = {
    "join, no id": row((REQUIRED, EMPTY), REQUIRED, REQUIRED, REQUIRED, REQUIRED, UNAVAILABLE),
    "join, pending": row(UNKNOWN, PARK, "PARKED", PARK, PARK, UNAVAILABLE),
    "join, member, same": row(UNKNOWN, UNKNOWN, "PARKED", "NONE", "NONE", UNAVAILABLE),
    "join, leader, same": row(UNKNOWN, UNKNOWN, "PARKED", "NONE", PARK, UNAVAILABLE),
    "join, member, changed": row(UNKNOWN, UNKNOWN, "PARKED", PARK, PARK, UNAVAILABLE),
    "join, id not in group": row(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNAVAILABLE),
    "join, nothing in common": row(UNKNOWN, UNKNOWN, INCONSISTENT, INCONSISTENT, INCONSISTENT, UNAVAILABLE),
    "sync, member": row(UNKNOWN, UNKNOWN, REBALANCE, "PARKED", "NONE", UNAVAILABLE),
    "sync, leader": row(UNKNOWN, UNKNOWN, REBALANCE, "STORED", "NONE", UNAVAILABLE),
    "sync, other generation": row(UNKNOWN, UNKNOWN, ILLEGAL, ILLEGAL, ILLEGAL, UNAVAILABLE),
    "sync, not a member": row(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNAVAILABLE),
    "heartbeat, member": row(UNKNOWN, UNKNOWN, REBALANCE, "NONE", "NONE", UNAVAILABLE),
    "heartbeat, other generation": row(UNKNOWN, UNKNOWN, ILLEGAL, ILLEGAL, ILLEGAL, UNAVAILABLE),
    "heartbeat, not a member": row(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNAVAILABLE),
    "leave, member": row(UNKNOWN, UNKNOWN, "NONE", GONE, GONE, UNAVAILABLE),
    "leave, pending": row(UNKNOWN, "NONE", "NONE", "NONE", "NONE", UNAVAILABLE),
    "leave, not a member": row(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNAVAILABLE),
    "commit, member": row(ILLEGAL, UNKNOWN, "STORED", REBALANCE, "STORED", UNAVAILABLE),
    "commit, other generation": row(ILLEGAL, UNKNOWN, ILLEGAL, ILLEGAL, ILLEGAL, UNAVAILABLE),
    "commit, not a member": row(ILLEGAL, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNAVAILABLE),
    "commit, no group": row(("STORED", EMPTY), "STORED", UNKNOWN, UNKNOWN, UNKNOWN, UNAVAILABLE),
    "commit, in a transaction": row(("STORED", EMPTY), "STORED", "STORED", "STORED", "STORED", UNAVAILABLE),
    "fetch": row("NONE", "NONE", "NONE", "NONE", "NONE", "NONE"),
    "fetch, stable": row("NONE", "NONE", "NONE", "NONE", "NONE", "NONE"),
    "fetch, stable, one is pending": row("NONE", UNSTABLE, UNSTABLE, UNSTABLE, UNSTABLE, "NONE"),
    "delete": row(NOT_FOUND, ("NONE", DEAD), NON_EMPTY, NON_EMPTY, NON_EMPTY, NOT_FOUND),
    "delete offset": row(NOT_FOUND, ("NONE", DEAD), SUBSCRIBED, SUBSCRIBED, SUBSCRIBED, NOT_FOUND),
    "delete offset, not subscribed": row(NOT_FOUND, ("NONE", DEAD), "NONE", "NONE", "NONE", NOT_FOUND),
    "delete offset, one is pending": row(NOT_FOUND, "NONE", "NONE", "NONE", "NONE", NOT_FOUND),
    "syncs are due": row(None, None, None, (None, PREPARING), None, None),
    "session ends": row(None, None, (None, None), (None, PREPARING), (None, PREPARING), None),
    "without permission": row(*["GROUP_AUTHORIZATION_FAILED"] * 6),
    "without a group id": row(*["INVALID_GROUP_ID"] * 6),
    "join, session too long": row(*["INVALID_SESSION_TIMEOUT"] * 6),
    "commit, metadata too long": row((TOO_LONG, EMPTY), TOO_LONG, UNKNOWN, UNKNOWN, UNKNOWN, UNAVAILABLE),
}
FORGETFUL = {
    "join, another type": row(UNKNOWN, UNKNOWN, INCONSISTENT, INCONSISTENT, INCONSISTENT, UNAVAILABLE),
    "commit, no such topic": row(*["UNKNOWN_TOPIC_OR_PARTITION"] * 6),
}
STATIC = {
    "join, in place of a member": row(None, None, "PARKED", PARK, "STORED", None),
    "join, in place of a member, changed": row(None, None, "PARKED", PARK, PARK, None),
    "sync, replaced": row(UNKNOWN, UNKNOWN, FENCED, FENCED, FENCED, UNAVAILABLE),
    "heartbeat, replaced": row(UNKNOWN, UNKNOWN, FENCED, FENCED, FENCED, UNAVAILABLE),
    "commit, replaced": row(ILLEGAL, UNKNOWN, FENCED, FENCED, FENCED, UNAVAILABLE),
    "remove static": row(UNKNOWN, UNKNOWN, "NONE", GONE, GONE, UNAVAILABLE),
}
LIMITED = {
    "join, no id": row((REQUIRED, EMPTY), REQUIRED, REQUIRED, FULL, FULL, UNAVAILABLE),
    "join, pending": row(UNKNOWN, PARK, "PARKED", FULL, FULL, UNAVAILABLE),
    "join, no id, one has joined": row(None, None, FULL, None, None, None),
    "join, pending, one has joined": row(None, None, FULL, None, None, None),
    "join, member, one has joined": row(None, None, FULL, None, None, None),
}
"""group.max.size=1, while the group still has two members from before the limit."""


def without(rows, *names):
    """The rows of a release that has no such requests yet: those whose names begin so."""
    return {name: cells for name, cells in rows.items() if not name.startswith(names)}


RELOADING = without(NEW, "syncs are due")
"""2.6.1 to 2.8.0."""
KIP496 = RELOADING | {"heartbeat, member": row(UNKNOWN, UNKNOWN, REBALANCE, REBALANCE, "NONE", UNAVAILABLE)}
"""2.4.0 to 2.6.0, but `fetch, stable` only from 2.5 on."""
KIP345 = without(KIP496, "delete offset", "fetch, stable") | {
    "commit, other generation": row(ILLEGAL, UNKNOWN, ILLEGAL, REBALANCE, ILLEGAL, UNAVAILABLE),
    "commit, not a member": row(ILLEGAL, UNKNOWN, UNKNOWN, REBALANCE, UNKNOWN, UNAVAILABLE),
    "commit, no group": row(("STORED", EMPTY), "STORED", UNKNOWN, REBALANCE, UNKNOWN, UNAVAILABLE),
    "commit, metadata too long": row((TOO_LONG, EMPTY), TOO_LONG, UNKNOWN, REBALANCE, UNKNOWN, UNAVAILABLE),
}
"""2.3."""
OTHER = {"heartbeat, other generation": row(UNKNOWN, UNKNOWN, ILLEGAL, REBALANCE, ILLEGAL, UNAVAILABLE)}
KIP394 = {
    name: {**cells, DEAD: (UNKNOWN, None) if cells[DEAD][0] == UNAVAILABLE else cells[DEAD]}
    for name, cells in (KIP345 | OTHER).items()
}
"""2.2. When the group is Dead, UNKNOWN_MEMBER_ID."""
LOCKED = without(KIP394, "join, pending", "leave, pending", "commit, in") | {
    "join, no id": row(PARK, PARK, "PARKED", PARK, PARK, UNKNOWN)
}
"""0.11 to 2.1, but DeleteGroups only from 1.1 on; without transactions, which the variants do not have."""
UNLOCKED = without(LOCKED, "delete")
"""0.10.1 to 0.10.2."""
NEVER_EMPTY = UNLOCKED | {
    "heartbeat, other generation": row(UNKNOWN, UNKNOWN, REBALANCE, REBALANCE, ILLEGAL, UNKNOWN),
    "heartbeat, not a member": row(UNKNOWN, UNKNOWN, REBALANCE, REBALANCE, UNKNOWN, UNKNOWN),
    "commit, no group": row("STORED", "STORED", UNKNOWN, REBALANCE, UNKNOWN, UNKNOWN),
    "commit, metadata too long": row(TOO_LONG, TOO_LONG, UNKNOWN, REBALANCE, UNKNOWN, UNKNOWN),
}
"""0.9 to 0.10.0, where no group is ever Empty."""

TIMERS = ("session ends", "syncs are due")


def gate(rows, answer, **others):
    """What a broker that may not look at the group answers to every request: `answer`, except for some kinds.

    The request's own errors are checked first.
    """
    found = {name: others.get(name.partition(",")[0], answer) for name in rows if name not in TIMERS}
    return found | {name: rows[name][ABSENT][0] for name in rows if name.startswith("without")}


def unloaded(rows):
    """What a broker that no longer owns the partition answers while its group is Dead."""
    return {name: NOT_HERE if name.startswith("delete") else rows[name][DEAD][0] for name in rows if name not in TIMERS}


WHILE_LOADING = {"sync": REBALANCE, "heartbeat": "NONE"}
NEW_GATE = {"loading": gate(NEW, LOADING, **WHILE_LOADING), "not owned": gate(NEW, NOT_HERE), "unloaded": unloaded(NEW)}


def loads_again(rows):
    """What is answered from 2.0 to 2.8.0, where a broker that is elected again loads again."""
    return {
        "loading": gate(rows, LOADING, **WHILE_LOADING),
        "not owned": gate(rows, NOT_HERE),
        "loading again": gate(rows, LOADING, **WHILE_LOADING),
        "unloaded": unloaded(rows),
    }


def owned_first(rows):
    """What is answered up to 1.1, where the partition must be owned, which it is only after the load. For a sync nothing
    else is checked.
    """
    again = gate(rows, LOADING, heartbeat="NONE")
    return {
        "loading": gate(rows, NOT_HERE),
        "not owned": gate(rows, NOT_HERE),
        "unloaded": unloaded(rows),
        "loading again": {name: answer for name, answer in again.items() if not name.startswith("sync")},
    }


UNLOCKED_GATE, LOCKED_GATE = owned_first(UNLOCKED), owned_first(LOCKED)

GROUP_ERRORS = {
    "UNKNOWN_TOPIC_OR_PARTITION": UNAVAILABLE,
    "NOT_ENOUGH_REPLICAS": UNAVAILABLE,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": UNAVAILABLE,
    "NOT_LEADER": NOT_HERE,
    "KAFKA_STORAGE_ERROR": NOT_HERE,
    "TIMED_OUT": REBALANCE,
} | dict.fromkeys(("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_FETCH_SIZE"), "UNKNOWN_SERVER_ERROR")
"""The error that a sync gets when the group's append fails: GroupMetadataManager.storeGroup."""
OFFSET_ERRORS = (
    GROUP_ERRORS
    | dict.fromkeys(("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_FETCH_SIZE"), "INVALID_COMMIT_OFFSET_SIZE")
    | {"TIMED_OUT": "REQUEST_TIMED_OUT"}
)
"""The error that a commit gets when its append fails: GroupMetadataManager.storeOffsets."""
CLASS_OF = {
    "UNKNOWN_TOPIC_OR_PARTITION": "NOT_ENOUGH_REPLICAS",
    "KAFKA_STORAGE_ERROR": "NOT_LEADER",
    "MESSAGE_TOO_LARGE": "TOO_LARGE",
    "RECORD_LIST_TOO_LARGE": "TOO_LARGE",
    "INVALID_FETCH_SIZE": "TOO_LARGE",
}
"""Each error with the error of `storage.AppendError` that stands for it, because both mean the same here."""
