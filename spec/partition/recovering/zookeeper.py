"""States that say whether their leader is RECOVERING from an unclean election (KIP-704, 3.2 and later).

The mark is set by an election from outside the ISR and read by the leader, which ignores it: no recovery is implemented,
so it takes itself for RECOVERED and leads at once, and only its next AlterPartition says so. What a controller remembers
of the mark decides nothing besides, since no leader ever asks to be RECOVERING; it is not kept here, and neither is the
mark in LeaderAndIsr.
"""

from kafkaproof.spec.kafka.strategies import recovery_written
from kafkaproof.spec.language.domains import Array, Flag
from kafkaproof.spec.partition import znodes
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.zookeeper import put_state

STATE = znodes.STATE.extended(recovering=(Flag(), "leader_recovery_state is RECOVERING"))
ZOOKEEPER = znodes.ZOOKEEPER.changed(partitions=(Array(STATE, "partitions"), "state of each partition"))


def put_state_and_mark(zk, b, p, epoch, leader, isr, leader_epoch, delivery):
    """Write leader, ISR and epochs of a state, and whether its leader is RECOVERING.

    What was read is what is there: the version has not changed since.
    """
    state = zk.partitions[p]
    if state.leader_epoch != NO_EPOCH:
        by_leader = leader_epoch == state.leader_epoch
        state.recovering = recovery_written(state.recovering, state.isr, leader, by_leader)
    put_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery)
