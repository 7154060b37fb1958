"""The scopes of the group system, and what is known about each: which properties are violated, and the number of states
in the shortest counterexample.
"""

from kafkaproof.spec.language.domains import Size

SIZES = {
    "brokers": "brokers that may coordinate the group",
    "clients": "clients that want to be members",
    "ids": "member ids that may be in use at once",
    "generations": "generations of the group",
    "epochs": "leader epochs of the offsets partition: one more than the moves of its leader",
    "log": "records that the offsets log can hold",
    "appends": "appends to it that are not yet acknowledged",
    "protocols": "protocols that clients may offer",
    "faults": "crashes, requests given up, appends and loads that fail, and acts of operators, in all",
    "topics": "topics that the members of a generation may subscribe to; the first is that of the committed offset",
    "periods": "check intervals and retention periods of offsets that pass",
    "prepared": "records that are prepared but not yet appended (unlocked)",
}


def scope(
    *,
    brokers=1,
    clients=1,
    ids=1,
    generations=1,
    epochs=1,
    log=2,
    appends=1,
    protocols=1,
    faults=0,
    topics=1,
    periods=0,
    prepared=0,
) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(
        brokers=brokers,
        clients=clients,
        ids=ids,
        generations=generations,
        epochs=epochs,
        log=log,
        appends=appends,
        protocols=protocols,
        faults=faults,
        topics=topics,
        periods=periods,
        prepared=prepared,
    )


