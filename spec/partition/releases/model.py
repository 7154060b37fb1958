"""The partition system as in earlier releases, oldest first: each variant is one range, and says what it does otherwise.

The rules that they replace are in `rules`.
"""

from kafkaproof.spec.kafka.declarations import acting, asking
from kafkaproof.spec.language.model import CONTINUATION, EVENT
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.partition import failover, faults, log_dirs, state, triggers, verdicts, zookeeper
from kafkaproof.spec.partition.history import leader_zk, pending_first
from kafkaproof.spec.partition.history import triggers as former
from kafkaproof.spec.partition.history import zkclient_partition as zkclient
from kafkaproof.spec.partition.model import (
    ADMIN_ELECTIONS,
    COMMON,
    EVENTS,
    EXPIRY,
    FOLLOWED_IN_VAIN,
    LOG_DIRS,
    LOST_ANSWER,
    OVERLOOKED,
    PENDING,
    PRESENT,
    QUICK,
    SESSION,
    TWO_FAULTS,
    model,
    scope,
    writing,
)
from kafkaproof.spec.partition.properties import elections as asked
from kafkaproof.spec.partition.properties import former as older
from kafkaproof.spec.partition.properties import goals, writes
from kafkaproof.spec.partition.properties.controllers import WITH_BROKER_EPOCHS
from kafkaproof.spec.partition.properties.rounds import BATCHES, WHOLE_BATCH
from kafkaproof.spec.partition.properties.rounds import GOALS as IN_ROUNDS
from kafkaproof.spec.partition.properties.safety import COMMON as SAFETY_OF_ALL
from kafkaproof.spec.partition.properties.safety import SAFETY, STEP_BY_STEP, WITHOUT_BROKER_EPOCHS
from kafkaproof.spec.partition.releases.rules import (
    FORMER_MOVES,
    UNFENCED,
    UNTIL_0_10,
    UNTIL_0_11,
    UNTIL_1_0,
    UNTIL_2_1,
    UNTIL_2_2,
    UNTIL_2_3,
    UNTIL_2_5,
    UNTIL_2_6,
    UNTIL_3_0,
    UNTIL_3_3,
)

PENDING_FIRST = acting(pending_first.pending_election, failover.move_controller, kind=CONTINUATION)
CHECKED_WRITES = LOST_ANSWER | {"leaderless_for_a_reason": 15}
ONE_FAULT = CHECKED_WRITES | {"no_stale_write": 7, "context_is_zookeeper": 10, "is_served": 11, "is_balanced": 16}
PAIR = scope(partitions=2, epochs=1, leader_epochs=2)
IN_BATCHES = {"is_served_despite_loss": 10, "leaderless_for_a_reason": 19}
TWICE = {"is_served": 15, "not_elected_twice": 16, "is_balanced": 22}
"""From 1.1 to 2.3 with two partitions: both are elected again where the write of one of them met another version."""
OLDEST = ONE_FAULT | {"isr_not_empty": 14}
FOLLOWED = older.UNTIL_2_6 + goals.OF_ALL + goals.SHUTTING_DOWN + goals.LOG_DIRS
"""From 2.1 to 2.6, without those of administrators and of broker epochs."""
WITHOUT_ADMIN_ELECTIONS = SAFETY_OF_ALL + WITH_BROKER_EPOCHS
LEADER_ZK = asking(leader_zk.change_isr) + writing(leader_zk.isr_notification, kind=EVENT)


def rebalancing_if_online(properties):
    """These properties for releases whose automatic rebalance does not ask for the ISR (until 2.5)."""
    return tuple(p.rebound({asked.may_go_back: former.goes_back_if_online}) for p in properties)


def accepting_any_isr(properties):
    """These properties for releases whose controller accepts an ISR with a broker that is not alive (2.7 to 3.2)."""
    return tuple(p.rebound({writes.eligible: former.all_replicas}) for p in properties)


