"""What idempotent producers add to the state of `replica`: what each replica knows of the producer, and the producer.

The producer has one id. Its records are numbered once for all; those from `first[e]` on belong to its epoch `e`, up to
the first of the next epoch, and are sequence numbers 0, 1, ... there. So a record says its epoch and its sequence
number, as a batch does. Not modelled: records that a producer numbers anew when it begins an epoch (KIP-360), and
sequence numbers used again in the same epoch (1.0 to 2.4, after UNKNOWN_PRODUCER_ID).
"""

from kafkaproof.spec.language.domains import Array, Bound, Budget, Number
from kafkaproof.spec.replica.producing.sequences import ENTRY, UNKNOWN
from kafkaproof.spec.replica.state import STATE as REPLICAS
from kafkaproof.spec.replica.state import initial as begin

STATE = REPLICAS.extended_at("brokers", producer=(ENTRY, "what it knows of the producer")).extended_at(
    "clients",
    producer_epoch=(Number(0, Budget("bumps")), "the producer's epoch"),
    first=(Array(Number(0, Bound("records")), Bound("bumps", 1)), "the first record of each producer epoch"),
    told=(Array(Number(0, Bound("log")), "records"), "1 + offset that the producer was told for a record, 0 for none"),
)


def initial(s):
    """As in `replica`; nobody knows the producer."""
    begin(s)
    for broker in s.brokers:
        broker.producer.epoch = UNKNOWN
