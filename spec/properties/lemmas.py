"""Lemmas: what must be known besides a property, so that no step can break it. `kafkaproof prove` proves them.

A lemma is a predicate of a state, for all values of its other arguments.
"""

from spec.controller.belief import (
    CLEANING, CONFIRMING, CONFIRMING_EPOCH, CREATING, CREATING_EPOCH, DELETING, DYING, IDLE, LOADING, NONE, OPEN,
    READING_EPOCH, REGISTERING,
)
from spec.controller.session import Broker
from spec.language.domains import NOBODY
from spec.language.sets import contains
from spec.network import Epoch, Receiver
from spec.properties.async_isr_lemmas import MAXIMAL_ISR
from spec.properties.consumer_lemmas import ORDERLY
from spec.properties.group_limited_lemmas import LIMITED
from spec.properties.group_member_lemmas import CURRENT as GROUP_CURRENT
from spec.properties.group_transaction_lemmas import TRANSACTIONAL
from spec.properties.partition_lemmas import FENCED as PARTITION_FENCED
from spec.properties.replica_lemmas import CURRENT as REPLICA_CURRENT
from spec.properties.replication_lemmas import KIP320
from spec.properties.requests_lemmas import CURRENT as REQUESTS_CURRENT
from spec.properties.topics_lemmas import KIP455 as TOPICS_KIP455
from spec.zookeeper import ORPHAN, PROCESS, owns_controller, session_open


def value_is_version(s):
    """Once /controller_epoch exists, its value is its version."""
    if s.zk.epoch < 0:
        return s.zk.epoch_version == 0
    return s.zk.epoch == s.zk.epoch_version


def controller_has_epoch(s):
    """While /controller exists, somebody has been elected."""
    return s.zk.controller == NOBODY or s.zk.epoch >= 1


def read_is_no_newer(s, a: Broker):
    """What was read of /controller_epoch is one moment's value and version, now or earlier."""
    broker = s.brokers[a]
    return broker.read_epoch == broker.read_version and broker.read_version <= s.zk.epoch_version


def reign_is_no_newer(s, a: Broker):
    """The epoch of a reign was written together with its version, now or earlier."""
    broker = s.brokers[a]
    return broker.epoch == broker.epoch_version and broker.epoch_version <= s.zk.epoch_version


def reign_has_epoch(s, a: Broker):
    """Whoever rules, or does the work of a controller, has been elected."""
    broker = s.brokers[a]
    if broker.doing == CLEANING or broker.doing == LOADING:
        return broker.epoch >= 1 and broker.ruling != NONE
    return broker.epoch >= 1 or (broker.ruling == NONE and broker.doing != DELETING)


def stands(broker):
    """Whether the broker has read or founded the epoch and not yet learnt who won."""
    return broker.doing == CREATING or broker.doing == CONFIRMING or broker.doing == CONFIRMING_EPOCH


def candidate_is_not_active(s, a: Broker):
    """A candidate knows that it is not the controller, and has found the epoch."""
    broker = s.brokers[a]
    if stands(broker):
        return broker.active == 0 and s.zk.epoch >= 0
    return broker.active == 0 or (broker.doing != READING_EPOCH and broker.doing != CREATING_EPOCH)


def owner_has_session(s, a: Broker):
    """Who owns /controller has an open session, in which it has registered its id."""
    return not owns_controller(s.zk, a) or (session_open(s.zk, a) and s.zk.clients[a].registered == PROCESS)


def session_is_known(s, a: Broker):
    """An open session belongs to a process that takes it for open and registers first."""
    doing = s.brokers[a].doing
    if not session_open(s.zk, a):
        return True
    if s.brokers[a].session != OPEN:
        return False
    return s.zk.clients[a].registered == PROCESS or doing == REGISTERING or doing == DYING


def orphan_holds_id(s, a: Broker):
    """A /controller that a former process owns is held with its broker id."""
    if s.zk.controller_orphaned == 0:
        return True
    return s.zk.controller != NOBODY and (s.zk.controller != a or s.zk.clients[a].registered == ORPHAN)


def orphan_keeps_out(s, a: Broker):
    """While a former process holds the id, the present one cannot stand for election."""
    broker = s.brokers[a]
    if s.zk.clients[a].registered != ORPHAN:
        return True
    if broker.active != 0 or broker.ruling != NONE or broker.epoch != 0:
        return False
    if broker.doing == IDLE:
        return broker.session != OPEN
    return broker.doing == REGISTERING or broker.doing == DYING