def moving_as_formerly(properties):
    """These properties for releases in which a replica that is Offline does not become ineligible (until 2.2)."""
    return tuple(p.rebound(FORMER_MOVES) for p in rebalancing_if_online(properties))


def without_configuration(transitions):
    """These transitions for releases in which nobody is elected when a configuration changes (until 1.1)."""
    return tuple(t for t in transitions if t.function is not triggers.unclean_enabled)


def any_isr(variant, releases, story):
    """A variant of the releases in which the controller accepts an ISR with a broker that is not alive."""
    return model(
        variant,
        releases,
        story,
        PRESENT,
        accepting_any_isr(SAFETY + STEP_BY_STEP) + older.UNTIL_3_3 + goals.WITH_BROKER_EPOCHS + older.GOALS,
        QUICK,
        TWO_FAULTS,
        {scope(): LOST_ANSWER, scope(brokers=3): LOST_ANSWER, TWO_FAULTS: LOST_ANSWER | OVERLOOKED},
    ).rebound({verdicts.are_eligible: former.whoever_they_are})


ELIGIBLE = model(
    "kip841",
    Releases("3.3", "3.3"),
    "As in the present releases, but no leader is moved by the automatic rebalance while a partition is reassigned.",
    PRESENT,
    SAFETY + STEP_BY_STEP + goals.WITH_BROKER_EPOCHS + older.UNTIL_3_3,
    QUICK,
    TWO_FAULTS,
    {scope(): FOLLOWED_IN_VAIN, scope(brokers=3): FOLLOWED_IN_VAIN, TWO_FAULTS: FOLLOWED_IN_VAIN | OVERLOOKED},
).rebound(UNTIL_3_3)
FAILURES_TOLD = any_isr(
    "failures-told",
    Releases("3.1", "3.2"),
    "As in 2.7 to 3.0, but all brokers are told at once that some are dead, also where that leaves a partition without a "
    "leader.",
).rebound(UNTIL_3_3)
KIP497 = any_isr(
    "kip497",
    Releases("2.7", "3.0"),
    "As in the present releases, but the controller accepts an ISR with a broker that is not alive: when its leader "
    "fails, nobody may be there to lead.",
).rebound(UNTIL_3_0 | UNTIL_3_3)
CANDIDATES = model(
    "rebalance-by-isr",
    Releases("2.6", "2.6"),
    "Leaders write the ISR, and the controller hears of it by notifications. The automatic rebalance asks first whether "
    "the preferred replica is in the ISR.",
    COMMON + ADMIN_ELECTIONS + LEADER_ZK,
    SAFETY + BATCHES + older.UNTIL_3_3 + FOLLOWED + goals.FORCED_ELECTIONS + goals.FROM_2_2,
    QUICK,
    TWO_FAULTS,
    {
        scope(): CHECKED_WRITES,
        scope(brokers=3): CHECKED_WRITES,
        TWO_FAULTS: CHECKED_WRITES | OVERLOOKED | {"led_if_possible": 18, "is_served": 20},
    },
).rebound(UNTIL_2_6 | UNTIL_3_3)
KIP460 = model(
    "kip460",
    Releases("2.4", "2.5"),
    "The first releases in which an administrator asks the controller for an unclean election (KIP-460). Leaders write "
    "the ISR, and the automatic rebalance holds elections in vain where the preferred replica is not in it.",
    COMMON + ADMIN_ELECTIONS + LEADER_ZK,
    rebalancing_if_online(SAFETY)
    + BATCHES
    + older.UNTIL_3_3
    + FOLLOWED
    + goals.FORCED_ELECTIONS
    + goals.FROM_2_2
    + IN_ROUNDS,
    QUICK,
    TWO_FAULTS,
    {
        scope(): CHECKED_WRITES,
        scope(brokers=3): CHECKED_WRITES,
        PAIR: IN_BATCHES,
        TWO_FAULTS: CHECKED_WRITES | OVERLOOKED | {"led_if_possible": 18, "is_served": 20},
    },
).rebound(UNTIL_2_6 | UNTIL_2_5 | UNTIL_3_3)
REPENDINGS_FIRST = model(
    "removal-at-start",
    Releases("2.3", "2.3"),
    "The first release whose new controller takes the replicas of dead brokers out of the ISRs before it elects. An "
    "administrator asks for preferred elections alone, which is not explored here (KIP-183).",
    COMMON + LEADER_ZK,
    rebalancing_if_online(WITHOUT_ADMIN_ELECTIONS) + WHOLE_BATCH + older.UNTIL_3_3 + FOLLOWED + goals.FROM_2_2,
    QUICK,
    TWO_FAULTS,
    {
        scope(): CHECKED_WRITES,
        scope(brokers=3): CHECKED_WRITES,
        TWO_FAULTS: CHECKED_WRITES | OVERLOOKED | {"led_if_possible": 18, "is_served": 20},
    },
).rebound(UNTIL_2_6 | UNTIL_2_3 | UNTIL_3_3)
KIP380 = model(
    "kip380",
    Releases("2.2", "2.2"),
    "The first release with broker epochs: a broker that has gone and come unseen is handled as failed and come again. "
    "A new controller elects, and leaves the replicas of dead brokers in the ISRs.",
    COMMON + LEADER_ZK,
    moving_as_formerly(WITHOUT_ADMIN_ELECTIONS) + WHOLE_BATCH + older.UNTIL_3_3 + FOLLOWED + goals.FROM_2_2,
    QUICK,
    TWO_FAULTS,
    {
        scope(): CHECKED_WRITES,
        scope(brokers=3): CHECKED_WRITES,
        TWO_FAULTS: CHECKED_WRITES | OVERLOOKED | {"led_if_possible": 17, "is_served": 20},
    },
).rebound(UNTIL_2_6 | UNTIL_2_2 | UNTIL_3_3)
CHECKED = model(
    "checked",
    Releases("2.1", "2.1"),
    "The first release whose writes are checked against the epoch (KAFKA-6082). There are no broker epochs: a broker that "
    "goes and comes unseen is told nothing.",
    COMMON + LEADER_ZK,
    moving_as_formerly(WITHOUT_BROKER_EPOCHS)
    + older.UNTIL_2_1
    + older.UNTIL_3_3
    + WHOLE_BATCH
    + FOLLOWED
    + goals.DEAD_MACHINES
    + IN_ROUNDS,
    QUICK,
    TWO_FAULTS,
    {
        scope(): CHECKED_WRITES | {"is_served": 11, "is_balanced": 16},
        scope(brokers=3): CHECKED_WRITES | {"is_served": 11, "is_balanced": 16},
        PAIR: IN_BATCHES | TWICE,
        TWO_FAULTS: CHECKED_WRITES
        | {"led_if_possible": 17, "is_served": 11, "is_balanced": 16, "may_go": 17, "may_go_when_followed": 15}
        | {"preferred_dealt_with": 9},
    },
).rebound(UNTIL_2_6 | UNTIL_2_1 | UNTIL_3_3)


