"""The async-isr system: a draft and what became of it, and what is known of each."""

from dataclasses import replace

from kafkaproof.spec.async_isr import async_isr as now
from kafkaproof.spec.async_isr.properties import GOALS, SAFETY
from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import Arrow, Model, Transition
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.language.sets import contains, is_empty

CONTROLLER, LEADER, FOLLOWER = "controller", "leader", "replica {replica}"
SIZES = {
    "brokers": "replicas; the first leads",
    "log": "records that the leader writes",
    "versions": "changes of the ISR",
}


def scope(*, brokers=2, log=1, versions=2) -> Size:
    """A scope; `SIZES` says what each size means or bounds."""
    return Size(brokers=brokers, log=log, versions=versions)


def lanes(scope):
    """One lane for the controller, one for the leader, one for each follower."""
    return [CONTROLLER, LEADER] + [f"replica {i}" for i in range(1, scope["brokers"])]


def asking(function):
    """A transition by which the leader asks for an ISR."""
    return Transition(function, LEADER, (Arrow(LEADER, CONTROLLER, "AlterPartition", "request"),))


UPDATE = Arrow(CONTROLLER, LEADER, "version {version}", "answer")
MAXIMAL_ISR = Model(
    system="async-isr",
    variant="maximal-isr",
    releases=Releases("2.7", "3.9"),
    story="The high watermark waits for everybody in the ISR that the leader knows or has asked for (KIP-497).",
    state=now.STATE,
    initial=now.initial,
    transitions=(
        Transition(now.controller_shrink_isr, CONTROLLER),
        Transition(now.controller_handle_request, CONTROLLER),
        asking(now.leader_request_shrink),
        asking(now.leader_request_expand),
        Transition(now.leader_handle_update, LEADER, (UPDATE,)),
        Transition(now.leader_write, LEADER),
        Transition(now.follower_replicate, FOLLOWER),
    ),
    properties=SAFETY + GOALS,
    scope=scope(brokers=3, log=2, versions=3),
    largest=scope(brokers=5, log=6, versions=6),
    lanes=lanes,
    abstract=True,
    expected={
        scope(): {},
        scope(versions=1): {},
        scope(brokers=3, log=2): {},
        scope(brokers=3, log=2, versions=3): {},
        scope(brokers=3, log=2, versions=4): {},
    },
    others={"quick": scope(), "deep": scope(brokers=3, log=2, versions=4)},
    sizes=SIZES,
    interchangeable={"brokers": (1,)},
)


def is_proposed(leader, replica):
    """Whether a replica is in the ISR that the leader proposes: what it has asked for, while there is that."""
    return contains(leader.isr if is_empty(leader.pending) else leader.pending, replica)


def counting(count):
    """The model whose high watermark waits for other replicas, in its transitions and in its properties."""
    replacements = {now.is_counted: count}
    properties = tuple(replace(p, predicate=rebind(p.predicate, replacements)) for p in MAXIMAL_ISR.properties)
    return MAXIMAL_ISR.rebound(replacements, properties=properties)


SHRUNK_ISR = replace(
    counting(is_proposed),
    variant="shrunk-isr",
    releases=None,
    story="No release, but a draft: the high watermark waits only for the smaller ISR that the leader has asked for; the "
    "controller has not written it, and may never.",
    expected={
        scope(): {"valid_high_watermark": 3},
        scope(versions=1): {"valid_high_watermark": 3},
        scope(brokers=3, log=2): {"valid_high_watermark": 4, "high_watermark_never_falls": 5},
        scope(brokers=3, log=2, versions=3): {"valid_high_watermark": 4, "high_watermark_never_falls": 5},
        scope(brokers=3, log=2, versions=4): {"valid_high_watermark": 4, "high_watermark_never_falls": 5},
    },
)
MODELS = (SHRUNK_ISR, MAXIMAL_ISR)
