"""Lemmas of the logs of replicas with real messages, for two brokers: what they hold, and what a leader knows of them.

In short: logs match; a follower of whom its leader has heard has the beginning of the leader's log.
"""

from kafkaproof.spec.language.domains import Bound, Number
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.replica.broker import FETCHING, LEADER, NONE, Broker
from kafkaproof.spec.replica.follower import truncation_point
from kafkaproof.spec.replica.network import DIVERGING, FETCH, NO_MESSAGE, NO_RECORD, RECORD
from kafkaproof.spec.replica.properties.safety import agree
from kafkaproof.spec.replication.replication import same_entry

Epoch = Number(0, Bound("epochs"))


def has_records(message):
    """Whether a message is an answer to a fetch whose offset was right."""
    return message.kind == RECORD or message.kind == NO_RECORD


def is_answer(message):
    """Whether a message is an answer to a fetch."""
    return has_records(message) or message.kind == DIVERGING


def is_of_fetcher(s, f):
    """Whether a message between `f` and the leader that it follows is of its present leader epoch."""
    broker = s.brokers[f]
    message = s.network.messages[f]
    return broker.state == FETCHING and message.peer == broker.leader and message.epoch == broker.leader_epoch


def is_answered(s, f):
    """Whether an answer with records is on its way that `f` waits for."""
    return has_records(s.network.messages[f]) and is_of_fetcher(s, f)


def answers(s, f, leader):
    """Whether such an answer is on its way from `leader`."""
    return is_answered(s, f) and s.network.messages[f].peer == leader


def has_below(s, b, other, end):
    """Whether `b` has what `other` has below an offset."""
    for i in range(len(s.brokers[b].log.slots)):
        if i < end and not same_entry(s.brokers[b].log, s.brokers[other].log, i):
            return False
    return True


def hw_is_in_log(s, b: Broker):
    """A high watermark is not beyond the log."""
    return s.brokers[b].hw <= s.brokers[b].log.length


def log_is_no_newer(s, b: Broker):
    """No record is of a later leader epoch than the present one, nor than that of a broker with a role."""
    broker = s.brokers[b]
    for i in range(len(broker.log.slots)):
        if i < broker.log.length:
            if broker.log.slots[i].epoch > s.zk.leader_epoch:
                return False
            if broker.state != NONE and broker.log.slots[i].epoch > broker.leader_epoch:
                return False
    return True


def log_is_no_newer_than_request(s, b: Broker, epoch: Epoch):
    """No record is of a later leader epoch than LeaderAndIsr on its way to the broker."""
    log = s.brokers[b].log
    for i in range(len(log.slots)):
        if i < log.length and contains(s.network.requests[epoch].to, b) and log.slots[i].epoch > epoch:
            return False
    return True


def epoch_begins_with_leader(s, leader: Broker, b: Broker, epoch: Epoch):
    """Until its leader has taken LeaderAndIsr no record is of that leader epoch."""
    request = s.network.requests[epoch]
    log = s.brokers[b].log
    for i in range(len(log.slots)):
        if i < log.length and request.leader == leader and contains(request.to, leader):
            if log.slots[i].epoch == epoch:
                return False
    return True


def epochs_grow(s, b: Broker):
    """The leader epochs of the records in a log do not fall."""
    log = s.brokers[b].log
    for i in range(len(log.slots)):
        if 0 < i < log.length and log.slots[i].epoch < log.slots[i - 1].epoch:
            return False
    return True


def records_are_numbered(s, b: Broker):
    """The records in logs were written."""
    log = s.brokers[b].log
    for i in range(len(log.slots)):
        if i < log.length and log.slots[i].id >= s.clients.next_record:
            return False
    return True


def record_has_one_epoch(s, a: Broker, b: Broker):
    """A record has the same leader epoch in all logs."""
    log = s.brokers[a].log
    other = s.brokers[b].log
    for i in range(len(log.slots)):
        if i < log.length and i < other.length and log.slots[i].id == other.slots[i].id:
            if log.slots[i].epoch != other.slots[i].epoch:
                return False
    return True


def logs_match(s, a: Broker, b: Broker):
    """Two logs with a record of the same epoch at an offset are the same up to it, unclean elections or not."""
    return agree(s.brokers[a].log, s.brokers[b].log)


def epoch_has_one_start(s, a: Broker, b: Broker):
    """The records of an epoch start at the same offset in all logs."""
    log = s.brokers[a].log
    other = s.brokers[b].log
    for j in range(len(other.slots)):
        for i in range(j):
            if i < log.length and j < other.length and log.slots[i].epoch == other.slots[j].epoch:
                if other.slots[i].epoch != log.slots[i].epoch:
                    return False
    return True


def leader_has_its_epoch(s, leader: Broker, b: Broker):
    """A leader has the records of its epoch that others have."""
    broker = s.brokers[leader]
    log = s.brokers[b].log
    for i in range(len(log.slots)):
        if broker.state == LEADER and i < log.length and log.slots[i].epoch == broker.leader_epoch:
            if not same_entry(broker.log, log, i):
                return False
    return True


def last_of(log, offset):
    """The leader epoch of the record before an offset, -1 at the beginning."""
    return log.slots[offset - 1].epoch if offset > 0 else -1


def fetch_is_at_end(s, f: Broker):
    """What a follower has asked in its present leader epoch, it has asked at its log's end."""
    broker = s.brokers[f]
    message = s.network.messages[f]
    if message.kind == NO_MESSAGE or broker.state != FETCHING or message.epoch != broker.leader_epoch:
        return True
    return message.offset == broker.log.length


