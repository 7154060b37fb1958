"""The consumer system: its variants, oldest first, and what is known of each."""

from kafkaproof.spec.consumer import assignment, faults, member, offsets, rebalance, session, zookeeper
from kafkaproof.spec.consumer.history import consumer_variants as variants
from kafkaproof.spec.consumer.history import orders
from kafkaproof.spec.consumer.properties import safety as properties
from kafkaproof.spec.consumer.properties.events import CONSUMED, EVENTS
from kafkaproof.spec.consumer.properties.liveness import LIVENESS
from kafkaproof.spec.consumer.properties.sessions import SESSIONS
from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import CONTINUATION, EVENT, TIMER, Arrow, Model, Transition
from kafkaproof.spec.language.releases import Releases

LANE = "consumer {c}"
ASK = Arrow(LANE, "zookeeper", "{answer}", "request")
WATCH = Arrow("zookeeper", LANE, "watch", "event")
EXPIRY = Arrow("zookeeper", LANE, "session expired", "event")
SEAMS = (
    zookeeper.open_session,
    zookeeper.create_id,
    zookeeper.look_around,
    zookeeper.list_members,
    zookeeper.read_ids,
    zookeeper.read_topic,
    zookeeper.get_offset,
    zookeeper.set_offset,
    zookeeper.create_owner,
    zookeeper.delete_owner,
)


def lanes(scope):
    """One lane for ZooKeeper, one for each consumer."""
    return ["zookeeper"] + [f"consumer {i}" for i in range(scope["consumers"])]


def asking(*functions, kind=CONTINUATION):
    """Transitions that make a request to ZooKeeper."""
    return tuple(Transition(function, LANE, (ASK,), kind=kind) for function in functions)


FAULTS = declared.faults(faults.shut_down, faults.crash, faults.split_session, lane=LANE) + declared.faults(
    faults.expire_orphan, faults.expire_session, faults.add_partition, faults.lose_brokers, faults.regain_brokers
)
CONSUMER = (
    *asking(session.start, kind=EVENT),
    *asking(
        session.register,
        rebalance.look,
        rebalance.release,
        rebalance.list_group,
        rebalance.read_subscriptions,
        rebalance.read_partitions,
        rebalance.read_offset,
        rebalance.claim,
        rebalance.undo,
    ),
    *asking(offsets.commit, kind=TIMER),
    Transition(session.reopen, LANE, (EXPIRY, ASK)),
    Transition(session.rebalance_registered, LANE, kind=CONTINUATION),
    Transition(session.rebalance_changed, LANE, (WATCH,)),
    Transition(rebalance.retry, LANE, kind=TIMER),
    Transition(offsets.consume, LANE),
)
SIZES = {
    "consumers": "consumers of the one group",
    "partitions": "partitions of the one topic",
    "threads": "threads of each consumer",
    "offsets": "records that are read of a partition",
    "retries": "attempts at a rebalance (rebalance.max.retries)",
    "changes": "departures, crashes, partitions that are added, losses of all brokers: how many in all",
    "expiries": "sessions of living consumers that expire",
    "splits": "sessions opened while the former one is open on the server",
    "losses": "lost answers",
}


def scope(
    *, consumers=2, partitions=1, threads=1, offsets=0, retries=1, changes=0, expiries=0, splits=0, losses=0
) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(
        consumers=consumers,
        partitions=partitions,
        threads=threads,
        offsets=offsets,
        retries=retries,
        changes=changes,
        expiries=expiries,
        splits=splits,
        losses=losses,
    )


def model(variant, releases, story, quick, standard, expected, replacements, goals=properties.GOALS, **named):
    """A variant of consumer from what it replaces, its recorded verdicts, and scopes with names of its own."""
    return Model(
        system="consumer",
        variant=variant,
        releases=releases,
        story=story,
        state=member.STATE,
        initial=member.initial,
        transitions=CONSUMER + FAULTS,
        properties=tuple(p.rebound(replacements) for p in properties.SAFETY + goals + LIVENESS),
        scope=standard,
        largest=scope(
            consumers=6, partitions=6, threads=4, offsets=4, retries=4, changes=4, expiries=4, splits=4, losses=4
        ),
        others={"quick": quick, "deep": scope(consumers=3, partitions=2, retries=2, changes=1), **named},
        sizes=SIZES,
        lanes=lanes,
        seams=SEAMS,
        answers=zookeeper.Answer.names,
        expected=expected,
    ).rebound(replacements)


def goals_without(predicate):
    """The goals but one, which the variant cannot reach."""
    return tuple(goal for goal in properties.GOALS if goal.predicate is not predicate)


