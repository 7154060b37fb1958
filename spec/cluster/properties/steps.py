"""What each step of the composed cluster must do: the properties of steps in `partition` and `replica`, where they
meet.

The properties of broker steps in `replica` are checked in the data plane of each partition. Those of LeaderAndIsr, of
answers to AlterPartition and of processes, in which the control plane takes part, are here. One does not hold here and
is left out: a zombie controller sends an outdated ISR (`isr_is_known`).
"""

from dataclasses import replace

from kafkaproof.spec.cluster.network import isr_in
from kafkaproof.spec.cluster.properties.safety import of_each_partition
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.model import Property, always, always_step
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.partition.context import alive
from kafkaproof.spec.partition.properties import safety as partition
from kafkaproof.spec.partition.properties.sessions import registers_anew
from kafkaproof.spec.replica import controller, faults, leader
from kafkaproof.spec.replica.broker import NONE
from kafkaproof.spec.replica.network import DONE, NO_MESSAGE, NO_PROPOSAL, SENT, is_request
from kafkaproof.spec.replica.properties import client_events, isr_events, log_events, states
from kafkaproof.spec.replica.properties.isr_events import begins, gives_up, refusal_ends_proposal
from kafkaproof.spec.replica.properties.log_events import same_broker, same_log, same_question
from kafkaproof.spec.replica.properties.states import is_whole


def holds_of_broker(before, after, b):
    """A property of a broker's step in a data plane."""
    return True


def holds_of_two(before, after, b, other):
    """A property of a broker's step in a data plane, for a step with another argument."""
    return True


def of_broker(before, after, b, p):
    """It holds of a broker's step in the data plane of a partition."""
    return holds_of_broker(before.planes[p], after.planes[p], b)


def of_two(before, after, b, p, other):
    """It holds of a broker's step, with its other argument, in the data plane of a partition."""
    return holds_of_two(before.planes[p], after.planes[p], b, other)


def in_its_partition(prop: Property) -> Property:
    """A property of `replica`, checked in each data plane, or in that of its steps."""
    if not prop.of:
        return of_each_partition(prop)
    asked = {holds_of_broker: prop.predicate, holds_of_two: prop.predicate}
    predicate = rebind(of_broker if prop.predicate.__code__.co_argcount == 3 else of_two, asked)
    predicate.__doc__ = prop.predicate.__doc__
    return replace(prop, predicate=predicate)


def nothing_left_over(s):
    """A message between replicas has the fields of its kind, and no others; a message that is not there has none."""
    for data in s.planes:
        if not is_whole(data.network):
            return False
    return True


def obeys(before, after, b, epoch, p):
    """LeaderAndIsr of a higher leader epoch is obeyed: a leader begins with the ISR of the request, with no proposal
    and no follower heard of; a follower keeps its high watermark; neither waits for an answer. Any other
    LeaderAndIsr changes nothing (Partition.makeLeader, makeFollower).
    """
    old = before.planes[p]
    new = after.planes[p]
    if after.brokers[b].replicas[p].leader_epoch > before.brokers[b].replicas[p].leader_epoch:
        return begins(old, new, b, isr_in(before.network, epoch, p))
    return same_broker(old.brokers[b], new.brokers[b]) and new.network.alters[b].state == old.network.alters[b].state


def has_ended(old, new, b):
    """Whether a replica has no role any more, keeps its log, and waits for nothing; its requests may still arrive."""
    replica = new.brokers[b]
    message = new.network.messages[b]
    asks = is_request(old.network, b) and same_question(old.network.messages[b], message)
    if not asks and message.kind != NO_MESSAGE or new.network.alters[b].state != NO_PROPOSAL:
        return False
    return replica.state == NONE and replica.hw == old.brokers[b].hw and same_log(old.brokers[b].log, replica.log)


def logs_outlive_process(before, after, b):
    """A process that ends leaves its logs, but no role; no answer to its requests is awaited."""
    for p in range(len(after.planes)):
        if not has_ended(before.planes[p], after.planes[p], b):
            return False
    return True


def log_outlives_directory(before, after, b, p):
    """A replica whose log directory fails has no role until the next process, which finds the log."""
    return has_ended(before.planes[p], after.planes[p], b)


def restarts(before, after, b, hw):
    """A process that starts registers anew, and finds the logs of the former one, with high watermarks that they once
    had (LogManager.loadLogs).
    """
    for p in range(len(after.planes)):
        old = before.planes[p].brokers[b]
        new = after.planes[p].brokers[b]
        if new.state != NONE or new.hw != min(old.hw, hw) or not same_log(old.log, new.log):
            return False
    return registers_anew(before, after, b)


