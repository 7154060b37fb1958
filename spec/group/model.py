"""The group system: its variants, oldest first, and what is known of each."""

from kafkaproof.spec.group import (
    deletion,
    faults,
    find_coordinator,
    join,
    loading,
    member,
    membership,
    network,
    offsets,
    state,
    static,
    sync,
    transactions,
    validation,
    verdicts,
)
from kafkaproof.spec.group.history import clients as former_clients
from kafkaproof.spec.group.history import group_limited as limited
from kafkaproof.spec.group.history import releases
from kafkaproof.spec.group.history.unlocked import coordinator as unlocked
from kafkaproof.spec.group.properties import answers, cache, clients, deleted, goals, liveness, members, stored
from kafkaproof.spec.group.properties import offsets as commits
from kafkaproof.spec.group.properties import safety as coordinators
from kafkaproof.spec.group.scopes import (
    CURRENT_VERDICTS,
    FORGETFUL_VERDICTS,
    FORGOTTEN,
    GATED_VERDICTS,
    LARGEST,
    LIMITED_VERDICTS,
    LOCKED_VERDICTS,
    MOVED_BACK,
    NEXT_TRANSACTION,
    ONE_CLIENT,
    ONE_MOVE_AND_FAULT,
    ONE_PERIOD_AND_FAULT,
    QUICK,
    SCHEDULED_VERDICTS,
    SIZES,
    STANDARD,
    STATIC_VERDICTS,
    THREE_MEMBERS,
    TRANSACTIONAL_VERDICTS,
    TWO_COORDINATORS,
    TWO_FORGOTTEN,
    TWO_GENERATIONS,
    TWO_MOVES,
    TWO_PROTOCOLS,
    UNLOADED_LATE,
    UNLOCKED_VERDICTS,
    scope,
)
from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.language.model import CONTINUATION, EVENT, TIMER, Arrow, Model, Transition, among
from kafkaproof.spec.language.releases import Releases

BROKER = "broker {b}"
CLIENT = "client {m}"
LOG = "cluster"
SEAMS = (network.answer, network.answer_operator)


def lanes(scope):
    """One lane for each broker, one for each client, one for the offsets partition."""
    brokers = [f"broker {i}" for i in range(scope["brokers"])]
    return brokers + [f"client {i}" for i in range(scope["clients"])] + ["cluster"]


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
EXPIRY = (
    *acting(BROKER, deletion.clean_up, kind=TIMER),
    *acting(BROKER, deletion.remove_dead, deletion.bury, kind=CONTINUATION),
    *declared.faults(faults.time_passes, lane="cluster"),
)
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
COMMON = CLIENTS + REQUESTS + TOOLS + TIMERS + CALLBACKS + LOADING + EXPIRY + FAULTS
DELETION = acting(BROKER, deletion.delete_group, deletion.topic_deleted)
MODERN = (
    acting(CLIENT, member.take_id)
    + asking("Heartbeat", membership.heartbeat_beside)
    + acting(BROKER, membership.expire_pending, membership.sync_timeout, kind=TIMER)
    + acting(BROKER, deletion.delete_offset)
)
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


def model(variant, releases, story, transitions, properties, verdicts, **scopes):
    """A variant of group from its own transitions, its recorded verdicts and its named scopes; `state` is a machine.

    Of the largest scope only safety is asked.
    """
    return Model(
        system="group",
        variant=variant,
        releases=releases,
        story=story,
        state=state.STATE,
        initial=state.initial,
        transitions=transitions,
        properties=among(properties, transitions),
        scope=scopes.pop("standard"),
        largest=LARGEST,
        lanes=lanes,
        seams=SEAMS,
        answers=network.Verdict.names,
        expected=verdicts,
        safety_only=(TWO_GENERATIONS, TWO_MOVES),
        others=scopes,
        sizes=SIZES,
        interchangeable={"brokers": (), "clients": ()},
        projections={"state": ("brokers[*].group.state",)} if "state" in scopes else {},
    )


