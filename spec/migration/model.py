"""The migration system: its variants, and what is known of each."""

from dataclasses import replace

from kafkaproof.spec.kafka import zookeeper as kafka
from kafkaproof.spec.kafka.declarations import ZOOKEEPER
from kafkaproof.spec.language.domains import Scope, Size
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.migration import directions, driver, writing, zookeeper
from kafkaproof.spec.migration.history import directions as former_directions
from kafkaproof.spec.migration.history import drivers
from kafkaproof.spec.migration.properties.liveness import LIVENESS
from kafkaproof.spec.migration.properties.safety import SAFETY
from kafkaproof.spec.migration.repaired import CLAIM, REPAIRS, begin_to_rule, new_comes_first, state_is_overlooked
from kafkaproof.spec.migration.state import STATE, initial
from kafkaproof.spec.migration.transitions import (
    BROKERS,
    DRIVERS,
    FAULTS,
    LOG,
    OPERATOR,
    OPERATORS,
    REQUESTS,
    SEAMS,
    USERS,
)

SIZES = {
    "brokers": "brokers",
    "controllers": "controllers of the quorum",
    "epochs": "elections of a controller in ZooKeeper, claims of the quorum among them",
    "quorum_epochs": "epochs of the quorum's leaders",
    "elections": "elections of a leader of the quorum",
    "changes": "changes of metadata: what users create and delete, and other leaders of the partition",
    "records": "records in the log",
    "topics": "ids of topics",
    "faults": "crashes of controllers, expiries of brokers' sessions, lost answers",
    "attempts": "quorums that are provisioned",
    "receivers": "brokers that receive control requests",
}


def scope(
    *,
    brokers=2,
    controllers=2,
    epochs=4,
    quorum_epochs=0,
    elections=2,
    changes=1,
    topics=2,
    faults=0,
    attempts=1,
    receivers=0,
) -> Size:
    """A scope; `SIZES` says what each size means or bounds. The quorum has as many epochs as elections, or more."""
    return Size(
        brokers=brokers,
        controllers=controllers,
        epochs=epochs,
        quorum_epochs=quorum_epochs or elections,
        elections=elections,
        changes=changes,
        records=changes + 3,
        topics=topics,
        faults=faults,
        attempts=attempts,
        receivers=receivers,
    )


def lanes(scope: Scope) -> list[str]:
    """Lanes for ZooKeeper, the log and the operator, and one for each broker and controller."""
    nodes = [f"broker {b}" for b in range(scope["brokers"])] + [f"controller {c}" for c in range(scope["controllers"])]
    return [ZOOKEEPER, LOG, OPERATOR, *nodes]


SMALL = scope(brokers=1, elections=1, faults=1)
"""One broker and one leader of the quorum: every transition is taken."""
ONE_CHANGE = scope(brokers=1, elections=1)
QUICK = scope(brokers=1, changes=0)
FAILOVER = scope(brokers=1)
AGAIN = scope(brokers=1, changes=0, attempts=2, epochs=6)
TOLD = scope(brokers=1, elections=1, changes=0, receivers=1)
LATE_EPOCHS = scope(brokers=1, elections=1, quorum_epochs=6, epochs=6)
TWO_CHANGES = scope(brokers=1, elections=1, changes=2)
LOST_ANSWER = {"ruler_is_heard": 19, "migration_ends": 15, "difference_is_mended": 22}
DEEP = scope(brokers=1, faults=1)

STORES = Model(
    system="migration",
    variant="fenced",
    releases=Releases("3.9", "3.9"),
    story="Kafka's way from ZooKeeper to KRaft, with all ways back: two stores, and one who rules at a time. No write of one "
    "that was deposed lands, and users lose nothing; but a late or a lost answer stops all writes to ZooKeeper, a failover "
    "just behind the copy ends the migration, and after a way back states may be of a higher epoch than the controller.",
    state=STATE,
    initial=initial,
    transitions=BROKERS + DRIVERS + USERS + OPERATORS + FAULTS,
    properties=SAFETY + LIVENESS,
    scope=scope(),
    largest=scope(
        brokers=3,
        controllers=3,
        epochs=8,
        quorum_epochs=6,
        elections=6,
        changes=4,
        topics=4,
        faults=4,
        attempts=2,
        receivers=1,
    ),
    lanes=lanes,
    abstract=True,
    seams=SEAMS,
    answers=kafka.Answer.names,
    others={"quick": SMALL, "deep": DEEP},
    sizes=SIZES,
    interchangeable={"controllers": ()},
    safety_only=(scope(), DEEP),
    expected={
        QUICK: {"ruler_is_heard": 21, "migration_ends": 22},
        SMALL: LOST_ANSWER,
        FAILOVER: {"ruler_is_heard": 21, "agree_at_rest": 30, "migration_ends": 22, "difference_is_mended": 23},
        AGAIN: {"ruler_is_heard": 21, "migration_ends": 22},
        LATE_EPOCHS: {"may_write": 27},
        scope(): {"ruler_is_heard": 23, "agree_at_rest": 32},
        DEEP: {"ruler_is_heard": 19, "agree_at_rest": 30},
    },
).rebound({kafka.set_state: zookeeper.set_state})
"""3.9 without control requests, which change nothing in either store."""
FENCED = replace(STORES, transitions=STORES.transitions + REQUESTS, expected={**STORES.expected, TOLD: {}})
REPAIRED = replace(
    STORES.rebound(CLAIM).rebound(REPAIRS),
    variant="repaired",
    releases=None,
    story="No release, but 3.9 with what ends the faults that are found in it: the first write of /migration is checked, the "
    "log says whether the copy was made, a request that is sent again recognises what it has done, and "
    "synchronisation goes on until nothing differs.",
    expected=dict.fromkeys((QUICK, SMALL, FAILOVER, LATE_EPOCHS, scope()), {}),
)