def owner_was_elected(s, a: Broker):
    """Who owns /controller has the present epoch, or has written it and does not know yet."""
    broker = s.brokers[a]
    if not owns_controller(s.zk, a):
        return True
    if stands(broker):
        return s.zk.epoch == broker.read_epoch + 1
    return broker.epoch == s.zk.epoch and broker.doing != READING_EPOCH and broker.doing != CREATING_EPOCH


def confirmed_epoch_was_written(s, a: Broker):
    """Who has found itself in /controller has read an older version than the present one."""
    broker = s.brokers[a]
    return broker.doing != CONFIRMING_EPOCH or broker.read_version < s.zk.epoch_version


def claims(s, a):
    """Whether `a` has written the present epoch, as far as it rules in it or may still find out."""
    broker = s.brokers[a]
    if broker.epoch > 0 and broker.epoch == s.zk.epoch:
        return True
    if broker.doing == CONFIRMING_EPOCH and s.zk.epoch == broker.read_epoch + 1:
        return True
    return stands(broker) and owns_controller(s.zk, a)


def one_claim(s, a: Broker, b: Broker):
    """The present epoch was written by one broker, and no other owns /controller."""
    if a == b or not claims(s, a):
        return True
    return not claims(s, b) and s.zk.controller != b


def reigns_differ(s, a: Broker, b: Broker):
    """No two brokers have the same epoch."""
    return a == b or s.brokers[a].epoch == 0 or s.brokers[a].epoch != s.brokers[b].epoch


def obeyed_is_seen(s, a: Broker):
    """The epoch last obeyed is the highest seen."""
    return s.brokers[a].ghosts.applied == s.brokers[a].seen_epoch


def request_was_elected(s, to: Receiver, epoch: Epoch):
    """Requests are sent in epochs that were written."""
    return not contains(s.network.requests[epoch], to) or 1 <= epoch <= s.zk.epoch


FENCED = (
    value_is_version, controller_has_epoch, read_is_no_newer, reign_is_no_newer, reign_has_epoch,
    candidate_is_not_active, owner_has_session, session_is_known, orphan_holds_id, orphan_keeps_out,
    owner_was_elected, confirmed_epoch_was_written, one_claim, reigns_differ, obeyed_is_seen,
    request_was_elected,
)


LEMMAS = {
    ("async-isr", "maximal-isr"): MAXIMAL_ISR,
    ("consumer", "orderly"): ORDERLY,
    ("election", "fenced"): FENCED,
    ("group", "current"): GROUP_CURRENT,
    ("group", "limited"): LIMITED,
    ("group", "transactional"): TRANSACTIONAL,
    ("partition", "fenced"): PARTITION_FENCED,
    ("replica", "current"): REPLICA_CURRENT,
    ("replication", "kip320"): KIP320,
    ("requests", "current"): REQUESTS_CURRENT,
    ("topics", "kip455"): TOPICS_KIP455,
}


FALSE_BEYOND = {
    ("partition", "fenced", "failed_is_lost"): "false with three faults (findings/partition.md)",
    ("partition", "fenced", "led_if_possible"): "false with three faults (findings/partition.md)",
    ("topics", "kip455", "deletion_goes_on"): "false with four requests and a fault (findings/topics.md)",
    ("topics", "kip455", "own_logs_deleted"): "false with four requests and a fault (findings/topics.md)",
    ("topics", "kip455", "removed_when_deleted"): "false with three brokers and three faults (findings/topics.md)",
    ("requests", "current", "metadata_converges"): "false with three brokers and three faults (findings/requests.md)",
    ("consumer", "orderly", "claims_afresh"): "false with an expiry and a crash (findings/consumer.md)",
} | {
    ("group", variant, name): f"false {when} (findings/group.md)" for variant in ("current", "transactional")
    for name, when in {
        "above_stored": "with a load that fails",
        "stable_is_stored": "when a group dies and is born again",
        "no_stale_commit": "with two moves of the leader",
        "durable": "when the group is deleted meanwhile",
        "assignment_is_stored": "with two moves of the leader",
        "disjoint": "with two moves of the leader and two faults",
        "disjoint_by_number": "with two moves of the leader",
        "young_offset_stays": "of a commit without a generation",
    }.items()
} | {
    ("consumer", "orderly", name): "false with an expiry (findings/consumer.md)" for name in (
        "reads_its_own", "one_reader", "quiet_group_reads_all", "remembers_claims", "deletes_its_own",
        "offset_never_falls",
    )
}
"""What is known to fail beyond the recorded scopes that have the sizes of the proof: nothing to prove."""
