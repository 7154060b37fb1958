"""Mutants of replicas: one deliberate mistake each, on `current` and, where epochs are asked for, on `fenced`.

The mutations known for D1 to D8 and P8. A mutant is not held to the rules of writing a transition.
"""

from dataclasses import replace

from kafkaproof.spec.language.model import FAULT, Transition, first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.language.sets import contains, with_member, without_member
from kafkaproof.spec.replica import broker, controller, faults, follower, leader, network, replica
from kafkaproof.spec.replica.broker import LEADER, Broker, advance, follow, lead, replicated_up_to
from kafkaproof.spec.replica.clients import consumer
from kafkaproof.spec.replica.clients import network as clients
from kafkaproof.spec.replica.clients.network import commit, deliver, position_of
from kafkaproof.spec.replica.controller import write_state
from kafkaproof.spec.replica.history import follower_truncation as former
from kafkaproof.spec.replica.history import leader_writes_isr, shrunk_isr
from kafkaproof.spec.replica.leader import may_change_isr
from kafkaproof.spec.replica.model import scope
from kafkaproof.spec.replica.network import (
    arriving,
    drop_request,
    isr_in,
    leader_in,
    leave_leader,
    send_first,
    withdraw,
)
from kafkaproof.spec.replica.replica import Epoch
from kafkaproof.spec.replica.storage import end_of_epoch, truncate
from kafkaproof.spec.replica.zookeeper import OK


def elect_anyone(s, leader: Broker):
    """The controller elects a replica outside the ISR."""
    if s.zk.leader == leader:
        return False
    write_state(s, leader, with_member(s.zk.isr, leader))
    return True


def reached_with_answer(offset, log):
    """A follower counts as having the record that it is about to be sent."""
    return min(offset + 1, log.length)


def advance_without_max(broker, b):
    """The high watermark is the least end, be it lower than before."""
    broker.hw = max(0, replicated_up_to(broker, b))


def consume_uncommitted(s, b: Broker):
    """A consumer reads up to the log end offset."""
    broker = s.brokers[b]
    at = position_of(s.clients)
    if broker.state != LEADER or at >= broker.log.length:
        return False
    deliver(s.clients, broker.log.slots[at].id)
    return True


def take_and_acknowledge(clients, broker, acks, enough):
    """A record is acknowledged as soon as the leader has it."""
    log = broker.log
    clients.places[log.length].ghosts.committed = clients.next_record + 1
    log.slots[log.length].id = clients.next_record
    log.slots[log.length].epoch = broker.leader_epoch
    log.length += 1
    clients.next_record += 1
    return OK


def enough_always(broker):
    """min.insync.replicas is not looked at."""
    return True


def shrink_locally(s, b: Broker, follower: Broker):
    """A leader takes a follower out of its own ISR, and asks nobody."""
    broker = s.brokers[b]
    if not may_change_isr(broker) or follower == b or not contains(broker.isr, follower):
        return False
    if broker.ends[follower] == broker.log.length:
        return False
    broker.isr = without_member(broker.isr, follower)
    advance(broker, b)
    commit(s.clients, s.zk, b, broker)
    return True


def start_of_epoch(log, last):
    """The leader answers with the start of the asked epoch, not its end."""
    return end_of_epoch(log, last - 1)


def take_one_request(network, b, epoch):
    """Requests of lower epochs are obeyed later."""
    drop_request(network, b, epoch)
    withdraw(network, b)


def obey_any(s, b: Broker, epoch: Epoch):
    """A broker obeys LeaderAndIsr of any leader epoch."""
    broker = s.brokers[b]
    if epoch == broker.leader_epoch or not arriving(s.network, b, epoch):
        return False
    named = leader_in(s.network, epoch)
    isr = isr_in(s.network, epoch)
    take_one_request(s.network, b, epoch)
    leave_leader(s.network, b)
    if named == b:
        lead(broker, b, epoch, isr)
        commit(s.clients, s.zk, b, broker)
    else:
        follow(broker, named, epoch)
        send_first(s.network, b, broker)
    return True


def tell_next_epoch(network, epoch, named, isr):
    """The controller tells the epoch after the one that it writes."""
    request = network.requests[min(epoch + 1, len(network.requests) - 1)]
    request.leader = named
    request.isr = isr
    request.to = isr


def cut_without_lowering(broker, offset):
    """A truncation leaves the high watermark where it was."""
    if offset < broker.log.length:
        truncate(broker.log, offset)


CALM, SMALL, TWO = scope(epochs=0), scope(), scope(log=2, records=2)


def mutant(name, kills, replacements, at=SMALL, text=""):
    """A mutant of `current`, told by `text` or by the docstring of what replaces something."""
    text = text or first_paragraph(next(iter(replacements.values())))
    return Mutant(name, text, kills, everywhere(replacements), at)


