"""What a coordinator answers, as tables: request, state of the group, answer and state afterwards.

A cell is (answer, next state); the next state is None where it stays. NEW is 2.8 to 3.9, with member ids required
and without static members; STATIC has the requests of static members; OLD is 0.10.1 and 0.10.2, MIDDLE 1.1 to 2.0.
Gates come first, and are a table of their own. PARKED: answered when the rebalance goes on. STORED: answered when the
append has its callback. "restart the session timer" is left out with all time. "member" is in the group, and not
its leader, unless it says so.
"""

ABSENT, EMPTY, PREPARING, COMPLETING, STABLE, DEAD = (
    "Absent", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead",
)
STATES = (ABSENT, EMPTY, PREPARING, COMPLETING, STABLE, DEAD)
UNKNOWN, ILLEGAL, REBALANCE = "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS"
UNAVAILABLE, INCONSISTENT, REQUIRED = "COORDINATOR_NOT_AVAILABLE", "INCONSISTENT_GROUP_PROTOCOL", "MEMBER_ID_REQUIRED"
NOT_FOUND, NON_EMPTY, LOADING, NOT_HERE = (
    "GROUP_ID_NOT_FOUND", "NON_EMPTY_GROUP", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR",
)
SUBSCRIBED, UNSTABLE, FENCED, FULL = (
    "GROUP_SUBSCRIBED_TO_TOPIC", "UNSTABLE_OFFSET_COMMIT", "FENCED_INSTANCE_ID", "GROUP_MAX_SIZE_REACHED",
)


def row(absent, empty, preparing, completing, stable, dead):
    """One request: a cell for each state, an answer alone where the state stays."""
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
    "heartbeat, member": row(UNKNOWN, UNKNOWN, REBALANCE, "NONE", "NONE", UNAVAILABLE),
    "heartbeat, other generation": row(UNKNOWN, UNKNOWN, ILLEGAL, ILLEGAL, ILLEGAL, UNAVAILABLE),
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
    "syncs are due": row(None, None, None, (None, PREPARING), None, None),
    "session ends": row(None, None, (None, None), (None, PREPARING), (None, PREPARING), None),
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
    "join, member, one has joined": row(None, None, FULL, None, None, None),
}
"""group.max.size=1, and two members from another time."""
LATER = ("join, pending", "leave, pending", "syncs are due") + tuple(
    name for name in NEW if name.startswith(("delete", "fetch, stable", "commit, in"))
)
OLD = {name: {**cells, DEAD: (UNKNOWN, None) if cells[DEAD][0] == UNAVAILABLE else cells[DEAD]}
       for name, cells in NEW.items() if name not in LATER} | {
    "join, no id": row(PARK, PARK, "PARKED", PARK, PARK, UNKNOWN),
    "heartbeat, member": row(UNKNOWN, UNKNOWN, REBALANCE, REBALANCE, "NONE", UNKNOWN),
    "heartbeat, other generation": row(UNKNOWN, UNKNOWN, ILLEGAL, REBALANCE, ILLEGAL, UNKNOWN),
    "commit, other generation": row(ILLEGAL, UNKNOWN, ILLEGAL, REBALANCE, ILLEGAL, UNKNOWN),
    "commit, not a member": row(ILLEGAL, UNKNOWN, UNKNOWN, REBALANCE, UNKNOWN, UNKNOWN),
    "commit, no group": row(("STORED", EMPTY), "STORED", UNKNOWN, REBALANCE, UNKNOWN, UNKNOWN),
}
"""Other requests answer UNKNOWN_MEMBER_ID where the group is Dead."""
MIDDLE = OLD | {"delete": NEW["delete"]}

NEW_GATE = {
    "loading": {
        "join, no id": LOADING, "join, member, same": LOADING, "sync, member": REBALANCE, "heartbeat, member": "NONE",
        "leave, member": LOADING, "commit, member": LOADING, "commit, no group": LOADING, "fetch": LOADING,
        "delete": LOADING, "delete offset": LOADING, "commit, in a transaction": LOADING,
    },
    "not owned": dict.fromkeys(NEW, NOT_HERE) | {"session ends": None, "syncs are due": None},
}
MIDDLE_GATE = {"loading": {name: answer for name, answer in NEW_GATE["loading"].items() if name in MIDDLE},
               "not owned": dict.fromkeys(MIDDLE, NOT_HERE) | {"session ends": None}}
OLD_GATE = {"loading": dict.fromkeys(OLD, NOT_HERE) | {"session ends": None},
            "not owned": dict.fromkeys(OLD, NOT_HERE) | {"session ends": None}}
"""A partition is owned only after it was loaded: OLD, which asks that first, never answers that it loads."""

GROUP_ERRORS = {
    "UNKNOWN_TOPIC_OR_PARTITION": UNAVAILABLE, "NOT_ENOUGH_REPLICAS": UNAVAILABLE,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": UNAVAILABLE, "NOT_LEADER": NOT_HERE, "KAFKA_STORAGE_ERROR": NOT_HERE,
    "TIMED_OUT": REBALANCE,
} | dict.fromkeys(("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_FETCH_SIZE"), "UNKNOWN_SERVER_ERROR")
"""What a sync is answered with when the append of the group fails: GroupMetadataManager.storeGroup."""
OFFSET_ERRORS = GROUP_ERRORS | dict.fromkeys(
    ("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_FETCH_SIZE"), "INVALID_COMMIT_OFFSET_SIZE",
) | {"TIMED_OUT": "REQUEST_TIMED_OUT"}
"""What a commit is answered with: GroupMetadataManager.storeOffsets."""
CLASS_OF = {
    "UNKNOWN_TOPIC_OR_PARTITION": "NOT_ENOUGH_REPLICAS", "KAFKA_STORAGE_ERROR": "NOT_LEADER",
    "MESSAGE_TOO_LARGE": "TOO_LARGE", "RECORD_LIST_TOO_LARGE": "TOO_LARGE", "INVALID_FETCH_SIZE": "TOO_LARGE",
}
"""The error of `storage.AppendError` that stands for another which means the same."""
