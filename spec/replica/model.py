"""The replica system: its variants, oldest first, and what is known of each."""

from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import FAULT, TIMER, Arrow, Model, Transition, among
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.replica import broker, controller, faults, follower, leader, network, replica, state
from kafkaproof.spec.replica.clients import consumer
from kafkaproof.spec.replica.clients import network as clients
from kafkaproof.spec.replica.history import follower_truncation as former
from kafkaproof.spec.replica.history import leader_writes_isr, shrunk_isr
from kafkaproof.spec.replica.properties import client_events, goals, isr_events, log_events
from kafkaproof.spec.replica.properties.liveness import LIVENESS
from kafkaproof.spec.replica.properties.safety import SAFETY
from kafkaproof.spec.replica.properties.states import PROPOSALS, STATES
from kafkaproof.spec.replica.zookeeper import Answer, set_isr, set_isr_twice

LANE = "broker {b}"
LEADER_TO_ZOOKEEPER = Arrow(LANE, "zookeeper", "{answer}", "request")
REQUEST = Arrow("zookeeper", LANE, "LeaderAndIsr, epoch {epoch}", "request")
SERVED = Arrow(LANE, "broker {follower}", "{answer}", "answer")
ALTERED = Arrow("zookeeper", "broker {sender}", "{answer}", "answer")
GIVEN_UP = Arrow("zookeeper", "broker {sender}", "INVALID_UPDATE_VERSION", "answer")
SEAMS = (network.check, set_isr, set_isr_twice, clients.take_record)
SIZES = {
    "brokers": "brokers, each with a replica of the one partition",
    "log": "records that a log can hold",
    "records": "records that producers write in all",
    "epochs": "changes of the leader",
    "faults": "crashes with a restart, in old variants lost requests, from 2.7 on lost answers: how many in all",
    "min_isr": "min.insync.replicas",
    "unclean": "unclean elections",
}


def scope(*, brokers=2, log=1, records=1, epochs=1, faults=0, min_isr=1, unclean=0) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(
        brokers=brokers, log=log, records=records, epochs=epochs, faults=faults, min_isr=min_isr, unclean=unclean
    )


def lanes(scope):
    """One lane for ZooKeeper with the controller, one for each broker."""
    return ["zookeeper"] + [f"broker {i}" for i in range(scope["brokers"])]


COMMON = (
    Transition(controller.elect_leader, "zookeeper"),
    Transition(controller.remove_replica, "zookeeper"),
    Transition(controller.elect_unclean, "zookeeper"),
    Transition(replica.leader_and_isr, LANE, (REQUEST,)),
    Transition(follower.send_request, LANE, kind=TIMER),
    Transition(follower.receive_answer, LANE),
    Transition(leader.serve_fetch, LANE, (SERVED,)),
    Transition(leader.produce, LANE),
    Transition(consumer.consume, LANE),
    Transition(faults.bounce, LANE, kind=FAULT),
)
PROPOSING = (
    Transition(leader.expand_isr, LANE),
    Transition(leader.shrink_isr, LANE, kind=TIMER),
    Transition(leader.learn_isr, LANE),
    Transition(leader.learn_refusal, LANE),
    Transition(controller.alter_partition, "zookeeper", (ALTERED,)),
    Transition(faults.lose_answer, "zookeeper", (GIVEN_UP,), kind=FAULT),
)
WRITING = (
    Transition(leader_writes_isr.expand_isr, LANE, (LEADER_TO_ZOOKEEPER,)),
    Transition(leader_writes_isr.shrink_isr, LANE, (LEADER_TO_ZOOKEEPER,), kind=TIMER),
)
ASKING = (Transition(former.serve_epochs, LANE, (SERVED,)),)
LOSING = (Transition(faults.lose_request, LANE, kind=FAULT),)
ALWAYS = SAFETY + STATES + log_events.ALWAYS + client_events.ALWAYS + isr_events.ALWAYS + isr_events.ENDS
OBEYED = log_events.HW + isr_events.OBEYED + log_events.ENDS
ANSWERED = OBEYED + log_events.ANSWERED
PROPOSED = goals.PROPOSED + PROPOSALS + isr_events.PROPOSALS + log_events.SERVED


