"""Mutants of replication that break what is known of requests and records, or what a single step must do."""

from kafkaproof.spec.language.mutants.mutant import mutant
from kafkaproof.spec.language.mutants.simple import NO, NOTHING, YES, simple
from kafkaproof.spec.language.sets import only
from kafkaproof.spec.replication import replication
from kafkaproof.spec.replication.model import scope
from kafkaproof.spec.replication.mutants.replication import write_quorum_and_forget
from kafkaproof.spec.replication.replication import append, copy_entry, truncate, write_quorum

TINY, ONE = scope(brokers=2, log=1, records=1, epochs=0), scope(brokers=2, log=1, records=1, epochs=1)
TWO = scope(brokers=2, log=1, epochs=1)


def append_first(log, id, epoch):
    """Every record has the number 0."""
    append(log, 0, epoch)


def write_isr_only(s, leader, isr):
    """The leader writes the ISR to the quorum, and goes on with the former one."""
    s.quorum.isr = isr


def move_entry(source, target):
    """The leader drops the records that it has sent."""
    copy_entry(source, target)
    truncate(source, 0)


def write_quorum_alone(s, leader, isr):
    """The controller writes the leader as the whole ISR."""
    write_quorum(s, leader, only(leader) if leader >= 0 else isr)


def write_quorum_without_isr(s, leader, isr):
    """The ISR is not sent."""
    write_quorum(s, leader, isr)
    s.requests.slots[s.quorum.leader_epoch].isr = 0


MUTANTS = (
    simple("log_matching", replication.truncate, NOTHING, TWO),
    mutant("numbered-zero", "written_once", {replication.append: append_first}, TWO),
    mutant("isr-not-adopted", "known_from_requests", {replication.write_isr: write_isr_only}, TINY),
    mutant("record-moved", "one_replica", {replication.copy_entry: move_entry}, TINY),
    mutant(
        "former-requests-forgotten", "known_from_requests", {replication.write_quorum: write_quorum_and_forget}, ONE
    ),
    mutant("isr-not-sent", "next_epoch", {replication.write_quorum: write_quorum_without_isr}, ONE),
    mutant("elected-alone", "elected_from_isr", {replication.write_quorum: write_quorum_alone}, TINY),
    simple("removed_by_controller", replication.write_quorum, NOTHING, TINY),
    simple("led_as_told", replication.adopt, NOTHING, TINY),
    simple("followed_as_told", replication.end_of_match, NO, ONE),
    simple("appended_by_leader", replication.append, NOTHING, TINY),
    simple("fetched_in_order", replication.copy_entry, NOTHING, TINY),
    simple("committed_one", replication.following_epoch, YES, TINY),
    simple("joined_isr", replication.reached_current_epoch, YES, ONE),
    simple("left_isr", replication.following_epoch, NO, TINY),
)
