"""Mutants of replicas that one step shows, or what it leaves behind: one deliberate mistake each, on `current`."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, within
from kafkaproof.spec.language.sets import contains, only, without_member
from kafkaproof.spec.replica import broker, controller, leader, network
from kafkaproof.spec.replica.broker import FETCHING, LEADER, NONE, UNKNOWN_END, Broker, forget_ends
from kafkaproof.spec.replica.clients import network as clients
from kafkaproof.spec.replica.controller import write_state
from kafkaproof.spec.replica.history import forgotten_ends, shrunk_isr
from kafkaproof.spec.replica.leader import Acks, may_change_isr
from kafkaproof.spec.replica.mutants.replica import (
    ANSWER_OF_ANY_EPOCH,
    CALM,
    SMALL,
    TO_HW,
    elect_anyone,
    mutant,
    reached_with_answer,
    scope,
    shrink_locally,
    take_one_request,
)
from kafkaproof.spec.replica.network import DONE, FETCH, NO_PROPOSAL, SENT, drop_request, propose
from kafkaproof.spec.replica.zookeeper import OK
from kafkaproof.spec.replication.replication import append

ONE_FAULT, UNCLEAN = scope(epochs=0, faults=1), scope(epochs=2, unclean=1)


def rest_in_epoch(broker, epoch):
    """A new process knows the leader epoch of the former one."""
    broker.state = NONE
    broker.leader = NOBODY


def forget_all_but_isr(broker):
    """A broker that leads no more keeps its ISR."""
    broker.pending = 0
    broker.heard = 0
    broker.waiting = 0
    forget_ends(broker)


def shrink_to_others(s, b: Broker, follower: Broker):
    """A leader proposes an ISR without itself."""
    broker = s.brokers[b]
    if not may_change_isr(broker) or follower != b or broker.isr == only(b):
        return False
    broker.pending = without_member(broker.isr, b)
    propose(s.network, b, broker.leader_epoch, without_member(broker.isr, b))
    return True


def ask_later(network, f, broker):
    """A new follower asks for nothing until it is reminded."""
    return 0


def withdraw_in_part(network, b):
    """What a proposal said is left behind when it is withdrawn."""
    network.alters[b].state = NO_PROPOSAL


def commit_for_producers(clients, zk, b, broker):
    """A record is committed only if its producer waits for that."""
    for i in range(len(broker.log.slots)):
        if i < broker.hw and contains(broker.waiting, broker.log.slots[i].id):
            clients.places[i].ghosts.committed = broker.log.slots[i].id + 1
            broker.waiting = without_member(broker.waiting, broker.log.slots[i].id)


def commit_by_anyone(clients, zk, b, broker):
    """All that is below the high watermark of any leader is committed, and the producers wait on."""
    for i in range(len(broker.log.slots)):
        if i < broker.hw:
            clients.places[i].ghosts.committed = broker.log.slots[i].id + 1


def forget_producers(clients, zk, b, broker):
    """A leader forgets which producers wait."""
    broker.waiting = 0


def skip(clients, id):
    """The consumer goes on without the record."""
    clients.position += 1


def deliver_and_rewind(clients, id):
    """The consumer begins anew after its second record."""
    clients.places[clients.position].ghosts.read = id + 1
    clients.position = 0 if clients.position > 0 else 1


def answer_nothing(network, b):
    """The controller writes a proposed ISR and does not answer."""
    return 0


def propose_in_first_epoch(network, b, epoch, isr):
    """AlterPartition carries the first leader epoch."""
    propose(network, b, 0, isr)


def produce_everywhere(s, b: Broker, acks: Acks):
    """A record is appended to all logs at once."""
    if s.brokers[b].state != LEADER:
        return False
    for each in s.brokers:
        append(each.log, s.clients.next_record, s.brokers[b].leader_epoch)
    s.clients.next_record += 1
    return True


def send_from_start(network, f, broker):
    """A follower fetches from offset 0, whatever it has."""
    message = network.messages[f]
    message.kind = FETCH
    message.peer = broker.leader
    message.epoch = broker.leader_epoch
    message.offset = 0


def follows(network, f, broker):
    """A follower repeats a fetch that is on its way."""
    return broker.state == FETCHING


def refuse_anyone(acks, enough):
    """With too few in sync, no record is taken, whatever acks is."""
    return not enough


def take_unnumbered(clients, broker, acks, enough):
    """Each record has the number of the first."""
    append(broker.log, clients.next_record, broker.leader_epoch)
    return OK


def renew_nothing(network, zk, b):
    """The controller tells a new process nothing."""
    for e in range(len(network.requests) - 1):
        drop_request(network, b, e)


def tell_leader_alone(network, epoch, leader, isr):
    """The controller tells nobody but the new leader."""
    request = network.requests[epoch]
    request.leader = leader
    request.isr = isr
    request.to = only(leader)


def drop_for_all(network, b, epoch):
    """What one broker has taken, no other gets."""
    request = network.requests[epoch]
    request.leader = 0
    request.isr = 0
    request.to = 0


def set_isr_of_anyone(zk, b, epoch, isr):
    """The controller writes what any leader proposes, of whatever epoch."""
    zk.isr = isr
    return OK


def join_anywhere(broker, follower):
    """A follower joins the ISR wherever it is."""
    return True


def write_leader_alone(s, leader, isr):
    """An elected leader is alone in the ISR."""
    write_state(s, leader, only(leader))


def write_isr_alone(s, leader, isr):
    """The controller writes an ISR under the next leader epoch, and leaves the leader as it is."""
    write_state(s, s.zk.leader, isr)


def taken_for_written(network, b):
    """A leader takes its proposal for written as soon as it is sent."""
    return DONE


def taken_for_refused(network, b):
    """A leader takes its proposal for refused when it is written."""
    return SENT


def ask_again(network, b):
    """A leader that is refused for the version of its own write asks again."""
    pass


def is_known(broker, follower):
    """A follower joins the ISR by an end that the leader knows from an earlier leader epoch."""
    return broker.ends[follower] != UNKNOWN_END


def inside(name, kills, transition, replacements, at):
    """A mutant of one transition alone."""
    text = first_paragraph(next(iter(replacements.values())))
    return Mutant(name, text, kills, within(transition, replacements), at)


LATE = "A follower accepts the answer to a fetch of an earlier epoch (KAFKA-18991)."
MUTANTS = (
    mutant("epoch-of-former-process", "role_by_leader", {broker.rest: rest_in_epoch}, ONE_FAULT),
    mutant("isr-kept", "only_leaders_lead", {broker.forget_leadership: forget_all_but_isr}),
    mutant("proposed-without-itself", "leader_in_isr", {leader.shrink_isr: shrink_to_others}, CALM),
    mutant("proposal-unanswered", "isr_is_known", {network.grant: answer_nothing}, CALM),
    mutant("first-epoch-proposed", "proposal_is_pending", {network.propose: propose_in_first_epoch}),
    mutant("older-requests-stay", "requests_are_news", {network.take_request: take_one_request}, scope(epochs=2)),
    inside("asked-later", "follower_asks", "leader_and_isr", {network.send_first: ask_later}, SMALL),
    mutant("proposal-left-behind", "nothing_left_over", {network.withdraw: withdraw_in_part}, CALM),
    mutant("committed-for-producers", "below_hw_is_committed", {clients.commit: commit_for_producers}, CALM),
    mutant("waits-for-ever", "waits_for_hw", {clients.commit: commit_by_anyone}, CALM),
    mutant("committed-by-anyone", "acknowledged_with_enough", {clients.commit: commit_by_anyone}),
    inside("producers-forgotten", "waits_until_answered", "serve_fetch", {clients.commit: forget_producers}, CALM),
    mutant("record-skipped", "read_up_to_position", {clients.deliver: skip}, CALM),
    mutant("read-anew", "read_stays", {clients.deliver: deliver_and_rewind}, scope(log=2, records=2, epochs=0)),
    mutant("read-nothing", "reads_below_hw", {clients.deliver: skip}, CALM),
    mutant("appended-everywhere", "one_broker_steps", {leader.produce: produce_everywhere}, CALM),
    mutant("fetched-from-start", "asks_for_its_end", {network.send: send_from_start}, CALM),
    mutant("asked-again", "asks_anew", {network.wants_to_send: follows}, CALM),
    mutant("acks-not-compared", "appends", {clients.lacks_replicas: refuse_anyone}, scope(epochs=0, min_isr=2)),
    mutant("one-number", "numbered_once", {clients.take_record: take_unnumbered}, CALM),
    mutant("untold-process", "restarts", {network.renew_request: renew_nothing}, ONE_FAULT),
    mutant(
        "waits-for-proposed-alone",
        "hw_of_maximal_isr",
        {broker.is_counted: shrunk_isr.is_proposed},
        CALM,
        "The high watermark advances by a proposed smaller ISR.",
    ),
    mutant("end-with-answer", "ends_by_fetches", {leader.reached: reached_with_answer}, CALM),
    mutant(
        "served-in-any-epoch",
        "fetch_is_served",
        {network.check: network.check_role},
        SMALL,
        "Leaders serve fetches of any leader epoch (KIP-320).",
    ),
    mutant("cut-to-hw", "log_by_protocol", TO_HW),
    mutant("answer-of-former-epoch", "takes_answer", ANSWER_OF_ANY_EPOCH, SMALL, LATE),
    mutant("answer-still-accepted", "obeys", ANSWER_OF_ANY_EPOCH, SMALL, LATE),
    mutant("joined-unheard", "proposes", {leader.has_fetched: is_known}),
    mutant("ends-forgotten", "keeps_known_ends", {broker.keeps_ends: forgotten_ends.keeps_no_end}),
    mutant("leader-outside-isr", "epoch_with_leader", {controller.elect_leader: elect_anyone}),
    inside("leader-alone", "elects_from_isr", "elect_leader", {controller.write_state: write_leader_alone}, SMALL),
    mutant("leader-told-alone", "everybody_is_told", {network.put_request: tell_leader_alone}),
    inside("nobody-elected", "elects_another", "elect_unclean", {controller.write_state: write_isr_alone}, UNCLEAN),
    inside("dead-leader-stays", "removes_replica", "remove_replica", {controller.write_state: write_isr_alone}, SMALL),
    mutant("request-for-one", "request_stays", {network.drop_request: drop_for_all}),
    mutant("isr-of-anyone", "isr_by_proposal", {controller.set_isr: set_isr_of_anyone}),
    mutant("isr-of-older-epoch", "proposal_is_written", {controller.set_isr: set_isr_of_anyone}),
    mutant("refused-asks-again", "own_write_is_refused", {network.refuse: ask_again}, ONE_FAULT),
    mutant("shrunk-unasked", "isr_by_answer", {leader.shrink_isr: shrink_locally}, CALM),
    mutant("joined-anywhere", "proposes", {leader.may_join: join_anywhere}, CALM),
    inside("learnt-too-soon", "learns_what_is_written", "learn_isr", {network.proposal_state: taken_for_written}, CALM),
    inside(
        "written-isr-refused",
        "refusal_ends_proposal",
        "learn_refusal",
        {network.proposal_state: taken_for_refused},
        CALM,
    ),
)
