"""The quorum of KRaft controllers: its leader, its log, and what users change through it."""

from kafkaproof.spec.language.domains import NOBODY, Id
from kafkaproof.spec.language.sets import contains, with_member
from kafkaproof.spec.migration.state import (
    GOING_BACK,
    IN_MIGRATION,
    NO_STATE,
    UNINITIALIZED,
    WAITING,
    QuorumEpoch,
    forget_copy,
    put,
)
from kafkaproof.spec.migration.zookeeper import forget_version, note_change

Controller = Id("controllers")
Leader = Id("brokers")
Topic = Id("topics")


def runs(s):
    """Whether the controllers of the quorum run, with drivers."""
    return s.stage == IN_MIGRATION or s.stage == GOING_BACK


def leads(s, c):
    """Whether what `c` appends to the log is committed: it leads in the epoch that its driver knows."""
    return s.quorum.leader == c and s.quorum.epoch == s.drivers[c].epoch


def append(quorum, topic, leader, leader_epoch):
    """Commit one record: the metadata from here on."""
    record = quorum.records[quorum.end]
    put(record, topic, leader, leader_epoch)
    record.epoch = quorum.epoch
    quorum.end += 1


def forget_driver(driver):
    """A process begins, or is gone with all that it knew."""
    driver.driving = UNINITIALIZED
    driver.epoch = 0
    step_down(driver)


def step_down(driver):
    """Nothing that the driver knew of ZooKeeper matters any more: it reads it again when it becomes active."""
    driver.writing = WAITING
    driver.image = 0
    driver.offset = 0
    driver.metadata_epoch = 0
    forget_claim(driver)


def forget_claim(driver):
    """The driver has no claim to rule, as far as it knows."""
    driver.zk_epoch = 0
    driver.zk_version = 0
    driver.found = 0


def end_controller(s, c):
    """The process of controller `c` ends, and begins anew; a leader leads no more."""
    forget_driver(s.drivers[c])
    forget_version(s.zk, c)
    if s.quorum.leader == c:
        s.quorum.leader = NOBODY


def elect(s, c: Controller, epoch: QuorumEpoch):
    """The quorum elects a leader, in a higher epoch.

    Guards:  the quorum runs.
    Effects: an open transaction is aborted; an empty log begins with PRE_MIGRATION. No driver has heard of it yet.
    """
    quorum = s.quorum
    if not runs(s) or epoch <= quorum.epoch:
        return False

    quorum.leader = c
    quorum.epoch = epoch
    s.elections += 1
    forget_copy(quorum)
    if quorum.end == 0:
        append(quorum, NOBODY, NOBODY, NO_STATE)
    return True


def crash(s, c: Controller):
    """The process of a controller dies, and begins anew.

    Guards:  the quorum runs, and its driver has begun.
    Effects: what its driver knew is gone.
    """
    if not runs(s) or s.drivers[c].driving == UNINITIALIZED:
        return False

    end_controller(s, c)
    s.zk.faults += 1
    return True


def is_open(s):
    """Whether users change metadata through the quorum: once the copy is committed."""
    return s.quorum.leader != NOBODY and s.quorum.migrated > 0


def last_record(quorum):
    """Index of the last record of a log that is not empty."""
    return quorum.end - 1


def is_new(s, t):
    """Whether an id is the next that a topic is given."""
    return not contains(s.given, t) and (t == 0 or contains(s.given, t - 1))


def commit_topic(s, t: Topic):
    """A user creates the topic.

    Guards:  the quorum takes changes; there is no topic; the id was never given.
    Effects: one record; broker 0 leads the partition.
    """
    if not is_open(s) or not is_new(s, t) or s.quorum.records[last_record(s.quorum)].topic != NOBODY:
        return False

    s.given = with_member(s.given, t)
    append(s.quorum, t, 0, 0)
    note_change(s.zk, t, 0, 0)
    return True


def commit_deletion(s):
    """A user deletes the topic.

    Guards:  the quorum takes changes; there is a topic.
    Effects: one record.
    """
    if not is_open(s) or s.quorum.records[last_record(s.quorum)].topic == NOBODY:
        return False

    s.unwanted = with_member(s.unwanted, s.quorum.records[last_record(s.quorum)].topic)
    append(s.quorum, NOBODY, NOBODY, NO_STATE)
    note_change(s.zk, NOBODY, NOBODY, NO_STATE)
    return True


def commit_leader(s, b: Leader):
    """The quorum changes the partition: another leader, or the same one with another ISR, in the next leader epoch.

    Guards:  the quorum takes changes; there is a topic.
    Effects: one record.
    """
    if not is_open(s):
        return False
    last = s.quorum.records[last_record(s.quorum)]
    if last.topic == NOBODY:
        return False

    append(s.quorum, last.topic, b, last.leader_epoch + 1)
    note_change(s.zk, last.topic, b, last.leader_epoch + 1)
    return True
