"""What a coordinator answers, as tables: request, state of the group, answer and state afterwards.

A cell is (answer, next state); the next state is None where it stays. NEW is 2.6 to 3.9, with member ids required
and without static members; OLD is 0.10.1 and 0.10.2. Gates come first, and are a table of their own. PARKED: answered
when the rebalance goes on. STORED: answered when the append has its callback. "restart the session
timer" is left out with all time. "member" is in the group, and not its leader, unless it says so.
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
    "commit, member": row(ILLEGAL, UNKNOWN, "STORED", REBALANCE, "STORED", UNAVAILABLE),
    "commit, other generation": row(ILLEGAL, UNKNOWN, ILLEGAL, ILLEGAL, ILLEGAL, UNAVAILABLE),
    "commit, not a member": row(ILLEGAL, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNAVAILABLE),
    "commit, no group": row(("STORED", EMPTY), "STORED", UNKNOWN, UNKNOWN, UNKNOWN, UNAVAILABLE),
    "fetch": row("NONE", "NONE", "NONE", "NONE", "NONE", "NONE"),
    "delete": row(NOT_FOUND, ("NONE", DEAD), NON_EMPTY, NON_EMPTY, NON_EMPTY, NOT_FOUND),
    "session ends": row(None, None, (None, None), (None, PREPARING), (None, PREPARING), None),
}
OLD = {name: {**cells, DEAD: (UNKNOWN, None) if cells[DEAD][0] == UNAVAILABLE else cells[DEAD]}
       for name, cells in NEW.items() if name not in ("join, pending", "delete")} | {
    "join, no id": row(PARK, PARK, "PARKED", PARK, PARK, UNKNOWN),
    "join, nothing in common": row(UNKNOWN, UNKNOWN, INCONSISTENT, INCONSISTENT, INCONSISTENT, UNKNOWN),
    "heartbeat, member": row(UNKNOWN, UNKNOWN, REBALANCE, REBALANCE, "NONE", UNKNOWN),
    "heartbeat, other generation": row(UNKNOWN, UNKNOWN, ILLEGAL, REBALANCE, ILLEGAL, UNKNOWN),
    "commit, other generation": row(ILLEGAL, UNKNOWN, ILLEGAL, REBALANCE, ILLEGAL, UNKNOWN),
    "commit, not a member": row(ILLEGAL, UNKNOWN, UNKNOWN, REBALANCE, UNKNOWN, UNKNOWN),
    "commit, no group": row(("STORED", EMPTY), "STORED", UNKNOWN, REBALANCE, UNKNOWN, UNKNOWN),
}
"""Other requests answer UNKNOWN_MEMBER_ID where the group is Dead."""

NEW_GATE = {
    "loading": {
        "join, no id": LOADING, "join, member, same": LOADING, "sync, member": REBALANCE, "heartbeat, member": "NONE",
        "leave, member": LOADING, "commit, member": LOADING, "fetch": LOADING, "delete": LOADING,
    },
    "not owned": dict.fromkeys(NEW, NOT_HERE) | {"session ends": None},
}
OLD_GATE = {"loading": dict.fromkeys(OLD, NOT_HERE) | {"session ends": None},
            "not owned": dict.fromkeys(OLD, NOT_HERE) | {"session ends": None}}
"""A partition is owned only after it was loaded: OLD, which asks that first, never answers that it loads."""
