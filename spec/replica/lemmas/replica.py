"""Lemmas of replicas with real messages, for two brokers: who leads in an epoch, and what is proposed and on its way.

What the logs hold is in `logs`, why what is promised stays in `promises`.
"""

from kafkaproof.spec.language.domains import NOBODY, Bound, Number
from kafkaproof.spec.language.sets import contains, is_empty, only
from kafkaproof.spec.replica.broker import LEADER, NONE, TRUNCATING, Broker
from kafkaproof.spec.replica.lemmas.logs import LOGS, is_answer
from kafkaproof.spec.replica.lemmas.promises import PROMISES
from kafkaproof.spec.replica.network import DONE, END, EPOCHS, NO_MESSAGE, NO_PROPOSAL, REFUSED, SENT

Epoch = Number(0, Bound("epochs"))


def request_was_written(s, epoch: Epoch):
    """LeaderAndIsr is of leader epochs that were written."""
    return is_empty(s.network.requests[epoch].to) or epoch <= s.zk.leader_epoch


def newest_names_leader(s, epoch: Epoch):
    """That of the present leader epoch names the leader."""
    request = s.network.requests[epoch]
    return is_empty(request.to) or epoch != s.zk.leader_epoch or request.leader == s.zk.leader


def request_is_ahead(s, b: Broker, epoch: Epoch):
    """LeaderAndIsr on its way to a broker is of a higher leader epoch than the broker's."""
    return not contains(s.network.requests[epoch].to, b) or epoch > s.brokers[b].leader_epoch


def request_leader_in_isr(s, leader: Broker, epoch: Epoch):
    """As long as it is on its way to the leader that it names, its ISR has that leader."""
    request = s.network.requests[epoch]
    return request.leader != leader or not contains(request.to, leader) or contains(request.isr, leader)


def state_isr_has_leader(s, b: Broker):
    """The ISR in ZooKeeper has the leader, if there is one, and a member."""
    return s.zk.leader_epoch >= 0 and not is_empty(s.zk.isr) and (s.zk.leader != b or contains(s.zk.isr, b))


def role_has_epoch(s, b: Broker):
    """A broker has a role in a leader epoch that was written: it leads itself, or follows another and fetches."""
    broker = s.brokers[b]
    if broker.state == NONE:
        return broker.leader_epoch == -1
    if broker.state == TRUNCATING or not 0 <= broker.leader_epoch <= s.zk.leader_epoch:
        return False
    return broker.leader != NOBODY and (broker.state == LEADER) == (broker.leader == b)


def leader_is_in_its_isr(s, b: Broker):
    """A leader is in its ISR, and in what it proposes."""
    broker = s.brokers[b]
    if broker.state != LEADER:
        return True
    return contains(broker.isr, b) and (is_empty(broker.pending) or contains(broker.pending, b))


def epoch_has_one_leader(s, a: Broker, b: Broker):
    """Brokers with a role in the same leader epoch know the same leader."""
    one = s.brokers[a]
    other = s.brokers[b]
    if one.state == NONE or other.state == NONE or one.leader_epoch != other.leader_epoch:
        return True
    return one.leader == other.leader


def newest_epoch_has_leader(s, b: Broker):
    """Who has a role in the present leader epoch knows the leader that ZooKeeper names."""
    broker = s.brokers[b]
    return broker.state == NONE or broker.leader_epoch != s.zk.leader_epoch or broker.leader == s.zk.leader


def role_agrees_with_request(s, b: Broker, epoch: Epoch):
    """Who has a role in a leader epoch knows the leader that LeaderAndIsr of that epoch names."""
    broker = s.brokers[b]
    request = s.network.requests[epoch]
    if broker.state == NONE or broker.leader_epoch != epoch or is_empty(request.to):
        return True
    return broker.leader == request.leader


def leader_was_told(s, b: Broker):
    """A process that leads in ZooKeeper has the present leader epoch, or LeaderAndIsr is on its way to it."""
    if s.zk.leader != b or s.zk.leader_epoch < 0 or s.brokers[b].state == NONE:
        return True
    has_epoch = s.brokers[b].leader_epoch == s.zk.leader_epoch
    return has_epoch or contains(s.network.requests[s.zk.leader_epoch].to, b)


def older_with_newest(s, b: Broker, epoch: Epoch):
    """While LeaderAndIsr is on its way to the leader in ZooKeeper, that of the present leader epoch is."""
    if s.zk.leader != b or not contains(s.network.requests[epoch].to, b):
        return True
    return contains(s.network.requests[s.zk.leader_epoch].to, b)


def new_process_is_told(s, b: Broker):
    """To a new process LeaderAndIsr is on its way, if another broker leads in ZooKeeper."""
    if s.brokers[b].state != NONE or s.zk.leader == NOBODY or s.zk.leader == b or s.zk.leader_epoch < 0:
        return True
    return contains(s.network.requests[s.zk.leader_epoch].to, b)


def proposal_is_leaders(s, b: Broker):
    """A proposal of a leader is what it has proposed, in its leader epoch."""
    broker = s.brokers[b]
    alter = s.network.alters[b]
    if broker.state != LEADER or alter.state == NO_PROPOSAL:
        return True
    return alter.epoch == broker.leader_epoch and alter.isr == broker.pending and not is_empty(alter.isr)


