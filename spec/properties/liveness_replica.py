"""Liveness of the data plane (L4): a follower that keeps fetching from a leader that stays comes into the ISR."""

from spec.language.domains import NOBODY
from spec.language.fairness import at_last, finitely, strong, weak
from spec.language.model import eventually_always
from spec.language.sets import contains
from spec.replica.broker import LEADER, Broker


def leader_leads(s):
    """The leader that ZooKeeper names takes itself for the leader, in whatever epoch."""
    return s.zk.leader != NOBODY and s.brokers[s.zk.leader].state == LEADER


def is_in_sync(s, follower: Broker):
    """If elections, writes and removals come to an end, at last every replica is in the ISR (L4)."""
    return contains(s.zk.isr, follower)


LIVENESS = (
    eventually_always(
        is_in_sync,
        given=(
            strong("leader_and_isr", each=("b",)),
            weak("send_request", each=("b",)),
            strong("receive_answer", each=("b",)),
            strong("serve_fetch", "serve_epochs", each=("follower",)),
            strong("expand_isr", each=("b", "follower")),
            weak("alter_partition", each=("sender",)),
            weak("learn_isr", each=("b",)),
            finitely("elect_leader", "remove_replica", "elect_unclean", "shrink_isr", "learn_refusal", "produce"),
            at_last(leader_leads),
        ),
    ),
)
