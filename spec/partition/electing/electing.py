"""How a broker becomes a candidate, and what must wait for the end of its election."""

from kafkaproof.spec.election.broker_state import ELECTING, IDLE
from kafkaproof.spec.partition.context import Broker
from kafkaproof.spec.partition.failover import reopen as reopen_else
from kafkaproof.spec.partition.zookeeper import session_open, vacant


def stand(s, b: Broker):
    """A broker that hears that there is no /controller becomes a candidate.

    Guards:  there is none; `b` is neither controller nor candidate, and its session is open.
    Effects: it reads /controller next.
    Kafka:   ZookeeperLeaderElector.LeaderChangeListener, 0.8 to 0.10.2; KafkaController.elect, 0.11 to 3.9.
    """
    broker = s.brokers[b]
    if not broker.up or broker.controller.epoch > 0 or broker.doing != IDLE:
        return False
    if not vacant(s.zk) or not session_open(s.zk, b):
        return False

    broker.doing = ELECTING
    return True


def reopen(s, b: Broker):
    """A broker that knows that its session has expired gives up its term and registers again.

    Guards:  those of `failover.reopen`; it is no candidate.
    Request: OK.
    Effects: those of `failover.reopen`.
    Kafka:   KafkaController.Expire, KafkaController.RegisterBrokerAndReelect, 1.1 to 2.2;
             KafkaController.processExpire, processRegisterBrokerAndReelect, 2.3 to 3.9.
    """
    if s.brokers[b].doing != IDLE:
        return False
    if not reopen_else(s, b):
        return False

    return True
