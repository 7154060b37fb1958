"""The scopes of the group system, and what is known about each: which properties are violated, and the number of states
in the shortest counterexample.
"""

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
LARGEST = dict(zip(SIZES, (3, 3, 5, 5, 4, 6, 3, 2, 5, 2, 3, 2)))


def scope(
    brokers, clients, ids, generations, epochs, log, appends=1, protocols=1, faults=0, topics=1, periods=0, prepared=0
):
    """A scope."""
    sizes = (brokers, clients, ids, generations, epochs, log, appends, protocols, faults, topics, periods, prepared)
    return dict(zip(SIZES, sizes))


QUICK = scope(1, 1, 2, 2, 1, 2, faults=1)
STANDARD = scope(1, 2, 3, 2, 1, 3)
ONE_MOVE, ONE_MOVE_AND_FAULT = scope(2, 1, 1, 1, 2, 2), scope(2, 1, 1, 1, 2, 2, faults=1)
TWO_COORDINATORS = scope(2, 2, 2, 1, 2, 2)
THREE_MEMBERS = scope(1, 3, 3, 2, 1, 2)
TWO_GENERATIONS = scope(2, 2, 2, 2, 2, 4)
AGEING = scope(1, 1, 1, 1, 1, 3, periods=1)
TWO_PROTOCOLS = scope(1, 2, 2, 1, 1, 1, protocols=2)
ONE_PERIOD_AND_FAULT = scope(1, 1, 1, 1, 1, 2, faults=1, periods=1)
TWO_MOVES, MOVED_BACK = scope(2, 2, 2, 1, 3, 1), scope(2, 1, 1, 1, 3, 2)
UNLOADED_LATE = scope(2, 1, 1, 2, 2, 2, periods=1)
BEHIND = {"loaded_is_log": 8, "durable": 13}
UNLOCKED_VERDICTS = (
    (scope(1, 1, 1, 2, 1, 2, prepared=1), {}),
    (scope(1, 2, 2, 2, 1, 2, prepared=1), {}),
    (scope(1, 2, 2, 2, 1, 3, prepared=2), {"no_stale_commit": 13, "stable_is_stored": 13}),
    (
        scope(2, 2, 2, 1, 2, 2, prepared=1),
        {"loaded_is_log": 9, "above_stored": 11, "durable": 15, "disjoint_by_number": 18},
    ),
)
CLASSIC_VERDICTS = (
    (QUICK, {}),
    (STANDARD, {}),
    (ONE_MOVE, BEHIND),
    (AGEING, {"running_group_keeps_offset": 11}),
    (scope(1, 1, 1, 1, 1, 3, appends=2, faults=1), {"offset_never_regresses": 11, "durable": 11}),
    (scope(2, 1, 1, 1, 2, 2, periods=1), BEHIND | {"running_group_keeps_offset": 11}),
    (TWO_COORDINATORS, BEHIND | {"above_stored": 10, "disjoint_by_number": 16}),
)
MIDDLE_VERDICTS = (
    (QUICK, {}),
    (STANDARD, {}),
    (ONE_MOVE, BEHIND),
    (AGEING, {"running_group_keeps_offset": 11}),
    (TWO_COORDINATORS, BEHIND | {"above_stored": 10, "disjoint_by_number": 16}),
)
CURRENT_VERDICTS = (
    (QUICK, {}),
    (STANDARD, {}),
    (ONE_MOVE, {}),
    (TWO_COORDINATORS, {}),
    (THREE_MEMBERS, {}),
    (TWO_GENERATIONS, {}),
    (TWO_PROTOCOLS, {}),
    (scope(1, 2, 2, 1, 1, 2, appends=2, faults=1), {"stable_is_stored": 16}),
    (scope(1, 1, 1, 1, 1, 2, faults=2), {"durable": 4}),
    (ONE_PERIOD_AND_FAULT, {"young_offset_stays": 10}),
    (scope(1, 1, 2, 2, 1, 3, topics=2, periods=2), {"stable_is_stored": 18}),
    (ONE_MOVE_AND_FAULT, {"above_stored": 14, "durable": 14}),
    (scope(2, 1, 1, 2, 2, 3, periods=1), {"stable_is_stored": 18}),
    (scope(2, 1, 1, 2, 3, 3), {"no_stale_commit": 17}),
    (TWO_MOVES, {"assignment_is_stored": 18, "disjoint_by_number": 34}),
)
STATIC_VERDICTS = (
    (QUICK, {}),
    (STANDARD, {}),
    (TWO_COORDINATORS, {}),
    (scope(1, 2, 2, 1, 1, 2, protocols=2), {}),
    (scope(1, 2, 2, 1, 1, 3), {}),
)
LIMITED_VERDICTS = ((scope(1, 2, 2, 1, 1, 1), {}), (STANDARD, {}), (TWO_COORDINATORS, {}))
TRANSACTIONAL_VERDICTS = (
    (scope(1, 1, 1, 1, 1, 2), {}),
    (scope(1, 1, 2, 2, 1, 3), {}),
    (scope(2, 1, 1, 1, 2, 3), {}),
    (scope(1, 1, 1, 1, 1, 4, faults=1), {"durable": 7, "stable_is_stored": 17}),
)
