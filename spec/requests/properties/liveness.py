"""Liveness of control requests (L3): if controllers and brokers do their work, all eventually know what ZooKeeper
holds.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.fairness import at_last, strong, weak
from kafkaproof.spec.language.model import eventually_always
from kafkaproof.spec.language.sets import contains, is_empty, union
from kafkaproof.spec.partition.zookeeper import assigned
from kafkaproof.spec.requests.network import ANSWERED
from kafkaproof.spec.requests.properties.safety import expected_to_follow, is_blamed, knows, obeys


def a_replica_can_lead(s):
    """Every partition of a topic that is not deleted has a replica on a live broker that does not shut down, and its log
    directory works.
    """
    if not is_empty(union(s.zk.deleting, s.zk.deleted)):
        return False
    for p in range(len(s.zk.partitions)):
        found = False
        for b in range(len(s.brokers)):
            leaves = contains(s.network.shutdowns, b)
            works = s.brokers[b].up and not s.brokers[b].replicas[p].failed and not leaves
            found = found or works and contains(assigned(s.zk, p), b)
        if not found:
            return False
    return True


def asked(s, delivery):
    """The request comes from a current channel, and its answer arrives."""
    return delivery == ANSWERED


def all_agree(s):
    """Eventually there is one live leader, and every live broker and replica has what ZooKeeper has (L3).

    Except for a replica of which the controller has handled a storage error of a former process.
    """
    b = s.zk.controller
    if b == NOBODY:
        return False
    for p in range(len(s.zk.partitions)):
        if s.zk.partitions[p].leader == NOBODY or not contains(s.zk.registered, s.zk.partitions[p].leader):
            return False
        for r in range(len(s.brokers)):
            follows = expected_to_follow(s, b, r, p) and not is_blamed(s, b, r, p)
            if contains(s.zk.registered, r) and (not knows(s, r, p) or follows and not obeys(s, r, p)):
                return False
    return True


LIVENESS = (
    eventually_always(
        all_agree,
        given=(
            weak("elect"),
            weak("resign", "reopen", each=("b",)),
            weak("broker_change", each=("b",)),
            strong("broker_startup", "broker_failure", each=("b",)),
            weak("elect_leader", "remove_replica", each=("b",)),
            weak("log_dir_event", "handle_answer", each=("b",)),
            strong("leader_and_isr", "update_metadata", "stop_replica", each=("b", "epoch"), when=asked),
            strong("request_arrives", each=("b",)),
            strong("answer_produce", each=("b",)),
            at_last(a_replica_can_lead),
        ),
    ),
)