def with_lost_requests(model):
    """LeaderAndIsr may be lost for good."""
    return replace(model, transitions=(*model.transitions, Transition(faults.lose_request, "broker {b}", kind=FAULT)))


OFFSETS_ALONE = {
    leader.diverges: former.beyond_end,
    leader.epoch_for: former.own_epoch,
    leader.end_for: former.whole_log,
}
TO_HW = {replica.begin_fetching: former.begin_at_high_watermark}
ANSWER_OF_ANY_EPOCH = {network.same_epoch: former.any_epoch, network.leave_leader: network.keep_waiting}
RESTARTED, GAPS = scope(faults=1), scope(records=2, epochs=2)
COMMITTED = (
    # what breaks D1 must break D3, which it is proved by, and D5, by which consumers notice
    (
        "elected-outside-isr",
        {controller.elect_leader: elect_anyone},
        "",
        {"committed": SMALL, "isr_complete": SMALL, "stable_read": SMALL},
    ),
    (
        "counted-before-appended",
        {leader.reached: reached_with_answer},
        "",
        {"isr_complete": CALM, "committed": SMALL, "stable_read": SMALL},
    ),
    (
        "hw-by-shrunk-isr",
        {broker.is_counted: shrunk_isr.is_proposed},
        "The high watermark advances by a proposed smaller ISR.",
        {"isr_complete": CALM, "committed": SMALL, "stable_read": SMALL},
    ),
    (
        "truncated-to-hw",
        TO_HW,
        "",
        {
            "isr_complete": scope(epochs=0, faults=1),
            "committed": RESTARTED,
            "stable_read": RESTARTED,
            "visible_match": scope(records=2, epochs=2, faults=1),
        },
    ),
    (
        "joined-at-hw",
        {leader.may_join: leader_writes_isr.has_caught_up},
        "A follower joins the ISR at the high watermark alone (KAFKA-7128).",
        {"isr_complete": scope(brokers=3), "committed": scope(brokers=3, epochs=2)},
    ),
)
MUTANTS = tuple(
    mutant(f"{name}, {kills}", kills, replacements, at, text)
    for name, replacements, text, killed in COMMITTED
    for kills, at in killed.items()
) + (
    mutant("committed-anew", "committed_stays", {controller.elect_leader: elect_anyone}, scope(records=2)),
    mutant(
        "epochs-uncompared",
        "isr_complete",
        {network.check: network.check_role},
        scope(log=2, records=2, epochs=2),
        "Leaders serve fetches of any leader epoch (KIP-320).",
    ),
    mutant("truncated-by-offset", "log_match", OFFSETS_ALONE, scope(log=2, records=3)),
    mutant("offsets-alone", "visible_match", OFFSETS_ALONE, scope(records=2)),
    mutant("hw-kept-in-truncation", "hw_in_log", {follower.cut: cut_without_lowering}, scope(epochs=2, unclean=1)),
    mutant("hw-without-max", "leader_hw_never_falls", {broker.advance: advance_without_max}),
    mutant("read-above-hw", "stable_read", {consumer.consume: consume_uncommitted}),
    mutant("acknowledged-by-leader", "acknowledged_is_visible", {clients.take_record: take_and_acknowledge}, CALM),
    mutant("min-isr-ignored", "enough_replicas", {broker.enough_in_sync: enough_always}, scope(min_isr=2)),
    mutant("shrunk-locally", "stale_leader", {leader.shrink_isr: shrink_locally}),
    mutant("start-of-epoch", "truncated_above_hw", {leader.end_for: start_of_epoch}, TWO),
    mutant(
        "late-answer",
        "truncated_above_hw",
        ANSWER_OF_ANY_EPOCH,
        scope(epochs=3),
        "A follower accepts the answer to a fetch of an earlier epoch (KAFKA-18991).",
    ),
    mutant("epoch-sent-before-written", "local_epoch", {network.put_request: tell_next_epoch}, scope(epochs=2)),
    mutant("older-epoch-obeyed", "local_epoch_never_falls", {replica.leader_and_isr: obey_any}, scope(epochs=2)),
    Mutant("request-lost", "LeaderAndIsr is lost for good.", "version_is_mended", with_lost_requests, scope(faults=1)),
)
FENCED_MUTANTS = (
    mutant(
        "epoch-not-in-answer",
        "visible_match",
        {former.cut_at_epoch: former.cut_at_offset, former.ask_until_known: follower.after_truncation},
        GAPS,
    ),
    mutant(
        "fencing-off",
        "visible_match",
        ANSWER_OF_ANY_EPOCH | {network.check: network.check_role, replica.restarts: former.restarts_after_a_gap},
        GAPS,
        "Neither requests nor answers name the leader epoch (KIP-320).",
    ),
)
