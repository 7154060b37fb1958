"""What the expansion of topics adds to the state of `partition`: a request that has read a topic, and not written it."""

from kafkaproof.spec.language.domains import Array, Id, Record, SetOf
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.context import start_process as start
from kafkaproof.spec.partition.reassignment import state as reassignment

EXPANSION = Record(
    of=(Id("partitions"), "a partition of the topic"),
    new=(SetOf("partitions"), "the partitions that are to be added; none without a request"),
    assignments=(
        Array(reassignment.Replicas, "partitions"),
        "the assignments that were read, and those of the new partitions",
    ),
)


def with_requests(state: Record) -> Record:
    """A state in which each broker may have read a topic that is to have more partitions."""
    return state.extended_at("brokers", expansion=(EXPANSION, "a request for more partitions of a topic"))


STATE = with_requests(reassignment.WITH_ALTERATIONS)


def drop_request(expansion):
    """A request for more partitions is over."""
    expansion.of = 0
    expansion.new = 0
    for assignment in expansion.assignments:
        clear(assignment)


def start_process(broker):
    """A process begins, with no request."""
    start(broker)
    drop_request(broker.expansion)
