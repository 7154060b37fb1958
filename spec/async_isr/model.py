"""The async-isr system: a draft and what became of it, and what is known of each."""

from dataclasses import replace

from kafkaproof.spec.async_isr import async_isr as now
from kafkaproof.spec.async_isr.properties import GOALS, SAFETY
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


def scope(*values):
    """A scope: brokers, log, versions."""
    return dict(zip(SIZES, values))


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
    scope=scope(3, 2, 3),
    largest=scope(5, 6, 6),
    lanes=lanes,
    abstract=True,
    expected={(2, 1, 2): {}, (2, 1, 1): {}, (3, 2, 2): {}, (3, 2, 3): {}, (3, 2, 4): {}},
    others={"quick": scope(2, 1, 2), "deep": scope(3, 2, 4)},
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
        (2, 1, 2): {"valid_high_watermark": 3},
        (2, 1, 1): {"valid_high_watermark": 3},
        (3, 2, 2): {"valid_high_watermark": 4, "high_watermark_never_falls": 5},
        (3, 2, 3): {"valid_high_watermark": 4, "high_watermark_never_falls": 5},
        (3, 2, 4): {"valid_high_watermark": 4, "high_watermark_never_falls": 5},
    },
)
MODELS = (SHRUNK_ISR, MAXIMAL_ISR)