def proposal_was_by_right(s, b: Broker):
    """A proposal is of a leader epoch that was written; of the present one it is by the leader, who is in it."""
    alter = s.network.alters[b]
    if alter.state != SENT:
        return True
    newest = alter.epoch == s.zk.leader_epoch
    return alter.epoch <= s.zk.leader_epoch and contains(alter.isr, b) and (not newest or s.zk.leader == b)


def proposal_is_before_request(s, b: Broker, epoch: Epoch):
    """A proposal is of a lower leader epoch than LeaderAndIsr on its way to its sender."""
    alter = s.network.alters[b]
    return alter.state != SENT or not contains(s.network.requests[epoch].to, b) or alter.epoch < epoch


def is_alone(s, b, member):
    """Whether a leader waits for no `member`: the ISR that was last written for it, as it knows, has none."""
    broker = s.brokers[b]
    if b == member or broker.state != LEADER:
        return False
    written = s.network.alters[b].state == DONE or s.network.alters[b].state == REFUSED
    if written:
        return not contains(broker.pending, member)
    return not contains(broker.isr, member)


def to_be_alone(s, b, member, epoch):
    """Whether LeaderAndIsr on its way to a broker makes it leader, and its ISR lacks `member`."""
    request = s.network.requests[epoch]
    lacks = b != member and not contains(request.isr, member)
    return lacks and request.leader == b and contains(request.to, b)


def alone_in_state(s, b: Broker, member: Broker):
    """A leader whose ISR lacks the other is alone in the ISR in ZooKeeper."""
    return s.zk.unclean > 0 or not is_alone(s, b, member) or s.zk.isr == only(b)


def alone_in_state_by_request(s, b: Broker, member: Broker, epoch: Epoch):
    """So is whom LeaderAndIsr makes leader without the other."""
    return s.zk.unclean > 0 or not to_be_alone(s, b, member, epoch) or s.zk.isr == only(b)


def nobody_follows_alone(s, b: Broker, member: Broker, epoch: Epoch):
    """No later LeaderAndIsr names another to a leader that is alone."""
    request = s.network.requests[epoch]
    if s.zk.unclean > 0 or not is_alone(s, b, member):
        return True
    return not contains(request.to, b) or request.leader == b


def nobody_follows_alone_by_request(s, b: Broker, member: Broker, epoch: Epoch, later: Epoch):
    """Nor to whom LeaderAndIsr makes leader without the other."""
    request = s.network.requests[later]
    if s.zk.unclean > 0 or later <= epoch or not to_be_alone(s, b, member, epoch):
        return True
    return not contains(request.to, b) or request.leader == b


def message_is_fetch(s, f: Broker):
    """Followers fetch, and do nothing else; from another broker, in a leader epoch that was written."""
    message = s.network.messages[f]
    if message.kind == NO_MESSAGE:
        return True
    written = 0 <= message.epoch <= s.zk.leader_epoch
    return message.kind != EPOCHS and message.kind != END and message.peer != f and written


def newest_message_is_to_leader(s, f: Broker):
    """What was sent in the present leader epoch was sent to the leader that ZooKeeper names."""
    message = s.network.messages[f]
    return message.kind == NO_MESSAGE or message.epoch != s.zk.leader_epoch or message.peer == s.zk.leader


def message_is_not_ahead(s, f: Broker):
    """What a follower has sent is of its leader epoch or of a lower one, if its process has a role."""
    broker = s.brokers[f]
    message = s.network.messages[f]
    return message.kind == NO_MESSAGE or broker.state == NONE or message.epoch <= broker.leader_epoch


def message_is_no_newer_than_request(s, f: Broker, epoch: Epoch):
    """Nor is it of a higher one than LeaderAndIsr on its way to it."""
    message = s.network.messages[f]
    return message.kind == NO_MESSAGE or not contains(s.network.requests[epoch].to, f) or message.epoch <= epoch


def answer_was_given(s, f: Broker, leader: Broker):
    """Who has answered has come to that leader epoch, or is a new process."""
    message = s.network.messages[f]
    if not is_answer(message) or message.peer != leader:
        return True
    return s.brokers[leader].state == NONE or s.brokers[leader].leader_epoch >= message.epoch


def answer_was_given_before_request(s, f: Broker, leader: Broker, epoch: Epoch):
    """And it has left behind what LeaderAndIsr said of that epoch and of lower ones."""
    message = s.network.messages[f]
    if not is_answer(message) or message.peer != leader:
        return True
    return not contains(s.network.requests[epoch].to, leader) or epoch > message.epoch


CURRENT = (
    request_was_written,
    newest_names_leader,
    request_is_ahead,
    request_leader_in_isr,
    state_isr_has_leader,
    role_has_epoch,
    leader_is_in_its_isr,
    epoch_has_one_leader,
    newest_epoch_has_leader,
    role_agrees_with_request,
    leader_was_told,
    older_with_newest,
    new_process_is_told,
    proposal_is_leaders,
    proposal_was_by_right,
    proposal_is_before_request,
    alone_in_state,
    alone_in_state_by_request,
    nobody_follows_alone,
    nobody_follows_alone_by_request,
    message_is_fetch,
    newest_message_is_to_leader,
    message_is_not_ahead,
    message_is_no_newer_than_request,
    answer_was_given,
    answer_was_given_before_request,
    *LOGS,
    *PROMISES,
)
