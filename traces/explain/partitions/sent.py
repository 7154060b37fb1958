"""What a controller's handlers send about a partition, and by which functions of the specification."""

from typing import NamedTuple

from kafkaproof.spec.partition.deletion.network import put_stop
from kafkaproof.spec.partition.network import put_alive, put_halt, put_request, put_update
from kafkaproof.spec.partition.reassignment.network import put_removal

LEADER_AND_ISR, UPDATE_METADATA, STOP_REPLICA = "LeaderAndIsr", "UpdateMetadata", "StopReplica"
ALIVE, HALT = "who is live", "StopReplica without delete"
SENDING = {
    put_request.__name__: LEADER_AND_ISR,
    put_update.__name__: UPDATE_METADATA,
    put_alive.__name__: ALIVE,
    put_halt.__name__: HALT,
    put_stop.__name__: STOP_REPLICA,
    put_removal.__name__: STOP_REPLICA,
}
"""What is sent by each function that puts requests of a controller into the network."""


class Sent(NamedTuple):
    """What a handler sends about the partition: its `kind`, the leader and the ISR in it, and to whom.

    `raised`: by how much its leader epoch is above that before; -1 for none (a text, as other numbers are brokers).
    """

    kind: str
    leader: int
    isr: frozenset[int]
    raised: str
    to: frozenset[int]