DEFAULT = scope(partitions=2, retries=2, changes=1, expiries=1)
EXPIRED = {"deletes_its_own": 24, "one_reader": 20, "reads_its_own": 11, "remembers_claims": 13}
EXPIRY_AND_CHANGE = EXPIRED | {"claims_afresh": 22, "quiet_group_reads_all": 23, "all_read": 23}
UNREAD = {"quiet_group_reads_all": 26, "all_read": 26}
LOST_ANSWER = UNREAD | {"deletes_its_own": 23, "reads_its_own": 23}
UNREGISTERED = {
    "claims_afresh": 19,
    "quiet_group_reads_all": 12,
    "all_read": 12,
    "reads_its_own": 11,
    "remembers_claims": 12,
    "rests_registered": 12,
}
TOPIC_FIRST = {
    member.after_release: orders.then_read_topic,
    member.after_topic: orders.then_list,
    member.after_members: orders.then_decide,
}
READ_FIRST = {
    rebalance.look: orders.look_for_itself,
    zookeeper.look_around: orders.read_own_id,
    rebalance.list_group: orders.list_all,
    rebalance.read_subscriptions: orders.read_members,
    zookeeper.read_ids: orders.read_ids_and_brokers,
    member.after_topic: orders.then_stop,
}
READING_FIRST = model(
    "reading-first",
    Releases("0.8.0", "0.8.1"),
    "A consumer reads the members and the topic before it stops and releases. It waits if it finds its id taken.",
    scope(changes=1),
    DEFAULT,
    {
        scope(consumers=1, splits=1): {"reads_its_own": 11, "remembers_claims": 12},
        scope(changes=1): UNREAD | {"failed_holds_nothing": 18},
        scope(losses=1): UNREAD | {"deletes_its_own": 26, "reads_its_own": 26},
        scope(splits=1): EXPIRED
        | UNREAD
        | {
            "claims_afresh": 21,
            "deletes_its_own": 27,
            "failed_holds_nothing": 19,
            "one_reader": 21,
            "remembers_claims": 12,
        },
        scope(expiries=1): EXPIRED | UNREAD | {"deletes_its_own": 27, "failed_holds_nothing": 17},
        scope(offsets=2): UNREAD | {"offset_never_falls": 30},
        scope(offsets=2, changes=1): UNREAD | {"failed_holds_nothing": 18, "offset_never_falls": 25},
        DEFAULT: EXPIRY_AND_CHANGE | {"deletes_its_own": 26, "failed_holds_nothing": 17},
    },
    {session.register: variants.register_when_free} | READ_FIRST,
).rebound({member.after_release: orders.then_decide_if_listed})
WAITING = model(
    "waiting",
    Releases("0.8.2", "0.8.2"),
    "A consumer stops and releases first, then reads the topic, then the members. It waits if it finds its id taken, "
    "until its former session has expired.",
    scope(consumers=1, splits=1),
    DEFAULT,
    {
        scope(consumers=1, splits=1): {"reads_its_own": 11, "remembers_claims": 12},
        scope(splits=1): EXPIRED | UNREAD | {"claims_afresh": 21, "one_reader": 21, "remembers_claims": 12},
        scope(offsets=2): UNREAD | {"offset_never_falls": 27},
        DEFAULT: EXPIRY_AND_CHANGE,
    },
    {session.register: variants.register_when_free} | TOPIC_FIRST,
)
TOPIC_BEFORE_MEMBERS = model(
    "topic-first",
    Releases("0.9", "0.10.1"),
    "As waiting, but a consumer that finds its id taken by a former session gives up its callback.",
    scope(losses=1),
    DEFAULT,
    {
        scope(consumers=1, splits=1): UNREGISTERED,
        scope(losses=1): LOST_ANSWER,
        scope(splits=1): EXPIRED | UNREGISTERED | {"one_reader": 21},
        scope(expiries=1): EXPIRED | UNREAD,
        scope(offsets=2): UNREAD | {"offset_never_falls": 27},
        DEFAULT: EXPIRY_AND_CHANGE,
    },
    TOPIC_FIRST,
)
CHECKED = model(
    "checked",
    Releases("0.10.2", "1.1"),
    "A consumer reads the members before the topic. It gives up its callback if a former session has its id.",
    scope(losses=1),
    DEFAULT,
    {
        scope(consumers=1, splits=1): UNREGISTERED,
        scope(consumers=1, changes=1, expiries=1): {
            "claims_afresh": 22,
            "quiet_group_reads_all": 23,
            "all_read": 23,
            "reads_its_own": 11,
            "remembers_claims": 13,
        },
        scope(): UNREAD,
        scope(losses=1): LOST_ANSWER,
        scope(splits=1): EXPIRED | UNREGISTERED | {"one_reader": 21},
        scope(expiries=1): EXPIRED | UNREAD,
        scope(offsets=2): UNREAD | {"offset_never_falls": 27},
        scope(offsets=2, expiries=1): EXPIRED | UNREAD | {"offset_never_falls": 25},
        scope(offsets=2, changes=1): UNREAD | {"offset_never_falls": 25},
        scope(partitions=2, retries=2, losses=1): LOST_ANSWER,
        DEFAULT: EXPIRY_AND_CHANGE,
        scope(partitions=3, retries=2, changes=1): {"quiet_group_reads_all": 38, "all_read": 38},
        scope(consumers=3, partitions=2, retries=2, changes=1): {"quiet_group_reads_all": 33, "all_read": 33},
    },
    {},
)
PATIENT = {member.gives_up: variants.never_gives_up}
UNLIMITED = model(
    "unlimited",
    None,
    "No release, but checked with rebalance.max.retries without limit: what goes wrong is not for want of attempts.",
    scope(losses=1),
    scope(partitions=2, changes=1, expiries=1),
    {
        scope(losses=1): LOST_ANSWER,
        scope(expiries=1): EXPIRED | {"quiet_group_reads_all": 46, "all_read": 26},
        scope(changes=1): {},
        scope(partitions=2, changes=1, expiries=1): EXPIRY_AND_CHANGE,
    },
    PATIENT,
)
CLAIM_FIRST = PATIENT | {
    session.register: variants.register_when_free,
    member.after_assignment: variants.claim_first,
    member.after_claims: variants.then_read_offsets,
    member.after_offsets: variants.then_start,
}
ORDERLY = model(
    "orderly",
    None,
    "Attempts without limit, a registration that waits, and offsets read after the claim, which no release does: "
    "while no living process loses its session and no answer is lost, everything holds.",
    scope(partitions=2, offsets=2),
    scope(consumers=3, partitions=2, changes=1),
    {
        scope(consumers=1, changes=1, expiries=1): {
            "claims_afresh": 20,
            "quiet_group_reads_all": 22,
            "all_read": 22,
            "reads_its_own": 11,
            "remembers_claims": 13,
        },
        scope(consumers=1, offsets=1, changes=2, expiries=1, splits=1, losses=1): {
            "claims_afresh": 11,
            "quiet_group_reads_all": 22,
            "all_read": 22,
            "reads_its_own": 11,
            "remembers_claims": 12,
        },
        scope(offsets=2, expiries=1): EXPIRED
        | {"deletes_its_own": 23, "offset_never_falls": 26, "quiet_group_reads_all": 33, "all_read": 26},
        scope(offsets=2, changes=1): {},
        scope(partitions=2, offsets=2): {},
        scope(consumers=3, partitions=2, changes=1): {},
    },
    CLAIM_FIRST,
    EVENTS + SESSIONS + goals_without(properties.read_again) + CONSUMED,
    alone=scope(consumers=1, offsets=1, changes=2, expiries=1, splits=1, losses=1),
)
ROUND_ROBIN = model(
    "roundrobin",
    Releases("0.10.2", "1.1"),
    "As checked, with partition.assignment.strategy=roundrobin.",
    scope(partitions=2, retries=2),
    scope(partitions=3, retries=2, changes=1),
    {
        scope(partitions=2, retries=2): {"quiet_group_reads_all": 33, "all_read": 33},
        scope(partitions=3, retries=2, changes=1): {"quiet_group_reads_all": 38, "all_read": 38},
    },
    {assignment.place_of_owner: assignment.round_robin_owner},
    goals_without(properties.split_topic),
)
CEILING = model(
    "range-ceil",
    None,
    "No release, but checked with the formula of textbooks in place of Kafka's range: unbalanced, and otherwise the "
    "same.",
    scope(partitions=2, retries=2),
    scope(consumers=3, partitions=4),
    {
        scope(partitions=2, retries=2): {"quiet_group_reads_all": 33, "all_read": 33},
        scope(consumers=3, partitions=4): {"quiet_group_reads_all": 36, "all_read": 36},
    },
    {assignment.place_of_owner: assignment.range_ceil_owner},
)
MODELS = (READING_FIRST, WAITING, TOPIC_BEFORE_MEMBERS, CHECKED, UNLIMITED, ORDERLY, ROUND_ROBIN, CEILING)