def is_granted(before, after, p, sender):
    """Whether a leader is told that what it has proposed is written."""
    old = before.planes[p].network.alters[sender]
    new = after.planes[p].network.alters[sender]
    return old.state == SENT and new.state == DONE and new.isr == old.isr


def written_is_granted(before, after, b, p, sender, isr, delivery):
    """The leader gets a positive answer to its proposed ISR if and only if that is written and the controller has the
    answer (KafkaController.processAlterPartition).
    """
    written = after.zk.partitions[p].isr == isr and delivery == ANSWERED
    if is_granted(before, after, p, sender):
        return written
    return not written or before.zk.partitions[p].isr == isr


def stale_version_is_refused(before, after, b, p, sender, isr, delivery):
    """A leader is refused if and only if the controller writes on an outdated version and has the answer: it keeps its
    ISR and its proposal, and does not ask again (INVALID_UPDATE_VERSION).
    """
    rules = contains(before.zk.registered, b) and before.zk.epoch == before.brokers[b].controller.epoch
    is_stale = rules and not contains(before.zk.partitions[p].readers, b)
    return gives_up(before.planes[p], after.planes[p], sender) == (is_stale and delivery == ANSWERED)


def known_is_granted(before, after, b, p, sender):
    """A controller that has the proposed ISR in its context already answers that it is written
    (LeaderAndIsr.equalsAllowStalePartitionEpoch).
    """
    known = before.brokers[b].controller.partitions[p].isr == before.planes[p].network.alters[sender].isr
    return known and is_granted(before, after, p, sender)


def ineligible_is_refused(before, after, sender, p, b, isr):
    """A leader whose new member is dead or shutting down, as far as the controller knows, keeps its ISR and drops its
    proposal (INELIGIBLE_REPLICA), unless the controller has that ISR already.
    """
    controller = before.brokers[b].controller
    if is_empty(difference(isr, alive(controller))) or isr == controller.partitions[p].isr:
        return False
    return refusal_ends_proposal(before.planes[p], after.planes[p], sender)


def unclean_allowed_once(before, after):
    """An operator allows unclean elections only where they are not allowed yet."""
    return before.zk.unclean == 0 and after.zk.unclean == 1


def epoch_ends_proposals(before, after):
    """With a new leader epoch proposals on their way are refused (FENCED_LEADER_EPOCH); only an election from outside
    the ISR is unclean.
    """
    for p in range(len(after.planes)):
        old = before.planes[p].zk
        new = after.planes[p].zk
        if new.leader_epoch == old.leader_epoch and new.unclean != old.unclean:
            return False
        for alter in after.planes[p].network.alters:
            if new.leader_epoch != old.leader_epoch and alter.state == SENT:
                return False
        outside = old.leader_epoch >= 0 and new.isr != old.isr and not is_empty(difference(new.isr, old.isr))
        if new.leader_epoch != old.leader_epoch and new.unclean != max(old.unclean, 1 if outside else 0):
            return False
    return True


OTHERWISE = ("isr_is_known", "leader_in_isr", "requests_are_news", "nothing_left_over")
"""Properties that do not hold here, or that are checked for the control plane or below."""
STATES = tuple(of_each_partition(p) for p in states.STATES + states.PROPOSALS if p.name not in OTHERWISE)
OF_REPLICA = log_events.ALWAYS + log_events.HW + log_events.ENDS + log_events.SERVED + log_events.ANSWERED
OF_REPLICA += client_events.ALWAYS + isr_events.PROPOSALS
AT_BROKERS = {
    step.__name__ for step in (faults.bounce, controller.alter_partition, faults.lose_answer, leader.learn_refusal)
}
"""Transitions of `replica` that have replacements here."""
DATA = tuple(in_its_partition(p) for p in OF_REPLICA if not set(p.of) & AT_BROKERS)
CONTROL = tuple(replace(p, of=("reopen",)) if p.predicate == registers_anew else p for p in partition.STEP_BY_STEP)
MEETING = (
    always(nothing_left_over),
    always_step(obeys, of=("leader_and_isr",)),
    always_step(logs_outlive_process, of=("crash", "stop")),
    always_step(log_outlives_directory, of=("fail_log_dir",)),
    always_step(restarts, of=("restart",)),
    always_step(written_is_granted, of=("alter_partition",)),
    always_step(stale_version_is_refused, of=("alter_partition",)),
    always_step(known_is_granted, of=("confirm_isr",)),
    always_step(ineligible_is_refused, of=("refuse_isr",)),
    always_step(epoch_ends_proposals),
    always_step(unclean_allowed_once, of=("allow_unclean",)),
)
STEP_BY_STEP = STATES + CONTROL + DATA + MEETING