def unchecked(variant, releases, story, transitions, expected, standard=scope(brokers=3)):
    """A variant of the releases in which nothing checks the writes of a controller, and sessions end as they do now."""
    return model(
        variant,
        releases,
        story,
        transitions,
        moving_as_formerly(WITHOUT_BROKER_EPOCHS)
        + older.UNTIL_2_0
        + WHOLE_BATCH
        + older.UNTIL_3_3
        + goals.GOALS
        + IN_ROUNDS,
        standard,
        TWO_FAULTS,
        expected,
    )


LEGACY = unchecked(
    "legacy",
    Releases("2.0", "2.0"),
    "Nothing checks the writes of a controller, and leaders write the ISR: a zombie's election lands after its "
    "successor's, and names a leader whom nobody obeys (KAFKA-6082).",
    COMMON + LEADER_ZK,
    {
        scope(): ONE_FAULT,
        scope(brokers=3): ONE_FAULT,
        PAIR: IN_BATCHES | TWICE,
        scope(faults=2): ONE_FAULT
        | {"queued_left_alone": 9, "no_stale_delete": 10, "led_if_possible": 14, "online_has_leader": 19},
    },
).rebound(UNFENCED | UNTIL_3_3, safety_only=(scope(faults=2),))
UNCONFIGURED = unchecked(
    "unconfigured",
    Releases("1.1", "1.1"),
    "As in 2.0, but the permission of unclean elections elects nobody by itself.",
    without_configuration(COMMON + LEADER_ZK),
    {scope(): ONE_FAULT, scope(brokers=3): ONE_FAULT},
    QUICK,
).rebound(UNFENCED | UNTIL_3_3)