def exhibit(variant, story, replacements, expected, base=REPAIRED):
    """One former rule, and nothing else that is known to fail; the first of the scopes shows what it does. Liveness is not
    asked where nothing is changed: the stores never differ there.
    """
    others = {"quick": next(iter(expected)), "deep": FAILOVER}
    return replace(
        base.rebound(replacements),
        variant=variant,
        releases=None,
        story=story,
        scope=SMALL,
        others=others,
        safety_only=tuple(size for size in expected if not size["changes"]),
        expected=expected,
    )


MUSEUM = (
    exhibit(
        "unsynchronised",
        "No release of its own, but KAFKA-15010, 3.4: a new leader does not compare the stores, so what its predecessor "
        "had committed and not written to ZooKeeper yet is never written. Else as repaired.",
        {REPAIRS[writing.what_differs]: drivers.nothing_differs},
        dict.fromkeys((ONE_CHANGE, SMALL), {"agree_at_rest": 21, "difference_is_mended": 24}),
    ),
    exhibit(
        "deletions-copied",
        "No release of its own, but KAFKA-15605, up to 3.6.0: a topic whose deletion is pending is copied like any other; "
        "the request stays in ZooKeeper, where nobody reads it, until somebody goes back. Else as repaired.",
        {zookeeper.has_pending: drivers.overlook_deletions},
        dict.fromkeys((ONE_CHANGE, SMALL), {"no_deletion_is_left": 20}),
    ),
    exhibit(
        "version-of-before",
        "No release of its own, but KAFKA-16171, up to 3.6.1: a leader writes with the version of /migration that it read "
        "before it claimed the rule, and if its predecessor wrote in between every write is refused. Else as repaired.",
        {begin_to_rule: drivers.begin_with_version},
        {QUICK: {"ruler_is_heard": 23}, SMALL: {}},
    ),
    exhibit(
        "version-read-late",
        "No release of its own, but KAFKA-16667, 3.6.2 to 3.8: a leader reads /migration again after its claim, but a "
        "server of ZooKeeper may lag, and the version is that of before. Else as repaired.",
        {begin_to_rule: drivers.begin_with_read},
        {QUICK: {"ruler_is_heard": 23}, SMALL: {}},
    ),
    exhibit(
        "polls-once",
        "No release of its own, but KAFKA-16563, up to 3.7.0: a driver that cannot read /migration when it begins never "
        "tries again. Else as repaired.",
        {driver.recover: drivers.recover_once},
        {SMALL: {"migration_ends": 9}},
    ),
    exhibit(
        "heard-early",
        "No release of its own, but KAFKA-17506, up to 3.8.0: a driver that hears that it leads before it has begun is "
        "inactive for ever. Else as repaired.",
        {driver.hear: drivers.hear_early},
        dict.fromkeys((ONE_CHANGE, SMALL), {"migration_ends": 10}),
    ),
    exhibit(
        "created-anew",
        "No release of its own, but a fault of 3.5 to 3.9: a driver compares once, and creates what is new before it deletes "
        "what is gone: a topic that was created again under its name goes from ZooKeeper. Else as repaired.",
        {
            REPAIRS[writing.what_differs]: new_comes_first,
            REPAIRS[writing.end_synchronisation]: writing.end_synchronisation,
        },
        {TWO_CHANGES: {"agree_at_rest": 26, "difference_is_mended": 29}, SMALL: {}},
    ),
    exhibit(
        "half-created",
        "No release of its own, but a fault of 3.5 to 3.9: a leader is lost between a topic and the state of its partition, "
        "and the next one writes the state as if it were there, is refused, and begins again for ever. Else as repaired.",
        {REPAIRS[writing.what_differs]: state_is_overlooked},
        {FAILOVER: {"migration_ends": 30, "difference_is_mended": 30}, SMALL: {}},
    ),
    exhibit(
        "migration-left",
        "No release of its own, but KAFKA-17146 and strimzi#11262: somebody goes back, leaves /migration where it is, and "
        "begins again with a fresh quorum: it takes the copy for made, and makes ZooKeeper like its empty log. Else as "
        "3.9.",
        {directions.delete_migration: former_directions.leave_znode},
        {AGAIN: {"ruler_is_heard": 21, "deleted_as_asked": 37}, SMALL: LOST_ANSWER},
        STORES,
    ),
    exhibit(
        "hasty",
        "No release of its own, but the directions of every release: nobody looks whether ZooKeeper has all that the log "
        "has before the quorum is taken away, and what it has not is lost. Else as repaired.",
        {directions.may_take_away: former_directions.take_away_at_once},
        dict.fromkeys((ONE_CHANGE, SMALL), {"nothing_lost": 22}),
    ),
)
MODELS = (*MUSEUM, REPAIRED, FENCED)