def fetch_will_be_at_end(s, f: Broker, epoch: Epoch):
    """So has a new process that will follow again in that epoch."""
    message = s.network.messages[f]
    if message.kind == NO_MESSAGE or message.epoch != epoch or not contains(s.network.requests[epoch].to, f):
        return True
    return message.offset == s.brokers[f].log.length


def record_has_epoch(s, f: Broker):
    """A record on its way to a follower has the leader epoch in which it was written."""
    message = s.network.messages[f]
    return message.kind != RECORD or message.last >= 0


def fetch_is_of_log(s, f: Broker):
    """As long as a fetch is on its way, its sender has what it had when it asked."""
    message = s.network.messages[f]
    log = s.brokers[f].log
    if message.kind != FETCH:
        return True
    return message.offset <= log.length and message.last == last_of(log, message.offset)


def known_end_is_held(s, leader: Broker, f: Broker):
    """A follower has what its leader knows it to have."""
    broker = s.brokers[leader]
    return broker.state != LEADER or leader == f or has_below(s, f, leader, broker.ends[f])


def is_known(s, leader, f):
    """Whether a leader has heard of a follower in its epoch."""
    return leader != f and s.brokers[leader].state == LEADER and contains(s.brokers[leader].heard, f)


def known_has_come(s, leader: Broker, f: Broker):
    """Of whom a leader has heard has come to its epoch, or is a new process."""
    if not is_known(s, leader, f):
        return True
    return s.brokers[f].state == NONE or s.brokers[f].leader_epoch >= s.brokers[leader].leader_epoch


def known_has_come_before_request(s, leader: Broker, f: Broker, epoch: Epoch):
    """And is told of no earlier one."""
    if not is_known(s, leader, f) or not contains(s.network.requests[epoch].to, f):
        return True
    return epoch >= s.brokers[leader].leader_epoch


def known_follows(s, leader: Broker, f: Broker):
    """The log of a follower of whom its leader has heard is the beginning of the leader's."""
    if not is_known(s, leader, f):
        return True
    epoch = s.brokers[leader].leader_epoch
    if s.brokers[f].state == FETCHING and s.brokers[f].leader_epoch == epoch:
        return has_below(s, f, leader, s.brokers[f].log.length)
    return True


def known_will_follow(s, leader: Broker, f: Broker, epoch: Epoch):
    """So is that of a new process which will follow it again."""
    if not is_known(s, leader, f) or epoch != s.brokers[leader].leader_epoch:
        return True
    return not contains(s.network.requests[epoch].to, f) or has_below(s, f, leader, s.brokers[f].log.length)


def known_fetches(s, leader: Broker, f: Broker):
    """A leader has all up to where a follower fetches of whom it has heard."""
    message = s.network.messages[f]
    if not is_known(s, leader, f) or message.kind != FETCH or message.peer != leader:
        return True
    return message.epoch != s.brokers[leader].leader_epoch or has_below(s, f, leader, message.offset)


def known_has_not_parted(s, leader: Broker, f: Broker):
    """To a follower of whom it has heard a leader does not say that the logs have parted."""
    message = s.network.messages[f]
    return not is_known(s, leader, f) or message.kind != DIVERGING or message.peer != leader


def answer_continues_log(s, leader: Broker, f: Broker):
    """An answer with a record is the next one of who has answered, whose log begins with the follower's."""
    message = s.network.messages[f]
    log = s.brokers[leader].log
    if not answers(s, f, leader):
        return True
    if not has_below(s, f, leader, message.offset) or message.hw > log.length:
        return False
    if message.kind == NO_RECORD:
        return True
    next_one = log.slots[message.offset]
    same = next_one.id == message.id and next_one.epoch == message.last
    return message.offset < log.length and same and 0 <= message.last <= message.epoch


def answer_keeps_common(s, leader: Broker, f: Broker):
    """Who is told that the logs have parted keeps what both have."""
    message = s.network.messages[f]
    broker = s.brokers[f]
    if message.kind != DIVERGING or message.peer != leader or not is_of_fetcher(s, f):
        return True
    for i in range(len(broker.log.slots)):
        if same_entry(broker.log, s.brokers[leader].log, i):
            if i >= truncation_point(broker, message.last, message.end):
                return False
    return True


def answer_has_older_hw(s, leader: Broker, f: Broker):
    """The high watermark in an answer is not above that of the leader, as long as it leads."""
    message = s.network.messages[f]
    broker = s.brokers[leader]
    if not answers(s, f, leader) or broker.state != LEADER or broker.leader_epoch != message.epoch:
        return True
    return message.hw <= broker.hw


LOGS = (
    hw_is_in_log,
    log_is_no_newer,
    log_is_no_newer_than_request,
    epoch_begins_with_leader,
    epochs_grow,
    records_are_numbered,
    record_has_one_epoch,
    logs_match,
    epoch_has_one_start,
    leader_has_its_epoch,
    fetch_is_at_end,
    fetch_will_be_at_end,
    record_has_epoch,
    fetch_is_of_log,
    known_end_is_held,
    known_has_come,
    known_has_come_before_request,
    known_follows,
    known_will_follow,
    known_fetches,
    known_has_not_parted,
    answer_continues_log,
    answer_keeps_common,
    answer_has_older_hw,
)