def model(variant, releases, story, transitions, properties, expected):
    """A variant of replica from its own transitions and its recorded verdicts."""
    return Model(
        system="replica",
        variant=variant,
        releases=releases,
        story=story,
        state=state.STATE,
        initial=state.initial,
        transitions=COMMON + transitions,
        properties=among(ALWAYS + properties + LIVENESS, COMMON + transitions),
        scope=scope(faults=1),
        largest=scope(brokers=5, log=5, records=5, epochs=5, faults=5, min_isr=3, unclean=2),
        lanes=lanes,
        seams=SEAMS,
        answers=Answer.names,
        expected=expected,
        others={"quick": scope(), "deep": scope(log=2, records=2, epochs=2, faults=1)},
        sizes=SIZES,
        interchangeable={"brokers": ()},
    )


OUT_OF_RANGE = {
    leader.diverges: former.beyond_end,
    leader.epoch_for: former.own_epoch,
    leader.end_for: former.whole_log,
}
UNFENCED = OUT_OF_RANGE | {
    network.check: network.check_role,
    network.same_epoch: former.any_epoch,
    network.leave_leader: network.keep_waiting,
}
BY_EPOCH = {
    replica.begin_fetching: former.begin_truncating,
    follower.truncation_point: former.cut_at_epoch,
    follower.after_truncation: former.ask_until_known,
}
UNTOLD = {"version_is_mended": 3, "alone_acknowledges": 4, "is_in_sync": 6}
UNTOLD_OF_THREE = {"version_is_mended": 3, "alone_acknowledges": 6, "is_in_sync": 7}
"""Up to 2.0 (KAFKA-2729): a leader that was never told of the present version."""
GIVES_UP = {"alone_acknowledges": 3, "is_in_sync": 4}
GIVES_UP_OF_THREE = {"alone_acknowledges": 6, "is_in_sync": 5}
"""From 2.7 on: a leader that was refused for the version of its own write."""
TO_HW = model(
    "hw",
    Releases("0.9", "0.10.2"),
    "A new follower cuts its log at its own high watermark, which lags one fetch behind: it drops what is "
    "committed, or keeps what its leader never had (KIP-101).",
    WRITING + LOSING,
    goals.EPOCHS + goals.LATE + log_events.HW,
    {
        scope(): {},
        scope(faults=1): UNTOLD
        | {"isr_complete": 7, "stale_leader": 8, "committed": 9, "stable_read": 10, "truncated_above_hw": 12},
        scope(brokers=3, faults=1): UNTOLD_OF_THREE
        | {"isr_complete": 8, "stale_leader": 9, "committed": 10, "stable_read": 11, "truncated_above_hw": 13},
        scope(log=2, records=2, epochs=2, faults=1): UNTOLD
        | {
            "isr_complete": 7,
            "stale_leader": 8,
            "committed": 9,
            "stable_read": 10,
            "committed_stays": 11,
            "visible_match": 11,
            "below_hw_is_committed": 11,
            "truncated_above_hw": 12,
        },
    },
).rebound(
    UNFENCED
    | {
        replica.restarts: former.restarts_for_another_leader,
        replica.begin_fetching: former.begin_at_high_watermark,
        follower.truncation_point: former.cut_at_offset,
        leader.may_join: leader_writes_isr.has_caught_up,
    }
)
EPOCH101 = model(
    "epoch101",
    Releases("0.11", "1.1"),
    "A new follower asks where its last epoch ends; the answer is an offset alone, so that after quick changes "
    "of leader records of different epochs stay in place (KIP-279).",
    WRITING + ASKING + LOSING,
    goals.TOLD + goals.LATE + log_events.HW,
    {
        scope(): {},
        scope(faults=1): UNTOLD,
        scope(brokers=3, faults=1): UNTOLD_OF_THREE | {"stale_leader": 12, "isr_complete": 12},
        scope(log=2, records=2, epochs=2, faults=1): UNTOLD
        | {"isr_complete": 12, "truncated_above_hw": 14, "visible_match": 14},
    },
).rebound(
    UNFENCED
    | {
        replica.restarts: former.restarts_for_another_leader,
        replica.begin_fetching: former.begin_truncating,
        follower.truncation_point: former.cut_at_offset,
        leader.may_join: leader_writes_isr.has_caught_up,
    }
)
EPOCH279 = model(
    "epoch279",
    Releases("2.0.1", "2.0.1"),
    "The follower truncates at the right place, but fetches from, and is counted by, leaders of another epoch "
    "than its own (KIP-320).",
    WRITING + ASKING + LOSING,
    goals.TOLD + goals.LATE + log_events.HW,
    {
        scope(): {},
        scope(faults=1): UNTOLD,
        scope(brokers=3, faults=1): UNTOLD_OF_THREE,
        scope(log=2, records=2, epochs=2, faults=1): UNTOLD
        | {"isr_complete": 13, "truncated_above_hw": 14, "visible_match": 16},
    },
).rebound(UNFENCED | BY_EPOCH | {replica.restarts: former.restarts_after_a_gap})
JOIN_AT_HW = model(
    "join-at-hw",
    None,
    "No release, but fenced with the rule of 2.0.0 for joining: a follower joins the ISR as soon as it has reached the "
    "high watermark of a new leader, which is behind what was committed before (KAFKA-7128).",
    WRITING + ASKING,
    goals.TOLD + OBEYED,
    {
        scope(): {},
        scope(faults=1): {},
        scope(log=2, records=2, epochs=2, faults=1): {},
        scope(brokers=3, faults=1): {"stale_leader": 12, "isr_complete": 12},
    },
).rebound(OUT_OF_RANGE | BY_EPOCH | {leader.may_join: leader_writes_isr.has_caught_up})
FENCED = model(
    "fenced",
    Releases("2.1", "2.6"),
    "Every request between leader and follower carries the leader epoch, and a follower joins the ISR when it "
    "has all of the former epochs.",
    WRITING + ASKING,
    goals.TOLD + OBEYED,
    {
        scope(): {},
        scope(faults=1): {},
        scope(log=2, records=2, epochs=2, faults=1): {},
        scope(brokers=3, faults=1): {},
        scope(brokers=3, epochs=2): {"isr_complete": 13},
    },
).rebound(OUT_OF_RANGE | BY_EPOCH)
SHRUNK_ISR = model(
    "shrunk-isr",
    None,
    "No release, but a draft of 2.7: the high watermark advances by a proposed smaller ISR; the controller has elected "
    "one who is not in it.",
    PROPOSING,
    PROPOSED + isr_events.OBEYED + log_events.ENDS + log_events.ANSWERED,
    {
        scope(): {"isr_complete": 3, "stale_leader": 5, "committed": 5, "stable_read": 6, "truncated_above_hw": 8},
        scope(faults=1): GIVES_UP
        | {"isr_complete": 3, "stale_leader": 5, "committed": 5, "stable_read": 6, "truncated_above_hw": 8},
        scope(brokers=3, faults=1): GIVES_UP_OF_THREE
        | {"isr_complete": 5, "stale_leader": 7, "committed": 8, "stable_read": 9, "truncated_above_hw": 11},
        scope(log=2, records=2, epochs=2, faults=1): GIVES_UP
        | {
            "isr_complete": 3,
            "stale_leader": 5,
            "committed": 5,
            "stable_read": 6,
            "committed_stays": 7,
            "visible_match": 7,
            "below_hw_is_committed": 7,
            "truncated_above_hw": 8,
        },
    },
).rebound({broker.is_counted: shrunk_isr.is_proposed})
LATE_ANSWER = model(
    "late-answer",
    Releases("2.8", "3.9.0"),
    "A follower accepts the answer to a fetch of an earlier epoch if the offset is right (KAFKA-18991).",
    PROPOSING,
    PROPOSED + goals.LATE + log_events.HW + log_events.ENDS,
    {
        scope(): {},
        scope(faults=1): GIVES_UP,
        scope(log=2, records=2, epochs=2, faults=1): GIVES_UP,
        scope(brokers=3, faults=1): GIVES_UP_OF_THREE,
        scope(epochs=3): {"truncated_above_hw": 15, "isr_complete": 15},
    },
).rebound({network.same_epoch: former.any_epoch, network.leave_leader: network.keep_waiting})
CURRENT = model(
    "current",
    Releases("3.9.1", "3.9.1"),
    "Fetches and their answers carry the leader epoch, and the high watermark waits for the maximal ISR. A leader "
    "that is refused its own write waits so until the next leader epoch. One that leads again, and missed that another "
    "broker led, counts what a follower has truncated since.",
    PROPOSING,
    PROPOSED + ANSWERED,
    {
        scope(): {},
        scope(log=2, records=2, epochs=2, faults=1): GIVES_UP,
        scope(faults=1): GIVES_UP,
        scope(brokers=3): {},
        scope(brokers=3, faults=1): GIVES_UP_OF_THREE,
        scope(brokers=3, epochs=2): {"isr_complete": 15},
        scope(epochs=2, faults=1, min_isr=2, unclean=1): GIVES_UP,
    },
).rebound({}, safety_only=(scope(brokers=3, epochs=2),))
MODELS = (TO_HW, EPOCH101, EPOCH279, JOIN_AT_HW, FENCED, SHRUNK_ISR, LATE_ANSWER, CURRENT)
