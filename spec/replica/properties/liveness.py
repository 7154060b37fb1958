"""Liveness of the data plane (L4): followers come into the ISR, and a leader alone in it waits for nobody else."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.fairness import at_last, finitely, strong, weak
from kafkaproof.spec.language.model import eventually, eventually_always
from kafkaproof.spec.language.sets import contains, only
from kafkaproof.spec.replica.broker import LEADER, Broker, in_sync


def leader_leads(s):
    """The leader that ZooKeeper names takes itself for the leader, in whatever epoch."""
    return s.zk.leader != NOBODY and s.brokers[s.zk.leader].state == LEADER


def leader_is_alone(s):
    """It does, and ZooKeeper has nobody else in the ISR."""
    return leader_leads(s) and s.zk.isr == only(s.zk.leader)


def is_in_sync(s, follower: Broker):
    """If elections, writes and removals come to an end, at last every replica is in the ISR (L4)."""
    return contains(s.zk.isr, follower)


def alone_acknowledges(s):
    """Where ZooKeeper has a live leader alone in the ISR for ever, it comes to wait for no other replica, and
    acknowledges acks=all by itself (L4).
    """
    return leader_leads(s) and in_sync(s.brokers[s.zk.leader]) == 1


ANSWERS_COME = (
    strong("leader_and_isr", each=("b",)),
    weak("alter_partition", each=("sender",)),
    weak("learn_isr", each=("b",)),
)
LIVENESS = (
    eventually_always(
        is_in_sync,
        given=ANSWERS_COME
        + (
            weak("send_request", each=("b",)),
            strong("receive_answer", each=("b",)),
            strong("serve_fetch", "serve_epochs", each=("follower",)),
            strong("expand_isr", each=("b", "follower")),
            finitely("elect_leader", "remove_replica", "elect_unclean", "shrink_isr", "learn_refusal", "produce"),
            at_last(leader_leads),
        ),
    ),
    eventually(alone_acknowledges, given=ANSWERS_COME + (at_last(leader_is_alone),)),
)
