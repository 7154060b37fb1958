"""The replica system with an idempotent producer: its variants, oldest first, and what is known of each."""

from dataclasses import replace

from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import FAULT, Transition
from kafkaproof.spec.language.releases import Releases
from kafkaproof.spec.replica import model as replicas
from kafkaproof.spec.replica.clients import network as clients
from kafkaproof.spec.replica.producing import network, producer, replica, sequences, state
from kafkaproof.spec.replica.producing.history import unknown as former
from kafkaproof.spec.replica.producing.properties import PRODUCED, TAKEN

KEPT = (
    "committed",
    "committed_stays",
    "log_match",
    "visible_match",
    "isr_complete",
    "hw_in_log",
    "acknowledged_is_visible",
    "truncated_above_hw",
    "waits_for_hw",
    "below_hw_is_committed",
)
"""What is asked of replicas here too; the other properties are about single steps of theirs, which stay as they are."""
REPLACED = {"produce": producer.produce, "receive_answer": replica.receive_answer, "bounce": replica.bounce}
LEFT_OUT = ("consume",)
BUMP = Transition(producer.bump_epoch, "producer", kind=FAULT)
SIZES = replicas.SIZES | {
    "bumps": "epochs that the producer begins after its first",
    "in_flight": "records that the producer has in flight, and that brokers remember of it (5 in Kafka)",
}


def scope(*, bumps=0, in_flight=2, log=2, records=2, **others) -> Size:
    """A scope of `replica`, with the sizes that are added to it."""
    return replicas.scope(log=log, records=records, **others) | Size(bumps=bumps, in_flight=in_flight)


GAP = {"without_gaps": 3}
"""From 2.5 on (KAFKA-14359): of a producer that it does not know a leader takes a later record first."""


KIP_279 = {"isr_complete": 13, "truncated_above_hw": 14, "visible_match": 14, "log_match": 15}


def recorded(verdict, unclean=None, **sizes):
    """The recorded scopes: one record, two, three, a restart with another producer epoch, an unclean election."""
    return {
        scope(log=1, records=1, **sizes): {},
        scope(**sizes): verdict,
        scope(faults=1, bumps=1, **sizes): verdict,
        scope(log=3, records=3, **sizes): verdict,
        scope(epochs=2, unclean=1, **sizes): unclean or verdict,
    }


def lanes(scope):
    """A lane for the producer, and those of `replica`."""
    return ["producer", *replicas.lanes(scope)]


def producing(base, variant, releases, story, expected, *, goals=(), default=None):
    """A variant of `replica` whose producer is idempotent."""
    kept = tuple(each for each in base.transitions if each.name.rpartition(".")[2] not in LEFT_OUT)
    model = replace(
        base,
        variant=variant,
        releases=releases,
        story=story,
        state=state.STATE,
        initial=state.initial,
        transitions=tuple(with_producer(base, each) for each in kept) + (BUMP,),
        properties=tuple(each for each in base.properties if each.name in KEPT) + PRODUCED + goals,
        scope=default or scope(),
        largest=base.largest | Size(bumps=3, in_flight=5),
        lanes=lanes,
        seams=base.seams + (network.take_in_sequence,),
        answers=sequences.Verdict.names,
        expected=expected,
        safety_only=(),
        others={
            "quick": (default or scope()) | Size(log=1, records=1),
            "deep": (default or scope()) | Size(faults=1, bumps=1),
        },
        sizes=SIZES,
    )
    return model.rebound({clients.commit: network.commit_and_tell})


def with_producer(base, transition):
    """A transition of a variant of `replica`, or what stands for it."""
    function = transition.function
    instead = REPLACED.get(function.__name__)
    return replace(transition, function=base.bound(instead) if instead else function)


MODELS = (
    producing(
        replicas.EPOCH101,
        "idempotent-first",
        None,
        "No release by itself, but `epoch101` with the idempotent producers of 0.11.0: one batch is in flight, and a broker "
        "remembers the last batch alone.",
        recorded({}, KIP_279, in_flight=1),
        default=scope(in_flight=1),
    ).rebound({sequences.first_of_unknown: former.out_of_order_unless_first}),
    producing(
        replicas.FENCED,
        "idempotent-unknown",
        None,
        "No release by itself, but `fenced` with the idempotent producers of 1.0 to 2.4: one of whom the leader knows nothing "
        "begins at sequence number 0, or is refused.",
        recorded({}),
    ).rebound({sequences.first_of_unknown: former.unknown_unless_first}),
    producing(
        replicas.CURRENT,
        "idempotent",
        Releases("3.9.1", "3.9.1"),
        "A leader that knows nothing of a producer takes any sequence number (from 2.5 on): if the first batch of two was "
        "refused, the second is taken, and the first never is.",
        recorded(GAP),
        goals=TAKEN,
    ),
)
