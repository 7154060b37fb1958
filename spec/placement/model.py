"""The placement system: its variants, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka.placement import place_by_id, rack_of, registered_rack
from kafkaproof.spec.language.domains import Scope, Size
from kafkaproof.spec.language.model import FAULT, Model, Transition
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.placement import topic
from kafkaproof.spec.placement.properties import PROPERTIES

SIZES = {
    "brokers": "brokers that may be registered",
    "racks": "racks that a broker may be on",
    "partitions": "partitions that the topic may have",
    "replicas": "replicas that a partition may have",
    "changes": "brokers that are gone for a time",
}
BROKER, TOPIC = "broker {b}", "topic"
WITH_RACKS = {rack_of: registered_rack}


def lanes(scope: Scope) -> list[str]:
    """One lane for the topic, one for each broker."""
    return [TOPIC] + [f"broker {i}" for i in range(scope["brokers"])]


def scope(*, brokers=3, racks=2, partitions=4, replicas=2, changes=0) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(brokers=brokers, racks=racks, partitions=partitions, replicas=replicas, changes=changes)


DEFAULT = scope(brokers=4, partitions=5, replicas=3)
FEW = scope(partitions=5, replicas=3)
NAMED = {"quick": scope(replicas=3, changes=1), "deep": scope(brokers=4, partitions=8)}
UNEVEN = {"leaders_stay_even": 5}
WITHOUT_RACKS = Model(
    system="placement",
    variant="racks",
    releases=Releases("0.10.0", "3.9"),
    story="The replicas of a topic are spread over brokers and racks: for every choice that is made at random, and for "
    "partitions that are added later, when brokers may have come and gone.",
    state=topic.STATE,
    initial=topic.initial,
    transitions=(
        Transition(topic.register, BROKER, kind=FAULT),
        Transition(topic.leave, BROKER, kind=FAULT),
        Transition(topic.create_topic, TOPIC, kind=FAULT),
        Transition(topic.add_partitions, TOPIC, kind=FAULT),
    ),
    properties=tuple(p.rebound(WITH_RACKS) for p in PROPERTIES),
    scope=DEFAULT,
    largest=scope(brokers=6, racks=4, partitions=12, replicas=4, changes=2),
    others=NAMED,
    sizes=SIZES,
    lanes=lanes,
    abstract=True,
    expected=dict.fromkeys([DEFAULT, FEW, *NAMED.values()], UNEVEN),
)
RACKS = WITHOUT_RACKS.rebound(WITH_RACKS)
REPAIRED = replace(
    WITHOUT_RACKS.rebound({place_by_id: topic.place_among_racks}).rebound(WITH_RACKS),
    variant="repaired",
    releases=None,
    story="No release, but racks where partitions that are added go on from the place that the preferred broker of the "
    "first partition has among the racks, not from its place by id.",
    expected=dict.fromkeys([DEFAULT, FEW, *NAMED.values()], {}),
)
MODELS = (RACKS, REPAIRED)
