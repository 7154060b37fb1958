"""What the expansion of topics adds to the state of `partition`: a request that has read a topic, and not written it."""

from kafkaproof.spec.language.domains import NOBODY, Array, Id, Record
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.context import start_process as start
from kafkaproof.spec.partition.reassignment import state as reassignment
from kafkaproof.spec.partition.reassignment.state import initial as begin

EXPANSION = Record(
    of=(Id("partitions", nobody=True), "a partition of the topic"),
    assignments=(Array(reassignment.Replicas, "partitions"), "the assignments that were read"),
)
BROKER = reassignment.BROKER.extended(expansion=(EXPANSION, "a request for more partitions of a topic"))
STATE = reassignment.WITH_ALTERATIONS.changed(brokers=(Array(BROKER, "brokers"), "what each broker knows"))


def initial(s):
    """As without expansions, and nobody asks for one."""
    begin(s)
    for broker in s.brokers:
        drop_request(broker.expansion)


def drop_request(expansion):
    """A request for more partitions is over."""
    expansion.of = NOBODY
    for assignment in expansion.assignments:
        clear(assignment)


def start_process(broker):
    """A process begins, with no request."""
    start(broker)
    drop_request(broker.expansion)
