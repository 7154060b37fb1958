"""The group system: its variants, oldest first, and what is known of each."""

from spec.group import (
    cluster, faults, join, loading, member, membership, network, offsets, static, storage, sync, verdicts,
)
from spec.language.model import Arrow, Model, Transition, among
from spec.museum import group_classic as classic
from spec.properties import group as coordinators
from spec.properties import group_goals as goals
from spec.properties import group_members as members
from spec.properties import group_offsets as commits
from spec.properties import liveness_group as liveness

BROKER = "broker {b}"
CLIENT = "client {m}"
ASK = Arrow(CLIENT, BROKER, "{answer}", "request")
SEAMS = (network.answer, network.answer_operator)
SIZES = {
    "brokers": "brokers that may coordinate the group",
    "clients": "clients that want to be members",
    "ids": "member ids that may be known at once",
    "generations": "generations of the group",
    "epochs": "leader epochs of the offsets partition: one more than its leader moves",
    "log": "records that the offsets log can hold",
    "appends": "appends to it that are not acknowledged yet",
    "protocols": "protocols that clients may offer",
    "faults": "crashes of brokers or clients, requests given up, and appends that fail: how many in all",
}


def scope(*values):
    """A scope: brokers, clients, ids, generations, epochs, log, appends, protocols, faults."""
    return dict(zip(SIZES, values))




def lanes(scope):
    """One lane for each broker, one for each client, one for the offsets partition."""
    brokers = [f"broker {i}" for i in range(scope["brokers"])]
    return brokers + [f"client {i}" for i in range(scope["clients"])] + ["cluster"]


def asking(*functions):
    """Transitions in which a client's request is handled by a broker."""
    return tuple(Transition(function, BROKER, (ASK,)) for function in functions)


def acting(lane, *functions):
    """Transitions that handle no request."""
    return tuple(Transition(function, lane) for function in functions)


CLIENTS = acting(
    CLIENT, member.joined, member.synced, member.rejoin, member.start_over, member.retry,
    member.give_in, member.leave, member.start, faults.give_up, faults.crash_client,
)
REQUESTS = asking(
    join.first_join, join.join, sync.sync, membership.heartbeat, membership.leave, offsets.commit,
)
TOOLS = asking(offsets.fetch, offsets.reset_offset)
MODERN = acting(CLIENT, member.take_id) + acting(BROKER, membership.expire_pending)
REPLACEMENT = asking(static.static_join) + acting(BROKER, static.static_stored, static.static_not_stored)
DELETION = asking(offsets.delete_group) + acting(BROKER, offsets.remove_dead)
TIMERS = acting(
    BROKER, join.complete_join, join.join_timeout, membership.expire, sync.group_stored,
    sync.group_not_stored, offsets.offset_stored, offsets.offset_not_stored, loading.take_over,
    loading.load, loading.unload, faults.crash,
)
FAULTS = acting("cluster", faults.fail_over)
COMMON = CLIENTS + REQUESTS + TOOLS + TIMERS + FAULTS


def model(variant, story, transitions, properties, expected):
    """A variant of group from its own transitions and its recorded verdicts."""
    return Model(
        system="group",
        variant=variant,
        story=story,
        state=cluster.STATE,
        initial=cluster.initial,
        transitions=transitions,
        properties=among(properties, transitions),
        scope=scope(1, 2, 3, 2, 1, 3, 1, 1, 0),
        largest=scope(3, 3, 5, 5, 4, 6, 3, 2, 5),
        lanes=lanes,
        seams=SEAMS,
        answers=network.Verdict.names,
        expected={(3, 2, 3, 2, 1, 3, 1, 1, 0): {}, **expected},
        others={"quick": scope(1, 1, 2, 2, 1, 2, 1, 1, 1), "deep": scope(2, 2, 2, 1, 2, 2, 1, 1, 0)},
        sizes=SIZES,
        interchangeable={"brokers": (), "clients": ()},
    )


CURRENT = model(
    "current",
    "Groups as they are from 2.6 on, with a member id required and no static members.",
    COMMON + MODERN + DELETION,
    coordinators.SAFETY + commits.SAFETY + members.SAFETY + goals.GOALS + liveness.LIVENESS,
    {
        (1, 1, 2, 2, 1, 2, 1, 1, 1): {},
        (2, 1, 1, 1, 2, 2, 1, 1, 0): {},
        (1, 2, 2, 1, 1, 1, 1, 2, 0): {},
        (1, 2, 3, 2, 1, 3, 1, 1, 0): {},
        (2, 2, 2, 1, 2, 2, 1, 1, 0): {},
        (1, 1, 1, 1, 1, 2, 1, 1, 2): {"durable": 4},
    },
)
CLASSIC = model(
    "classic",
    "Groups as they were in 0.10.1 and 0.10.2: an acknowledged commit may be missing after a failover, and "
    "callbacks in the wrong order take an offset back.",
    COMMON,
    coordinators.SAFETY + commits.SAFETY + members.SAFETY + goals.CLASSIC + liveness.LIVENESS,
    {
        (1, 1, 2, 2, 1, 2, 1, 1, 1): {},
        (1, 2, 3, 2, 1, 3, 1, 1, 0): {},
        (2, 1, 1, 1, 2, 2, 1, 1, 0): {"loaded_is_log": 8, "durable": 12},
        (1, 1, 1, 1, 1, 3, 2, 1, 1): {"offset_never_regresses": 11, "durable": 11},
    },
).rebound({
    verdicts.first_join_verdict: classic.first_join_verdict,
    verdicts.join_verdict: classic.join_verdict,
    verdicts.sync_verdict: classic.sync_verdict,
    verdicts.heartbeat_verdict: classic.heartbeat_verdict,
    verdicts.leave_verdict: classic.leave_verdict,
    verdicts.commit_verdict: classic.commit_verdict,
    verdicts.gate: classic.gate,
    join.prepare_rebalance: classic.prepare_rebalance,
    membership.patience_is_over: classic.patience_is_over,
    offsets.later: classic.later,
    storage.is_readable: storage.is_below_high_watermark,
})
STATIC = model(
    "static",
    "As current, and clients 0 and 1 have the same group.instance.id: whoever comes later takes the place of the "
    "other without a rebalance, and the other is fenced.",
    COMMON + MODERN + REPLACEMENT,
    coordinators.SAFETY + commits.SAFETY + members.STATIC + goals.STATIC + liveness.STATIC,
    {(1, 2, 3, 2, 1, 3, 1, 1, 0): {}, (1, 2, 2, 1, 1, 3, 1, 1, 0): {}, (1, 2, 3, 2, 1, 2, 1, 1, 0): {}, (1, 1, 2, 2, 1, 2, 1, 1, 1): {}},
).rebound({network.instance: network.shared_instance}, interchangeable={"brokers": ()})
MODELS = (CLASSIC, CURRENT, STATIC)
