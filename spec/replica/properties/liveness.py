"""Liveness of the data plane (L4): followers join the ISR, and a leader alone in it waits for nobody else."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.fairness import at_last, finitely, strong, weak
from kafkaproof.spec.language.model import eventually, eventually_always
from kafkaproof.spec.language.sets import contains, only
from kafkaproof.spec.replica.broker import LEADER, Broker, in_sync


def leader_leads(s):
    """The leader that ZooKeeper names believes it leads, in any epoch."""
    return s.zk.leader != NOBODY and s.brokers[s.zk.leader].state == LEADER


def leader_is_alone(s):
    """The leader that ZooKeeper names believes it leads, and ZooKeeper has no other replica in the ISR."""
    return leader_leads(s) and s.zk.isr == only(s.zk.leader)


def is_in_sync(s, follower: Broker):
    """If elections, writes and removals come to an end, eventually every replica is in the ISR (L4)."""
    return contains(s.zk.isr, follower)


def alone_acknowledges(s):
    """If ZooKeeper for ever has a live leader alone in the ISR, that leader eventually waits for no other replica, and
    acknowledges by itself all that it has (L4).
    """
    if not leader_leads(s):
        return False
    leader = s.brokers[s.zk.leader]
    return in_sync(leader) == 1 and leader.hw == leader.log.length


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
