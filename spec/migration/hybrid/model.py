"""The migration while brokers run with ZooKeeper and the quorum rules: content of control requests."""

from dataclasses import replace

from kafkaproof.spec.kafka.declarations import BROKER, faults
from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import FAULT, Arrow, Model, Transition
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.migration.hybrid import former, hosts, propagator, repaired, users
from kafkaproof.spec.migration.hybrid.properties import HYBRID
from kafkaproof.spec.migration.hybrid.state import QUORUM, STATE, initial, lanes
from kafkaproof.spec.partition.replica import is_news

SIZES = {
    "brokers": "brokers that run with ZooKeeper",
    "topics": "topics of the name, one after the other",
    "changes": "changes: what users create, delete and reassign, and brokers that leave the ISR",
    "failovers": "failovers of the quorum",
    "restarts": "brokers that are shut down",
}
TELL = Arrow(QUORUM, BROKER, "control requests", "request")


def scope(*, brokers=2, topics=2, changes=2, failovers=1, restarts=0) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(brokers=brokers, topics=topics, changes=changes, failovers=failovers, restarts=restarts)


QUICK, THREE = scope(), scope(brokers=3, topics=3, changes=4)
FOUR_CHANGES = scope(changes=4, failovers=2)
ONE_CHANGE = scope(topics=1, changes=1, failovers=0)
RESTART = scope(failovers=0, restarts=1)
ALL_KINDS = scope(restarts=1)
"""Every transition is taken, and every goal reached."""
TOGETHER_SCOPE = scope(failovers=0)
TRANSITIONS = (
    Transition(propagator.tell_all, QUORUM),
    Transition(propagator.tell_change, QUORUM),
    Transition(propagator.tell_newcomer, QUORUM, (TELL,)),
    Transition(hosts.expand_isr, BROKER),
    Transition(hosts.start, BROKER),
    *faults(users.create_topic, users.delete_topic, users.add_replica, users.remove_replica, lane=QUORUM),
    Transition(propagator.fail_over, QUORUM, kind=FAULT),
    *faults(users.shut_down, lane=BROKER),
)
HYBRID_MODEL = Model(
    system="migration",
    variant="hybrid",
    releases=Releases("3.9", "3.9"),
    story="The quorum rules, and tells brokers that run with ZooKeeper what is in its log: reassignments, topics that are "
    "deleted and created again, members that leave the ISR. Whoever runs knows all of it, also after a failover; a broker "
    "that is down when its replica is deleted keeps the log, and refuses a topic that is created again.",
    state=STATE,
    initial=initial,
    transitions=TRANSITIONS,
    properties=HYBRID,
    scope=FOUR_CHANGES,
    largest=scope(brokers=4, topics=4, changes=6, failovers=4, restarts=3),
    lanes=lanes,
    abstract=True,
    others={"quick": QUICK, "deep": THREE},
    sizes=SIZES,
    interchangeable={"brokers": ()},
    expected={**dict.fromkeys((QUICK, FOUR_CHANGES, THREE), {}), RESTART: {"no_log_is_left": 6, "replica_is_told": 8}},
)

TOGETHER = replace(
    HYBRID_MODEL.rebound({users.may_change: repaired.at_once}),
    variant="hybrid-together",
    story="As hybrid, and one delta may have several changes. A topic that is deleted and created again in one delta is "
    "refused by who has the former log, which is deleted only then; nobody has the new one.",
    expected={
        TOGETHER_SCOPE: {"replica_is_told": 5},
        **dict.fromkeys((FOUR_CHANGES, ALL_KINDS), {"replica_is_told": 5, "no_log_is_left": 6}),
    },
    others={"quick": TOGETHER_SCOPE, "deep": THREE},
)
REPAIRED = replace(
    TOGETHER.rebound({propagator.obey_first: repaired.obey_first, propagator.obey_change: repaired.obey_change}),
    variant="hybrid-repaired",
    releases=None,
    story="No release, but 3.9 with what ends the faults found in its control requests: a broker that has registered compares "
    "all that it has with what it is told, and a log of a former topic goes before the new one is told.",
    scope=FOUR_CHANGES | {"restarts": 1},
    expected=dict.fromkeys((RESTART, QUICK, FOUR_CHANGES | {"restarts": 1}, THREE), {}),
    others={"quick": RESTART, "deep": THREE},
)


def exhibit(variant, story, replacements, smallest, violated, more=None):
    """What is repaired, with one former rule: at the smallest scope that shows what it does, and with every transition, where
    `more` is violated.
    """
    return replace(
        REPAIRED.rebound(replacements),
        variant=variant,
        releases=None,
        story=story,
        scope=ALL_KINDS,
        others={"quick": smallest, "deep": THREE},
        expected={smallest: violated, ALL_KINDS: violated | (more or {})},
    )


MODELS = (
    exhibit(
        "epochs-kept",
        "No release, but KAFKA-15109, found and mended before 3.6.0: a member leaves the ISR and the leader epoch stays, so "
        "the leader ignores what it is told, and all that it proposes from then on is refused. LeaderAndIsr needs a "
        "higher leader epoch, as up to 3.6.1. Else as hybrid-repaired.",
        {users.epoch_after_shrink: former.keep_epoch, hosts.may_obey: is_news},
        ONE_CHANGE | {"restarts": 1},
        {"leader_knows_replicas": 3, "leader_knows_isr": 3},
    ),
    exhibit(
        "removed-kept",
        "No release of its own, but KAFKA-16120, up to 3.6.1: a broker that is no replica any more is told to stop, and not "
        "to delete: its log stays. Else as hybrid-repaired.",
        {propagator.deletes_removed: former.keep_removed},
        ONE_CHANGE,
        {"no_log_is_left": 4},
    ),
    exhibit(
        "added-ignored",
        "No release of its own, but KAFKA-16121, up to 3.6.1: a reassignment begins in the same leader epoch, so that the "
        "leader ignores it: the new replica is never in sync. Else as hybrid-repaired.",
        {hosts.may_obey: is_news},
        ONE_CHANGE,
        {"leader_knows_replicas": 3},
    ),
    exhibit(
        "strays-by-name",
        "No release of its own, but KAFKA-16180, 3.6.1: a topic is deleted and created again before the quorum's leader "
        "tells everything. Who has the former log refuses the new topic, and keeps that log, which has the right name. Else "
        "as hybrid-repaired.",
        {hosts.obey_full: former.drop_by_name},
        QUICK,
        {"replica_is_told": 4},
    ),
    exhibit(
        "never-full",
        "No release of its own, but KAFKA-15605 and KAFKA-15799, up to 3.6.0: nobody compares all that he is told with what "
        "he has. A topic whose deletion was not told before a failover stays, in logs and in caches. Else as "
        "hybrid-repaired.",
        {hosts.obey_full: former.obey_as_any, hosts.learn_all: former.learn_as_any},
        ONE_CHANGE | {"failovers": 1},
        {"no_log_is_left": 3, "cache_has_topics": 3},
        {"replica_is_told": 4},
    ),
    REPAIRED,
    TOGETHER,
    HYBRID_MODEL,
)
