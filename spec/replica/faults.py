"""Faults: each transition here counts as one. Lost and late messages are not faults.

A broker that is down takes no step, and neither does a slow one, so the crash and the return of its process are one
step, taken at its return. Nobody looks at what a dead process knew.
"""

from kafkaproof.spec.replica.broker import Broker, rest
from kafkaproof.spec.replica.network import SENT, arriving, drop_answer, drop_request, refuse, renew_request, withdraw
from kafkaproof.spec.replica.replica import Epoch
from kafkaproof.spec.replica.storage import NO_EPOCH, Offset
from kafkaproof.spec.replica.zookeeper import BADVERSION, set_isr_twice


def bounce(s, b: Broker, hw: Offset):
    """The process of `b` dies, and another starts from the log and a checkpointed high watermark.

    Guards:  the checkpoint `hw` is not newer than the high watermark.
    Effects: all that was in memory is gone. If another broker leads, the controller tells the new process so. Messages
             of the former process may still arrive.
    """
    broker = s.brokers[b]
    if hw > broker.hw:
        return False

    rest(broker, NO_EPOCH)
    broker.hw = hw
    drop_answer(s.network, b)
    if s.network.alters[b].state != SENT:
        withdraw(s.network, b)
    renew_request(s.network, s.zk, b)
    s.zk.faults += 1
    return True


def lose_request(s, b: Broker, epoch: Epoch):
    """LeaderAndIsr to `b` is lost for good: its controller is deposed, or discards the channel (up to 2.0).

    Guards:  the request is in flight.
    Effects: it never arrives.
    """
    if not arriving(s.network, b, epoch):
        return False

    drop_request(s.network, b, epoch)
    s.zk.faults += 1
    return True


def lose_answer(s, sender: Broker):
    """ZooKeeper's answer to the write of a proposed ISR is lost, and the leader is refused although the ISR was
    written.

    The controller's client repeats the write and gets BADVERSION, because its own first write raised the version. The
    leader keeps both ISRs, proposes nothing more, and waits for LeaderAndIsr of a higher epoch.

    Guards:  AlterPartition of the present epoch is in flight.
    Request: BADVERSION, when the write is repeated.
    Effects: the ISR is the proposed one; INVALID_UPDATE_VERSION is sent.
    Kafka:   KafkaController.processAlterIsr, 2.7 to 3.1; Partition.handleAlterIsrResponse, 2.7 to 3.0;
             handleAlterIsrError, 3.1; KafkaController.processAlterPartition, Partition.handleAlterPartitionError, 3.2
             to 3.9.
    """
    alter = s.network.alters[sender]
    if alter.state != SENT or s.zk.leader != sender or s.zk.leader_epoch != alter.epoch:
        return False

    answer = set_isr_twice(s.zk, sender, alter.epoch, alter.isr)
    if answer == BADVERSION:
        refuse(s.network, sender)
    s.zk.faults += 1
    return True
