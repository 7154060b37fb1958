"""The offsets system: its variants, and what is known of each."""

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import CONTINUATION, TIMER, Arrow, Model, Transition
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.offsets import members, stores
from kafkaproof.spec.offsets.history import paths
from kafkaproof.spec.offsets.properties import MIGRATION, SAFETY

LANE = "member {m}"
TO_ZOOKEEPER = Arrow(LANE, "zookeeper", "offset", "request")
TO_KAFKA = Arrow(LANE, "coordinator", "offset", "request")
SIZES = {
    "members": "members of the one group",
    "records": "records of the one partition",
    "crashes": "members that crash",
    "expirations": "offsets that expire in Kafka",
}
READING = (Transition(members.begin, LANE), Transition(members.consume, LANE), Transition(members.stop, LANE))
IN_ZOOKEEPER = (Transition(members.commit_to_zookeeper, LANE, (TO_ZOOKEEPER,), kind=TIMER),)
IN_KAFKA = (Transition(members.commit_to_kafka, LANE, (TO_KAFKA,), kind=TIMER),)
IN_BOTH = (
    *IN_ZOOKEEPER,
    *IN_KAFKA,
    Transition(members.copy_to_zookeeper, LANE, (TO_ZOOKEEPER,), kind=CONTINUATION),
    *declared.faults(members.configure_both, members.configure_target, lane=LANE),
)
CRASH = declared.faults(members.crash, lane=LANE)
EXPIRY = declared.faults(members.expire_offset)


def lanes(scope):
    """One lane for ZooKeeper, one for the coordinator, one for each member."""
    return ["zookeeper", "coordinator"] + [f"member {i}" for i in range(scope["members"])]


def scope(*, members=2, records=2, crashes=0, expirations=0) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(members=members, records=records, crashes=crashes, expirations=expirations)


def model(variant, releases, story, expected, steps, replacements, goals=MIGRATION, initial=stores.initial):
    """A variant of offsets from its steps beside reading, what it replaces, and its recorded verdicts."""
    transitions = READING + steps + CRASH
    found = Model(
        system="offsets",
        variant=variant,
        releases=releases,
        story=story,
        state=stores.STATE,
        initial=initial,
        transitions=transitions,
        properties=tuple(p.rebound(replacements) for p in about(transitions, SAFETY + goals)),
        scope=scope(members=3, records=3, crashes=1),
        largest=scope(members=6, records=6, crashes=4, expirations=4),
        others={
            "quick": scope(crashes=1),
            "deep": scope(members=3, records=3, crashes=2, expirations=1),
            "expiring": scope(expirations=1),
        },
        sizes=SIZES,
        interchangeable={"members": ()},
        lanes=lanes,
        abstract=True,
        expected=expected,
    )
    return found.rebound(replacements) if replacements else found


def about(transitions, properties):
    """The properties but those of steps that are not among these transitions."""
    names = {t.function.__name__ for t in transitions}
    return tuple(p for p in properties if not p.of or names.intersection(p.of))


WHILE_OLD = Releases("0.8.2", "1.0")
BACK = {stores.former: paths.from_kafka, stores.target: paths.to_zookeeper}
DUAL = model(
    "dual-commit",
    WHILE_OLD,
    "A group moves from ZooKeeper to Kafka in two steps, and commits to both places in between; the same with members "
    "of 1.1, and with brokers from 1.1.1 on.",
    {
        scope(): {"both_have_it": 13},
        scope(crashes=1): {"begins_at_acknowledged": 10, "both_have_it": 8},
        scope(expirations=1): {"begins_at_acknowledged": 9, "both_have_it": 13},
        scope(members=3, records=3, crashes=1): {"begins_at_acknowledged": 10, "both_have_it": 8},
    },
    IN_BOTH + EXPIRY,
    {},
)
RETURN = model(
    "return",
    WHILE_OLD,
    "A group goes back from Kafka to ZooKeeper by the same two steps.",
    {
        scope(): {"begins_at_acknowledged": 8, "both_have_it": 4},
        scope(crashes=1): {"begins_at_acknowledged": 8, "both_have_it": 4},
        scope(expirations=1): {"begins_at_acknowledged": 3, "both_have_it": 4},
        scope(members=3, records=3, crashes=1): {"begins_at_acknowledged": 9, "both_have_it": 4},
    },
    IN_BOTH + EXPIRY,
    BACK,
    initial=stores.initial_in_kafka,
)
DIRECT = model(
    "direct",
    WHILE_OLD,
    "A group moves from ZooKeeper to Kafka in one step, with dual.commit.enabled=false: it never commits to both places.",
    {
        scope(): {"begins_at_acknowledged": 3},
        scope(crashes=1): {"begins_at_acknowledged": 3},
        scope(expirations=1): {"begins_at_acknowledged": 3},
        scope(members=3, records=3, crashes=1): {"begins_at_acknowledged": 3},
    },
    IN_ZOOKEEPER + IN_KAFKA + declared.faults(paths.configure_at_once, lane=LANE) + EXPIRY,
    {},
    MIGRATION[:2],
)
MISPLACED = model(
    "misplaced",
    Releases("1.1.0", "1.1.0"),
    "Clients that send version 0 of OffsetCommit and OffsetFetch to brokers of 1.1.0, which use another path than others.",
    {
        scope(crashes=1): {"begins_at_acknowledged": 2},
        scope(members=3, records=3, crashes=1): {"begins_at_acknowledged": 2},
    },
    IN_ZOOKEEPER,
    {stores.offset_in_zookeeper: paths.offset_misplaced, stores.put_in_zookeeper: paths.put_misplaced},
    (),
)
REPAIRED = model(
    "repaired",
    None,
    "No release, but dual-commit where a member that begins knows what ZooKeeper has: every offset is copied.",
    {
        scope(): {},
        scope(crashes=1): {},
        scope(expirations=1): {"begins_at_acknowledged": 9},
        scope(members=3, records=3, crashes=1): {},
    },
    IN_BOTH + EXPIRY,
    {stores.checkpoint_at: paths.checkpoint_in_zookeeper},
)
MODELS = (DUAL, RETURN, DIRECT, MISPLACED, REPAIRED)
