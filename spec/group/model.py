"""The group system: its variants, oldest first, and what is known of each."""

from collections.abc import Mapping

from kafkaproof.spec.group import member, network, state, transactions, verdicts
from kafkaproof.spec.group.history import clients as former_clients
from kafkaproof.spec.group.history import group_limited as limited
from kafkaproof.spec.group.history import releases
from kafkaproof.spec.group.history.never_empty import offsets as never_empty
from kafkaproof.spec.group.history.unlocked import coordinator as unlocked
from kafkaproof.spec.group.properties import answers, apart, cache, clients, deleted, goals, liveness, members, stored
from kafkaproof.spec.group.properties import offsets as commits
from kafkaproof.spec.group.properties import safety as coordinators
from kafkaproof.spec.group.scopes import (
    CURRENT_VERDICTS,
    FORGETFUL_VERDICTS,
    FORGOTTEN,
    GATED_VERDICTS,
    KIP211_VERDICTS,
    KIP345_VERDICTS,
    KIP394_VERDICTS,
    KIP496_VERDICTS,
    LARGEST,
    LIMITED_VERDICTS,
    LOCKED_VERDICTS,
    MOVED_BACK,
    NEVER_EMPTY_VERDICTS,
    NEXT_TRANSACTION,
    ONE_CLIENT,
    ONE_MOVE_AND_FAULT,
    ONE_PERIOD_AND_FAULT,
    QUICK,
    RELOADING_VERDICTS,
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
from kafkaproof.spec.group.transitions import (
    BESIDE,
    BROKER,
    COMMON,
    COMPLETION,
    DELETION,
    EARLIEST,
    MODERN,
    OFFSET_DELETION,
    PENDING,
    REFUSALS,
    REPLACEMENT,
    TRANSACTIONS,
    acting,
)
from kafkaproof.spec.language.model import TIMER, Model, among
from kafkaproof.spec.language.releases import Releases

SEAMS = (network.answer, network.answer_operator)


def lanes(scope):
    """One lane for each broker, one for each client, one for the offsets partition."""
    brokers = [f"broker {i}" for i in range(scope["brokers"])]
    return brokers + [f"client {i}" for i in range(scope["clients"])] + ["cluster"]


def model(
    variant, releases, story, transitions, properties, verdicts, *, ways: Mapping = {}, called: Mapping = {}, **scopes
):
    """A variant of group from its own transitions, its recorded verdicts and its named scopes; `state` is a machine.

    Of the named scopes, `scopes` has those that are not the usual ones. In `ways` and then in `called` are functions of
    earlier releases, by those that they stand for. Of the largest scope only safety is asked.
    """
    made = Model(
        system="group",
        variant=variant,
        releases=releases,
        story=story,
        state=state.STATE,
        initial=state.initial,
        transitions=transitions,
        properties=among(properties, transitions),
        scope=scopes.pop("standard", STANDARD),
        largest=LARGEST,
        lanes=lanes,
        seams=SEAMS,
        answers=network.Verdict.names,
        expected=verdicts,
        safety_only=(TWO_GENERATIONS, TWO_MOVES),
        others={"quick": QUICK, "deep": TWO_COORDINATORS} | scopes,
        sizes=SIZES,
        interchangeable={"brokers": (), "clients": ()},
        projections={"state": ("brokers[*].group.state",)} if "state" in scopes else {},
    )
    return made.rebound(ways).rebound(called)


COORDINATORS = answers.ANSWERS + answers.TRUE + cache.CACHE + stored.STORED + stored.LOCKED + deleted.DELETED
"""What a single step of a coordinator must do, as it has been from 2.8.1 on."""
EVENTS = clients.CLIENTS + COORDINATORS + stored.REACHED
FORMER_EVENTS = clients.FORGETFUL + COORDINATORS + stored.REACHED
WITHOUT_SYNC_TIMEOUT = tuple(p for p in FORMER_EVENTS if p.of != ("sync_timeout",))
WITHOUT_HEARTBEAT_BESIDE = tuple(p for p in WITHOUT_SYNC_TIMEOUT if p.of != ("heartbeat_beside",))
SHARED = coordinators.SAFETY + commits.SAFETY + members.SAFETY
SAFETY = SHARED + commits.BY_GROUP
BY_AGE = SHARED + commits.BY_AGE
SINCE_2_8_1 = Releases("2.8.1", "3.9")
CURRENT = model(
    "current",
    SINCE_2_8_1,
    "A member id is required, and there are no static members.",
    COMMON + MODERN + DELETION,
    SAFETY + EVENTS + goals.GOALS + liveness.LIVENESS,
    CURRENT_VERDICTS,
    three=THREE_MEMBERS,
    large=TWO_GENERATIONS,
    state=UNLOADED_LATE,
    moved=ONE_MOVE_AND_FAULT,
    returned=MOVED_BACK,
    voted=TWO_PROTOCOLS,
    aged=ONE_PERIOD_AND_FAULT,
)
NEVER_EMPTY = model(
    "never-empty",
    Releases("0.9", "0.10.0"),
    "As unlocked, and no group is Empty: one whose last member is gone is Dead at once, and its record gets a tombstone. "
    "Offsets are in a cache of their own, where they expire and are loaded with or without a group.",
    EARLIEST + acting(BROKER, unlocked.append) + acting(BROKER, never_empty.expire_offset, kind=TIMER),
    coordinators.SAFETY + apart.APART + members.SAFETY + goals.NEVER_EMPTY + liveness.LIVENESS,
    NEVER_EMPTY_VERDICTS,
    standard=scope(clients=2, ids=2, generations=2, prepared=1),
    quick=scope(generations=2, prepared=1),
    deep=scope(brokers=2, ids=2, epochs=2, prepared=1),
    ways=releases.WAYS_0_9,
    called=releases.CALLED_0_9,
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
    ways=releases.WAYS_0_10_1,
    called=releases.CALLED_0_11,
)
LOCKED = model(
    "locked",
    Releases("0.11", "1.1"),
    "Records are appended under the group's lock, groups are loaded to the log end, and there is an initial delay. Requests "
    "ask first whether the broker owns the partition, and a sync does not ask whether it loads. DeleteGroups, which is "
    "new in 1.1, is there.",
    COMMON + DELETION,
    BY_AGE + goals.LOCKED + liveness.LIVENESS,
    LOCKED_VERDICTS,
    ways=releases.WAYS_0_11,
    called=releases.CALLED_0_11,
)
GATED = model(
    "gated",
    Releases("2.0", "2.0"),
    "As locked, but every request asks first whether the partition is loading.",
    COMMON + DELETION,
    BY_AGE + goals.GATED + liveness.LIVENESS,
    GATED_VERDICTS,
    state=UNLOADED_LATE,
    ways=releases.WAYS_2_0,
    called=releases.CALLED_2_0,
)
KIP211 = model(
    "kip211",
    Releases("2.1", "2.1"),
    "As gated, and offsets expire with the group (KIP-211), in a running group never.",
    COMMON + DELETION,
    SAFETY + goals.GATED + liveness.LIVENESS,
    KIP211_VERDICTS,
    ways=releases.WAYS_2_1,
    called=releases.CALLED_2_0,
)
KIP394 = model(
    "kip394",
    Releases("2.2", "2.2"),
    "As kip211, and a member id is required (KIP-394).",
    COMMON + PENDING + DELETION,
    SAFETY + goals.KIP394 + liveness.LIVENESS,
    KIP394_VERDICTS,
    ways=releases.WAYS_2_1,
    called=releases.CALLED_2_2,
)
KIP345 = model(
    "kip345",
    Releases("2.3", "2.3"),
    "As kip394, a Dead group is not available, and a heartbeat of another generation is refused in every state. Static "
    "members, which are new here (KIP-345), are only in static.",
    COMMON + PENDING + DELETION,
    SAFETY + goals.KIP394 + liveness.LIVENESS,
    KIP345_VERDICTS,
    ways=releases.WAYS_2_3,
)
KIP496 = model(
    "kip496",
    Releases("2.4", "2.6.0"),
    "As kip345, an offset can be deleted (KIP-496) and expires in a running group that does not subscribe to its topic, and a "
    "commit of another generation is refused in every state.",
    COMMON + PENDING + OFFSET_DELETION + DELETION,
    SAFETY + WITHOUT_HEARTBEAT_BESIDE + goals.GOALS + liveness.LIVENESS,
    KIP496_VERDICTS,
    ways=releases.WAYS_2_4,
)
RELOADING = model(
    "reloading",
    Releases("2.6.1", "2.8.0"),
    "As kip496, and a heartbeat while the assignment is awaited is answered with NONE. A broker that is elected again "
    "still loads again, and members that send no sync stay.",
    COMMON + PENDING + BESIDE + OFFSET_DELETION + DELETION,
    SAFETY + WITHOUT_SYNC_TIMEOUT + goals.GOALS + liveness.LIVENESS,
    RELOADING_VERDICTS,
    ways=releases.WAYS_2_6_1,
)
STATIC = model(
    "static",
    SINCE_2_8_1,
    "As current, and clients 0 and 1 have the same group.instance.id: whoever comes later takes the place of the "
    "other without a rebalance, and the other is fenced.",
    COMMON + MODERN + REPLACEMENT,
    coordinators.SAFETY + commits.SAFETY + commits.BY_GROUP + members.STATIC + goals.STATIC + liveness.STATIC,
    STATIC_VERDICTS,
).rebound({network.instance: network.shared_instance}, interchangeable={"brokers": ()})
LIMITED = model(
    "limited",
    SINCE_2_8_1,
    "As current, with group.max.size=1: there is room for one member.",
    COMMON + MODERN,
    SAFETY + members.LIMITED + goals.LIMITED,
    LIMITED_VERDICTS,
    quick=scope(clients=2, ids=2, log=1),
).rebound({verdicts.accepts: limited.accepts_one})
TRANSACTIONAL = model(
    "transactional",
    SINCE_2_8_1,
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
    SINCE_2_8_1,
    "As current, with clients of 2.4 to 3.1: one that is told ILLEGAL_GENERATION forgets its member id, too, and the "
    "coordinator keeps a member that is nobody. Pending members leave, and members in a rebalance; "
    "joins may have another protocol type, and commits a topic that does not exist.",
    COMMON + MODERN + DELETION + REFUSALS,
    SAFETY + clients.FORGETFUL + COORDINATORS + answers.REFUSALS + goals.FORGETFUL,
    FORGETFUL_VERDICTS,
    standard=FORGOTTEN,
    quick=ONE_CLIENT,
    deep=TWO_FORGOTTEN,
).rebound({member.tells_to_reset: former_clients.forgets_its_id, member.may_leave: former_clients.leaves_with_an_id})
SCHEDULED = model(
    "scheduled",
    SINCE_2_8_1,
    "As transactional, and a task of its own updates the cache after a marker is stored, as since 1.1.1: the producer's "
    "next transaction may come before it.",
    COMMON + MODERN + DELETION + TRANSACTIONS + COMPLETION,
    tuple(p for p in SAFETY if p.predicate is not commits.durable) + commits.SCHEDULED,
    SCHEDULED_VERDICTS,
    standard=NEXT_TRANSACTION,
    quick=scope(),
    deep=scope(brokers=2, epochs=2, log=3),
).rebound({transactions.complete: transactions.schedule})
MODELS = (
    NEVER_EMPTY,
    UNLOCKED,
    LOCKED,
    GATED,
    KIP211,
    KIP394,
    KIP345,
    KIP496,
    RELOADING,
    CURRENT,
    FORGETFUL,
    STATIC,
    LIMITED,
    TRANSACTIONAL,
    SCHEDULED,
)
