"""What brokers of this project did in recordings up to format 8, and no release of Kafka does."""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED
from kafkaproof.spec.partition import isr, machines, progress, replica, rounds
from kafkaproof.spec.partition.context import forget
from kafkaproof.spec.partition.history.zkclient_partition import elect_at_once
from kafkaproof.spec.partition.zookeeper import disconnect


def may_become_anything(broker, b, leader):
    """A broker follows whoever is named, and where nobody is, it leads no more."""
    return True


def forget_at_once(controller, answer):
    """A failover that is refused for want of a session ends the term at once."""
    forget(controller)


def end_term(s, b, answer):
    """An event whose request is refused ends the term at once, also for want of a session."""
    disconnect(s.zk, b)
    forget(s.brokers[b].controller)


def forget_election(s, b, p):
    """A request of an election that is refused for want of a session ends the term at once."""
    forget(s.brokers[b].controller)


def forget_removal(s, b, p, r):
    """A request for a replica that goes offline, refused for want of a session, ends the term at once."""
    forget(s.brokers[b].controller)


def answer_alone(s, b, p, answer):
    """A leader is answered that its ISR was not written; nobody else is told."""
    return 0


def confirm_alone(s, b, p):
    """A leader is answered that its ISR is there already; nothing else follows."""
    return 0


def end_term_when_refused(s, b, p, answer):
    """The change of an ISR ends the term when it is refused."""
    if answer == FENCED or answer == EXPIRED:
        end_term(s, b, answer)


UP_TO_7 = {
    progress.give_up: end_term,
    machines.fail_election: forget_election,
    machines.fail_removal: forget_removal,
    rounds.retry_election: elect_at_once,
    replica.may_become: may_become_anything,
}
UP_TO_8 = {isr.answer_leader: answer_alone, isr.confirm_change: confirm_alone}
PROPOSED_UP_TO_7 = {
    progress.lapse: forget_at_once,
    isr.answer_leader: end_term_when_refused,
    isr.confirm_change: confirm_alone,
}
"""The same for brokers that ask the controller to change an ISR."""
