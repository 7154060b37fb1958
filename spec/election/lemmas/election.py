"""Lemmas of the election of a controller (fenced, and with an operator who edits the epoch): who has written the epoch.

In short: an epoch is written by one broker, together with /controller; who owns that has the present epoch, or has
written it and does not know yet; and what was read of the epoch stood there at one moment.
"""

from kafkaproof.spec.election.broker_state import (
    CLEANING,
    CONFIRMING,
    CONFIRMING_EPOCH,
    CREATING,
    CREATING_EPOCH,
    DELETING,
    DYING,
    IDLE,
    LOADING,
    NONE,
    OPEN,
    READING_EPOCH,
    REGISTERING,
)
from kafkaproof.spec.election.network import Epoch, Receiver
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import ORPHAN, PROCESS, owns_controller, session_open
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains


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


def term_is_no_newer(s, a: Broker):
    """The epoch of a term was written together with its version, now or earlier."""
    broker = s.brokers[a]
    return broker.epoch == broker.epoch_version and broker.epoch_version <= s.zk.epoch_version


def term_has_epoch(s, a: Broker):
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


def terms_differ(s, a: Broker, b: Broker):
    """No two brokers have the same epoch."""
    return a == b or s.brokers[a].epoch == 0 or s.brokers[a].epoch != s.brokers[b].epoch


def obeyed_is_seen(s, a: Broker):
    """The epoch last obeyed is the highest seen."""
    return s.brokers[a].ghosts.applied == s.brokers[a].seen_epoch


def request_was_elected(s, to: Receiver, epoch: Epoch):
    """Requests are sent in epochs that were written."""
    return not contains(s.network.requests[epoch], to) or 1 <= epoch <= s.zk.epoch


FENCED = (
    value_is_version,
    controller_has_epoch,
    read_is_no_newer,
    term_is_no_newer,
    term_has_epoch,
    candidate_is_not_active,
    owner_has_session,
    session_is_known,
    orphan_holds_id,
    orphan_keeps_out,
    owner_was_elected,
    confirmed_epoch_was_written,
    one_claim,
    terms_differ,
    obeyed_is_seen,
    request_was_elected,
)


def version_grows_with_value(s):
    """/controller_epoch is written first with 0, and its version grows with each value, and with each edit."""
    if s.zk.epoch <= 0:
        return s.zk.epoch_version == 0
    return s.zk.epoch <= s.zk.epoch_version


def was_written(zk, epoch, version):
    """Whether a value of /controller_epoch may have been written with a version, now or earlier."""
    if version == zk.epoch_version:
        return epoch == max(zk.epoch, 0)
    return epoch <= version < zk.epoch_version and epoch <= zk.epoch


def read_was_written(s, a: Broker):
    """What was read of /controller_epoch is one moment's value and version, now or earlier."""
    return was_written(s.zk, s.brokers[a].read_epoch, s.brokers[a].read_version)


def term_was_written(s, a: Broker):
    """The epoch of a term was written together with its version, now or earlier."""
    return was_written(s.zk, s.brokers[a].epoch, s.brokers[a].epoch_version)


def ruler_has_epoch(s, a: Broker):
    """Whoever rules has been elected."""
    broker = s.brokers[a]
    if broker.doing == CLEANING or broker.doing == LOADING:
        return broker.epoch >= 1 and broker.ruling != NONE
    return broker.epoch >= 1 or broker.ruling == NONE


def confirmed_value_was_written(s, a: Broker):
    """Who has found itself in /controller has read a smaller value than the present one."""
    broker = s.brokers[a]
    return broker.doing != CONFIRMING_EPOCH or broker.read_epoch < s.zk.epoch


def owner_was_elected_or_ended(s, a: Broker):
    """Who owns /controller has the present epoch, or has written it and does not know yet; or an edit of the epoch has
    ended its term, and it owns what it can not delete.
    """
    broker = s.brokers[a]
    if not owns_controller(s.zk, a):
        return True
    if stands(broker):
        return s.zk.epoch == broker.read_epoch + 1
    ended = broker.epoch == 0 and s.zk.epoch < s.zk.epoch_version
    reads = broker.doing == READING_EPOCH or broker.doing == CREATING_EPOCH
    return (ended or broker.epoch == s.zk.epoch) and not reads


EDITED = tuple(
    f
    for f in FENCED
    if f
    not in (
        value_is_version,
        read_is_no_newer,
        term_is_no_newer,
        term_has_epoch,
        owner_was_elected,
        confirmed_epoch_was_written,
    )
) + (
    version_grows_with_value,
    read_was_written,
    term_was_written,
    ruler_has_epoch,
    confirmed_value_was_written,
    owner_was_elected_or_ended,
)
