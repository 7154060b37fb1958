"""Liveness of control requests (L3): if controllers and brokers do their work, all eventually know what ZooKeeper
holds.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.fairness import at_last, strong, weak
from kafkaproof.spec.language.model import eventually_always
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.requests.context import is_settled
from kafkaproof.spec.requests.network import ANSWERED, HANDLED
from kafkaproof.spec.requests.properties.safety import expected_to_follow, obeys


def a_replica_can_lead(s):
    """Some replica of a topic that is not deleted is on a live broker that does not shut down, and its log directory
    works.
    """
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        leaving = False
        for other in s.brokers:
            leaving = leaving or contains(other.controller.leaving, b)
        if broker.up and not broker.dir_failed and not leaving and contains(replicas_of(broker.assignment), b):
            return not s.zk.deleting
    return False


def finds_a_leader(s, b, leader):
    """There is no online leader, and the controller of `b` finds one: a replica that is eligible stays eligible."""
    broker = s.brokers[b]
    return leader != NOBODY and (broker.controller.leader == NOBODY or not is_settled(broker))


def asked(s, delivery):
    """The request comes from a current channel, and its answer arrives."""
    return delivery == ANSWERED


def knows(s, r):
    """Whether broker `r` knows the live brokers and the leader."""
    return s.brokers[r].alive == s.zk.registered and s.brokers[r].known_leader == s.zk.leader


def is_told(s, b, r):
    """Whether broker `r` and its replica are up to date for the controller of `b`."""
    blamed = s.network.answers[b][r] == HANDLED
    return knows(s, r) and (obeys(s, r) or blamed or not expected_to_follow(s, b, r))


def all_agree(s):
    """Eventually there is one live leader, and every live broker and replica has what ZooKeeper has (L3).

    Except for a replica of which the controller has handled a storage error of a former process.
    """
    b = s.zk.controller
    if b == NOBODY or s.zk.leader == NOBODY or not contains(s.zk.registered, s.zk.leader):
        return False
    for r in range(len(s.brokers)):
        if contains(s.zk.registered, r) and not is_told(s, b, r):
            return False
    return True


LIVENESS = (
    eventually_always(
        all_agree,
        given=(
            weak("elect"),
            weak("resign", "reopen", each=("b",)),
            weak("broker_change", each=("b",)),
            strong("broker_startup", each=("b",)),
            weak("change_leader", each=("b",), when=finds_a_leader),
            weak("log_dir_event", "handle_answer", each=("b",)),
            strong("leader_and_isr", "update_metadata", "stop_replica", each=("b", "epoch"), when=asked),
            strong("request_arrives", each=("b",)),
            strong("answer_produce", each=("b",)),
            at_last(a_replica_can_lead),
        ),
    ),
)