COORDINATORS = answers.ANSWERS + answers.TRUE + cache.CACHE + stored.STORED + stored.LOCKED + deleted.DELETED
"""What a single step of a coordinator must do, as it has been from 2.8 on."""
EVENTS = clients.CLIENTS + COORDINATORS + stored.REACHED
SHARED = coordinators.SAFETY + commits.SAFETY + members.SAFETY
SAFETY = SHARED + commits.BY_GROUP
BY_AGE = SHARED + commits.BY_AGE
CURRENT = model(
    "current",
    Releases("2.8", "3.9"),
    "A member id is required, and there are no static members.",
    COMMON + MODERN + DELETION,
    SAFETY + EVENTS + goals.GOALS + liveness.LIVENESS,
    CURRENT_VERDICTS,
    standard=STANDARD,
    quick=QUICK,
    deep=TWO_COORDINATORS,
    three=THREE_MEMBERS,
    large=TWO_GENERATIONS,
    state=UNLOADED_LATE,
    moved=ONE_MOVE_AND_FAULT,
    returned=MOVED_BACK,
    voted=TWO_PROTOCOLS,
    aged=ONE_PERIOD_AND_FAULT,
)
UNLOCKED = model(
    "unlocked",
    Releases("0.10.1", "0.10.2"),
    "Records are appended after the group's lock is released: in another order than they were decided. Groups are loaded "
    "up to the high watermark, callbacks in the wrong order take an offset back, and there is no initial delay.",
    COMMON + acting(BROKER, unlocked.append),
    BY_AGE + goals.UNLOCKED + liveness.LIVENESS,
    UNLOCKED_VERDICTS,
    standard=scope(clients=2, ids=2, generations=2, prepared=1),
    quick=scope(generations=2, prepared=1),
    deep=scope(brokers=2, clients=2, ids=2, epochs=2, prepared=1),
).rebound(releases.WAYS_0_10_1)
UNLOCKED = UNLOCKED.rebound(releases.CALLED_0_11)
LOCKED = (
    model(
        "locked",
        Releases("0.11", "1.1"),
        "Records are appended under the group's lock, groups are loaded to the log end, and there is an initial delay. Requests "
        "ask first whether the broker owns the partition, and a sync does not ask whether it loads. DeleteGroups, which is "
        "new in 1.1, is there.",
        COMMON + DELETION,
        BY_AGE + goals.LOCKED + liveness.LIVENESS,
        LOCKED_VERDICTS,
        standard=STANDARD,
        quick=QUICK,
        deep=TWO_COORDINATORS,
    )
    .rebound(releases.WAYS_0_11)
    .rebound(releases.CALLED_0_11)
)
GATED = (
    model(
        "gated",
        Releases("2.0", "2.0"),
        "As locked, but every request asks first whether the partition is loading.",
        COMMON + DELETION,
        BY_AGE + goals.GATED + liveness.LIVENESS,
        GATED_VERDICTS,
        standard=STANDARD,
        quick=QUICK,
        deep=TWO_COORDINATORS,
        state=UNLOADED_LATE,
    )
    .rebound(releases.WAYS_2_0)
    .rebound(releases.CALLED_2_0)
)
STATIC = model(
    "static",
    Releases("2.8", "3.9"),
    "As current, and clients 0 and 1 have the same group.instance.id: whoever comes later takes the place of the "
    "other without a rebalance, and the other is fenced.",
    COMMON + MODERN + REPLACEMENT,
    coordinators.SAFETY + commits.SAFETY + commits.BY_GROUP + members.STATIC + goals.STATIC + liveness.STATIC,
    STATIC_VERDICTS,
    standard=STANDARD,
    quick=QUICK,
    deep=TWO_COORDINATORS,
).rebound({network.instance: network.shared_instance}, interchangeable={"brokers": ()})
LIMITED = model(
    "limited",
    Releases("2.8", "3.9"),
    "As current, with group.max.size=1: there is room for one member.",
    COMMON + MODERN,
    SAFETY + members.LIMITED + goals.LIMITED,
    LIMITED_VERDICTS,
    standard=STANDARD,
    quick=scope(clients=2, ids=2, log=1),
    deep=TWO_COORDINATORS,
).rebound({verdicts.accepts: limited.accepts_one})
TRANSACTIONAL = model(
    "transactional",
    Releases("2.8", "3.9"),
    "As current, and a producer commits offsets of the group with what it writes.",
    COMMON + MODERN + DELETION + TRANSACTIONS,
    SAFETY + commits.TRANSACTIONAL + goals.TRANSACTIONAL,
    TRANSACTIONAL_VERDICTS,
    standard=scope(ids=2, generations=2, log=3),
    quick=scope(),
    deep=scope(brokers=2, epochs=2, log=3),
)
FORGETFUL = model(
    "forgetful",
    Releases("2.8", "3.9"),
    "As current, with clients of 2.4 to 3.1: at the end of its generation, a client forgets its member id, too, and the "
    "coordinator keeps a member that is nobody. Pending members leave, and members in a rebalance.",
    COMMON + MODERN + DELETION,
    SAFETY + clients.FORGETFUL + COORDINATORS + goals.FORGETFUL,
    FORGETFUL_VERDICTS,
    standard=FORGOTTEN,
    quick=ONE_CLIENT,
    deep=TWO_FORGOTTEN,
).rebound({member.tells_to_reset: former_clients.forgets_its_id, member.may_leave: former_clients.leaves_with_an_id})
SCHEDULED = model(
    "scheduled",
    Releases("2.8", "3.9"),
    "As transactional, and a task of its own updates the cache after a marker is stored, as since 1.0: the producer's "
    "next transaction may come before it.",
    COMMON + MODERN + DELETION + TRANSACTIONS + acting(BROKER, transactions.complete_later, kind=CONTINUATION),
    tuple(p for p in SAFETY if p.predicate is not commits.durable) + commits.SCHEDULED,
    SCHEDULED_VERDICTS,
    standard=NEXT_TRANSACTION,
    quick=scope(),
    deep=scope(brokers=2, epochs=2, log=3),
).rebound({transactions.complete: transactions.schedule})
MODELS = (UNLOCKED, LOCKED, GATED, CURRENT, FORGETFUL, STATIC, LIMITED, TRANSACTIONAL, SCHEDULED)