LARGEST = scope(
    brokers=3,
    clients=3,
    ids=5,
    generations=5,
    epochs=4,
    log=6,
    appends=3,
    protocols=2,
    faults=5,
    topics=2,
    periods=3,
    prepared=2,
)
QUICK = scope(ids=2, generations=2, faults=1)
STANDARD = scope(clients=2, ids=3, generations=2, log=3)
ONE_MOVE, ONE_MOVE_AND_FAULT = scope(brokers=2, epochs=2), scope(brokers=2, epochs=2, faults=1)
ONE_CLIENT, FORGOTTEN = scope(ids=2, log=1), scope(brokers=2, ids=2, epochs=2, log=1)
NEXT_TRANSACTION = scope(log=3, appends=2)
TWO_FORGOTTEN = scope(brokers=2, clients=2, ids=2, epochs=2, log=1)
TWO_COORDINATORS = scope(brokers=2, clients=2, ids=2, epochs=2)
THREE_MEMBERS = scope(clients=3, ids=3, generations=2)
TWO_GENERATIONS = scope(brokers=2, clients=2, ids=2, generations=2, epochs=2, log=4)
AGEING = scope(log=3, periods=1)
TWO_PROTOCOLS = scope(clients=2, ids=2, log=1, protocols=2)
ONE_PERIOD_AND_FAULT = scope(faults=1, periods=1)
TWO_MOVES, MOVED_BACK = scope(brokers=2, clients=2, ids=2, epochs=3, log=1), scope(brokers=2, epochs=3)
UNLOADED_LATE = scope(brokers=2, generations=2, epochs=2, periods=1)
NEVER_EMPTY_VERDICTS = {
    scope(generations=2, prepared=1): {"stable_is_stored": 16},
    scope(clients=2, ids=2, generations=2, prepared=1): {"stable_is_stored": 13, "above_stored": 17},
    scope(clients=2, ids=2, generations=2, log=3, prepared=2): {
        "stable_is_stored": 13,
        "no_stale_commit": 16,
        "above_stored": 17,
    },
    scope(log=4, periods=1, prepared=1): {
        "running_group_keeps_offset": 13,
        "expires_by_age": 14,
        "stable_is_stored": 16,
        "cached_is_kept": 17,
    },
    scope(brokers=2, epochs=2, prepared=1): {"durable": 15, "stable_is_stored": 15},
    scope(brokers=2, epochs=2, faults=1, prepared=1): {"durable": 7, "stable_is_stored": 14},
    scope(log=3, appends=2, faults=1, prepared=1): {
        "offset_never_regresses": 14,
        "durable": 14,
        "stable_is_stored": 14,
    },
    scope(brokers=2, ids=2, epochs=2, prepared=1): {"durable": 15, "stable_is_stored": 15, "above_stored": 15},
}
UNLOCKED_VERDICTS = {
    scope(generations=2, prepared=1): {},
    scope(clients=2, ids=2, generations=2, prepared=1): {},
    scope(clients=2, ids=2, generations=2, log=3, prepared=2): {"no_stale_commit": 13, "stable_is_stored": 13},
    scope(log=3, periods=1, prepared=1): {"running_group_keeps_offset": 13},
    scope(brokers=2, epochs=2, prepared=1): {"loaded_is_log": 9, "durable": 15},
    scope(brokers=2, epochs=2, faults=1, prepared=1): {"loaded_is_log": 6, "durable": 7},
    scope(log=3, appends=2, faults=1, prepared=1): {"offset_never_regresses": 14, "durable": 14},
    scope(brokers=2, clients=2, ids=2, epochs=2, prepared=1): {
        "loaded_is_log": 9,
        "above_stored": 11,
        "durable": 15,
        "disjoint_by_number": 18,
    },
}
LOCKED_VERDICTS = {
    QUICK: {},
    STANDARD: {},
    ONE_MOVE: {},
    ONE_MOVE_AND_FAULT: {"durable": 12},
    AGEING: {"running_group_keeps_offset": 11},
    TWO_COORDINATORS: {},
}
GATED_VERDICTS = LOCKED_VERDICTS
HOLDS = {QUICK: {}, STANDARD: {}, ONE_MOVE: {}, TWO_COORDINATORS: {}}
BORN_AGAIN = scope(ids=2, generations=2, log=3, periods=1)
KIP211_VERDICTS = HOLDS | {
    ONE_MOVE_AND_FAULT: {"above_stored": 10, "durable": 12},
    BORN_AGAIN: {"stable_is_stored": 14},
}
LOAD_FAILED = {ONE_MOVE_AND_FAULT: {"above_stored": 14, "durable": 14}}
KIP394_VERDICTS = HOLDS | LOAD_FAILED | {BORN_AGAIN: {"stable_is_stored": 18}}
KIP345_VERDICTS = KIP394_VERDICTS
KIP496_VERDICTS = (
    HOLDS
    | LOAD_FAILED
    | {
        BORN_AGAIN: {"stable_is_stored": 18, "expires_by_group": 20},
        scope(ids=2, generations=2, log=3, topics=2, periods=1): {"expires_by_group": 14, "stable_is_stored": 18},
    }
)
RELOADING_VERDICTS = KIP496_VERDICTS
CURRENT_VERDICTS = {
    QUICK: {},
    STANDARD: {},
    ONE_MOVE: {},
    TWO_COORDINATORS: {},
    THREE_MEMBERS: {},
    TWO_GENERATIONS: {},
    TWO_PROTOCOLS: {},
    scope(clients=2, ids=2, appends=2, faults=1): {"stable_is_stored": 16},
    scope(faults=2): {"durable": 4},
    ONE_PERIOD_AND_FAULT: {"young_offset_stays": 10},
    scope(ids=2, generations=2, log=3, topics=2, periods=2): {"stable_is_stored": 18},
    ONE_MOVE_AND_FAULT: {"above_stored": 14, "durable": 14},
    scope(brokers=2, generations=2, epochs=2, log=3, periods=1): {"stable_is_stored": 18},
    scope(brokers=2, generations=2, epochs=3, log=3): {"no_stale_commit": 17},
    TWO_MOVES: {"assignment_is_stored": 18, "disjoint_by_number": 34},
}
FORGETFUL_VERDICTS = {
    ONE_CLIENT: {},
    FORGOTTEN: {},
    TWO_FORGOTTEN: {},
    ONE_MOVE_AND_FAULT: {"above_stored": 14, "durable": 14},
}
STATIC_VERDICTS = {
    QUICK: {},
    STANDARD: {},
    TWO_COORDINATORS: {},
    scope(clients=2, ids=2, protocols=2): {},
    scope(clients=2, ids=2, log=3): {},
    scope(clients=2, ids=2, faults=1): {"stable_is_stored": 8},
}
LIMITED_VERDICTS = {scope(clients=2, ids=2, log=1): {}, STANDARD: {}, TWO_COORDINATORS: {}}
TRANSACTIONAL_VERDICTS = {
    scope(): {},
    scope(ids=2, generations=2, log=3): {},
    scope(brokers=2, epochs=2, log=3): {},
    scope(log=4, faults=1): {"durable": 7, "stable_is_stored": 17},
}
SCHEDULED_VERDICTS = {
    scope(): {},
    scope(brokers=3, log=3, appends=2): {"durable_when_updated": 8, "counts_when_committed": 9},
    NEXT_TRANSACTION: {"durable_when_updated": 8, "counts_when_committed": 9},
    scope(brokers=2, epochs=2, log=3): {},
}