def with_zkclient(model, replaced, **changes):
    """A variant whose client opens new sessions by itself: what was asked of the old session is asked again."""
    return model.rebound(
        UNTIL_3_3
        | replaced
        | {
            failover.reopen: zkclient.reopen,
            faults.expire_session: rebind(faults.expire_session, {zookeeper.disconnect: zkclient.keep_versions}),
        },
        **changes,
    )


JBOD = with_zkclient(
    model(
        "kip112",
        Releases("1.0", "1.0"),
        "The client opens a new session by itself, and the event in progress goes on in it. One log directory of several "
        "may fail (KIP-112), and with that the failure of a broker takes every partition without a live leader offline.",
        SESSION + PENDING + without_configuration(EVENTS) + LEADER_ZK + LOG_DIRS + EXPIRY,
        moving_as_formerly(WITHOUT_BROKER_EPOCHS) + older.UNTIL_1_0 + older.UNTIL_3_3 + goals.GOALS,
        QUICK,
        TWO_FAULTS,
        {scope(): OLDEST, scope(brokers=3): OLDEST},
    ),
    UNTIL_1_0 | {log_dirs.end_thread: zkclient.notify_again},
)
ONE_THREAD = with_zkclient(
    model(
        "one-thread",
        Releases("0.11", "0.11"),
        "As in 0.10.2, but one thread handles one event after the other: none comes between two partitions.",
        SESSION + PENDING + without_configuration(EVENTS) + LEADER_ZK + EXPIRY,
        moving_as_formerly(WITHOUT_BROKER_EPOCHS) + older.UNTIL_0_11 + older.UNTIL_3_3 + goals.OF_ALL + goals.STALE_ISR,
        QUICK,
        TWO_FAULTS,
        {scope(): OLDEST, scope(brokers=3): OLDEST},
    ),
    UNTIL_0_11,
)
ZKCLIENT = with_zkclient(
    model(
        "zkclient",
        Releases("0.10.2", "0.10.2"),
        "The client opens a new session by itself and the event in progress goes on in it, beside another "
        "controller's; the last member of an ISR leaves it, so that nobody is known to have what is committed; and a "
        "request for preferred leaders that names a partition without a state fails every failover.",
        SESSION + PENDING_FIRST + without_configuration(EVENTS) + LEADER_ZK + EXPIRY + acting(zkclient.release_lock),
        moving_as_formerly(WITHOUT_BROKER_EPOCHS)
        + older.UNTIL_0_11
        + older.UNTIL_3_3
        + older.UNTIL_0_10
        + goals.OF_ALL
        + goals.STALE_ISR,
        scope(brokers=3),
        TWO_FAULTS,
        {
            scope(): OLDEST,
            scope(brokers=3): OLDEST,
            scope(faults=2): OLDEST
            | {"queued_left_alone": 9, "no_stale_delete": 10, "led_if_possible": 13, "online_has_leader": 19},
        },
    ),
    UNTIL_0_10,
    state=pending_first.with_pending(state.STATE),
    safety_only=(scope(faults=2),),
)
OLDER = (ZKCLIENT, ONE_THREAD, JBOD, UNCONFIGURED, LEGACY, CHECKED)
MODELS = (*OLDER, KIP380, REPENDINGS_FIRST, KIP460, CANDIDATES, KIP497, FAILURES_TOLD, ELIGIBLE)
