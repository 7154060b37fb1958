"""The replication system: its five variants, oldest first, and what is known of each."""

from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import Arrow, Model, Transition
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.replication import replication as now
from kafkaproof.spec.replication.history import kip101, kip279, kip320_first_try, truncate_to_hw, unfenced_replication
from kafkaproof.spec.replication.properties.safety import PROPERTIES
from kafkaproof.spec.replication.properties.steps import KNOWN, REACHED, STEPS

LEADER_LANE = "replica {leader}"
FOLLOWER_LANE = "replica {follower}"
FETCH = Arrow(LEADER_LANE, FOLLOWER_LANE, "record")
TO_LEADER = Arrow("controller", LEADER_LANE, "LeaderAndIsr, epoch {request}", "request")
TO_FOLLOWER = Arrow("controller", FOLLOWER_LANE, "LeaderAndIsr, epoch {request}", "request")
ANSWER = Arrow(LEADER_LANE, FOLLOWER_LANE, "end of epoch", "answer")
ISR_WRITE = Arrow(LEADER_LANE, "controller", "ISR", "request")

COMMON = (
    Transition(now.elect_leader, "controller"),
    Transition(now.controller_shrink_isr, "controller"),
    Transition(now.become_leader, LEADER_LANE, (TO_LEADER,)),
    Transition(now.leader_write, LEADER_LANE),
)


SIZES = {
    "brokers": "replicas, each on a broker of its own; replicas may fail and come back without limit",
    "log": "records that a replica's log can hold",
    "records": "records that are written in all",
    "epochs": "changes of the leader",
}


def scope(*, brokers=3, log=2, records=2, epochs=2) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(brokers=brokers, log=log, records=records, epochs=epochs)


def lanes(scope):
    """One lane for the controller with ZooKeeper, one for each replica."""
    return ["controller"] + [f"replica {i}" for i in range(scope["brokers"])]


def model(variant, releases, story, others, expected, properties=()):
    """A variant of replication from its own transitions, its recorded verdicts and properties of its own."""
    return Model(
        system="replication",
        variant=variant,
        releases=releases,
        story=story,
        state=now.STATE,
        initial=now.initial,
        transitions=COMMON + others,
        properties=PROPERTIES + properties,
        scope=scope(),
        largest=scope(brokers=7, log=8, records=8, epochs=8),
        lanes=lanes,
        abstract=True,
        expected=expected,
        others={"quick": scope(brokers=2), "deep": scope(epochs=3)},
        sizes=SIZES,
        interchangeable={"brokers": ()},
    )


def isr_and_fetch(module, fetch):
    """The leader's and the follower's transitions of one age."""
    return (
        Transition(module.leader_expand_isr, LEADER_LANE, (ISR_WRITE,)),
        Transition(module.leader_shrink_isr, LEADER_LANE, (ISR_WRITE,)),
        Transition(module.leader_inc_high_watermark, LEADER_LANE),
        Transition(fetch, FOLLOWER_LANE, (FETCH,)),
    )


def becoming(function, *arrows):
    """The transition by which a replica becomes a follower."""
    return (Transition(function, FOLLOWER_LANE, (TO_FOLLOWER, *arrows)),)


UNFENCED = isr_and_fetch(unfenced_replication, unfenced_replication.follower_replicate)


def both(weak, strong):
    """The recorded lengths of the shortest counterexamples of the two ISR properties."""
    return {"weak_isr": weak, "strong_isr": strong}


TRUNCATE_TO_HW = model(
    "truncate-to-hw",
    Releases("0.8", "0.10.2"),
    "A follower that hears of the newest request late has fetched a record in the old epoch, but not yet "
    "the high watermark; on taking the request it truncates below what is committed, and stays in the ISR.",
    UNFENCED + becoming(truncate_to_hw.become_follower),
    {
        scope(log=1, records=1, epochs=1): both(9, 9),
        scope(records=1, epochs=1): both(9, 9),
        scope(epochs=1): both(9, 9),
        scope(): both(9, 9),
        scope(brokers=2): both(9, 10),
        scope(epochs=3): both(9, 9),
    },
)
KIP101 = model(
    "kip101",
    Releases("0.11", "1.1"),
    "The new leader knows no larger epoch than the follower's last one: the follower falls back to its "
    "high watermark and loses a committed record, or keeps one that the leader never had.",
    UNFENCED + becoming(kip101.become_follower, ANSWER),
    {
        scope(log=1, records=1, epochs=1): {"strong_isr": 12},
        scope(records=1, epochs=1): {"strong_isr": 12},
        scope(epochs=1): {"strong_isr": 12},
        scope(): both(11, 11),
        scope(brokers=2): both(12, 12),
        scope(epochs=3): both(11, 11),
    },
)
KIP279 = model(
    "kip279",
    Releases("2.0", "2.0"),
    "A follower truncates by the answer of a replica that does not lead in the epoch of the request, and "
    "a leader adds a follower to the ISR before its high watermark has reached its own epoch.",
    UNFENCED + becoming(kip279.become_follower, ANSWER),
    {
        scope(log=1, records=1, epochs=1): {"strong_isr": 12},
        scope(records=1, epochs=1): {"strong_isr": 12},
        scope(epochs=1): {"strong_isr": 12},
        scope(): both(11, 11),
        scope(brokers=2): {},
    },
)
KIP320_FIRST_TRY = model(
    "kip320-first-try",
    None,
    "No release, but a draft of KIP-320: a fetch or a truncation is answered by a leader of another epoch, because only "
    "the epochs of records are compared and not those of leader and follower.",
    isr_and_fetch(kip320_first_try, kip320_first_try.follower_fetch)
    + becoming(kip320_first_try.become_follower)
    + (Transition(kip320_first_try.follower_truncate, FOLLOWER_LANE, (ANSWER,)),),
    {
        scope(log=1, records=1, epochs=1): {},
        scope(records=1, epochs=1): {},
        scope(epochs=1): {},
        scope(brokers=2): {},
        scope(): both(12, 13),
    },
)
KIP320 = model(
    "kip320",
    Releases("2.1", "2.6"),
    "Every request between leader and follower carries the leader epoch; neither violation is reachable.",
    isr_and_fetch(now, now.follower_fetch) + becoming(now.become_follower, ANSWER),
    {
        scope(log=1, records=1, epochs=1): {},
        scope(records=1, epochs=1): {},
        scope(epochs=1): {},
        scope(brokers=2): {},
        scope(): {},
        scope(epochs=3): {},
        scope(log=3, records=3, epochs=3): {},
    },
    KNOWN + STEPS + REACHED,
)
MODELS = (TRUNCATE_TO_HW, KIP101, KIP279, KIP320_FIRST_TRY, KIP320)
