"""The partition's state in ZooKeeper: leader, leader epoch and ISR, each write conditional on the version.

The epoch stands for the version (see `kafkaproof.spec.replica.broker`): a leader's write is refused as soon as the
controller has written. A write whose answer is lost is repeated, and refused because of the version that it wrote
itself. Up to 2.6 the leader then reads, and finds the ISR that it proposed (ReplicationUtils.checkLeaderAndIsrZkData),
so only late answers are modelled. From 2.7 on the controller writes, and does not read: see `faults.lose_answer`.
"""

from kafkaproof.spec.kafka import zookeeper
from kafkaproof.spec.kafka.zookeeper import BADVERSION, OK
from kafkaproof.spec.language.domains import Budget, Choice, Id, Number, Record, SetOf
from kafkaproof.spec.replica.storage import LeaderEpoch

Answer = Choice(
    *zookeeper.Answer.names, "NOT_LEADER", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "NOT_ENOUGH_REPLICAS"
)
NOT_LEADER, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_ENOUGH_REPLICAS = list(Answer)[-4:]

ZOOKEEPER = Record(
    leader=(Id("brokers", nobody=True), "leader"),
    leader_epoch=(LeaderEpoch, "leader epoch"),
    isr=(SetOf("brokers"), "in-sync replicas"),
    unclean=(Number(0, Budget("unclean")), "unclean elections so far"),
    faults=(Number(0, Budget("faults")), "faults so far"),
)


def set_isr(zk, b, epoch, isr):
    """setData of the ISR by the leader of `epoch`, on the version that it knows: OK or BADVERSION."""
    if zk.leader != b or zk.leader_epoch != epoch:
        return BADVERSION
    zk.isr = isr
    return OK


def set_isr_twice(zk, b, epoch, isr):
    """setData of the ISR for the leader of `epoch`. The answer is lost and the write is repeated: BADVERSION."""
    set_isr(zk, b, epoch, isr)
    return BADVERSION


def count_fault(zk):
    """Count a fault."""
    zk.faults += 1
