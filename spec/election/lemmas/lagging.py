"""Lemmas of the election of a controller with stale reads (fenced-lagging), beside those of *fenced*.

In short: what a client reads stood there once, and who has been answered knows what it has written.
"""

from kafkaproof.spec.election.broker_state import CONFIRMING_EPOCH, CREATING, CREATING_EPOCH, READING_EPOCH
from kafkaproof.spec.election.lemmas.election import FENCED, stands
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import PROCESS, owns_controller


def view_is_past(s, a: Broker):
    """What a server knows of /controller_epoch is one moment's value and version, now or earlier."""
    client = s.zk.clients[a]
    if client.epoch < 0:
        return client.epoch_version == 0
    return client.epoch == client.epoch_version and client.epoch <= s.zk.epoch


def owner_is_seen(s, a: Broker):
    """Who owns /controller finds itself there, unless its registration is not answered yet."""
    return not owns_controller(s.zk, a) or s.brokers[a].doing == CREATING or s.zk.clients[a].controller == a


def candidate_finds_what_it_wrote(s, a: Broker):
    """A candidate that would find itself in /controller would find the epoch with it that it has written."""
    client = s.zk.clients[a]
    return not stands(s.brokers[a]) or client.controller != a or client.epoch == s.brokers[a].read_epoch + 1


def wrote_next(s, a):
    """Whether a candidate has written the epoch after the one that it has read."""
    broker = s.brokers[a]
    finds_itself = owns_controller(s.zk, a) or s.zk.clients[a].controller == a
    return broker.doing == CONFIRMING_EPOCH or stands(broker) and finds_itself


def wrote(s, a, epoch):
    """Whether a broker rules in an epoch, or has written it and may find out."""
    broker = s.brokers[a]
    return broker.epoch == epoch or wrote_next(s, a) and broker.read_epoch + 1 == epoch


def one_wrote(s, a: Broker, b: Broker):
    """No two brokers have written the same epoch."""
    broker = s.brokers[a]
    if a == b or broker.epoch > 0 and wrote(s, b, broker.epoch):
        return a == b
    return not wrote_next(s, a) or not wrote(s, b, broker.read_epoch + 1)


def who_begins_finds_another(s, a: Broker):
    """Who reads or founds the epoch to stand for election does not find itself in /controller."""
    doing = s.brokers[a].doing
    return doing != READING_EPOCH and doing != CREATING_EPOCH or s.zk.clients[a].controller != a


def who_finds_itself_was_elected(s, a: Broker):
    """Who would find itself in /controller rules, or stands, unless its former process is found."""
    client = s.zk.clients[a]
    elected = s.brokers[a].epoch >= 1 or stands(s.brokers[a])
    return client.controller != a or elected or client.registered != PROCESS


def orphan_wrote(s, a: Broker):
    """While a former process owns /controller it is the one that has written the present epoch."""
    return s.zk.controller_orphaned == 0 or not wrote(s, a, s.zk.epoch)


LAGGING = (
    *FENCED,
    view_is_past,
    owner_is_seen,
    candidate_finds_what_it_wrote,
    one_wrote,
    who_begins_finds_another,
    who_finds_itself_was_elected,
    orphan_wrote,
)
