"""What would end the faults of 3.9 that the model finds: no release does this.

The first write of /migration is checked against the claim; whether the copy was made is read from the log; a request that
is sent again recognises what it has done; and synchronisation goes on until nothing differs.
"""

from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.migration import claiming, driver, writing, zookeeper
from kafkaproof.spec.migration.claiming import go_on
from kafkaproof.spec.migration.driver import says_migration
from kafkaproof.spec.migration.quorum import Controller, forget_claim
from kafkaproof.spec.migration.state import (
    CLAIMED,
    CREATING,
    CREATING_STATE,
    DELETING_STATE,
    NO_STATE,
    UPDATING,
    WAITING,
    WRITTEN,
    is_same,
)
from kafkaproof.spec.migration.zookeeper import check_claim, set_any_migration

checked_set_any_migration = checked(set_any_migration, check_claim)


def begin_to_rule(s, c: Controller):
    """A driver that rules writes /migration, if nobody has claimed the rule since, and goes on.

    Guards:  it has claimed the rule.
    Request: OK; FENCED when another has claimed it since.
    Effects: as in 3.9; on FENCED it claims again, and is refused.
    Kafka:   none.
    """
    if s.drivers[c].writing != CLAIMED:
        return False

    answer = checked_set_any_migration(s.zk, c, s.drivers[c])
    if answer == OK:
        go_on(s, c)
    else:
        s.drivers[c].writing = WAITING
        forget_claim(s.drivers[c])
    return True


def was_copied(s, c):
    """Whether the metadata was copied before: the log says MIGRATION."""
    return says_migration(s.quorum, s.drivers[c])


def recognise_claim(zk):
    """A claim that was applied is sent again, and recognised: OK."""
    zk.faults += 1
    return OK


def recognise(zk, c):
    """A write of /migration that was applied is sent again, and recognised: OK."""
    zk.faults += 1
    return OK


def what_differs(zk, record):
    """What a driver that synchronises does first: former topics go before new ones come, and a missing state is created."""
    if zk.topic.topic != NOBODY and record.topic != zk.topic.topic:
        return DELETING_STATE
    if record.topic != zk.topic.topic:
        return CREATING
    if not is_same(record, zk.topic):
        return CREATING_STATE if zk.topic.leader_epoch == NO_STATE else UPDATING
    return WRITTEN


def new_comes_first(zk, record):
    """With one fault of 3.9: what is new is created before a former topic of that name goes.

    Kafka: KRaftMigrationZkWriter.handleTopicsSnapshot, 3.5 to 3.9.
    """
    if record.topic != NOBODY and record.topic != zk.topic.topic:
        return CREATING
    return what_differs(zk, record)


def state_is_overlooked(zk, record):
    """With one fault of 3.9: a state that is missing is written like one that is there.

    Kafka: KRaftMigrationZkWriter.handleTopicsSnapshot, 3.5 to 3.9; ZkTopicMigrationClient.updateTopicPartitions, 3.6 to 3.9.
    """
    found = what_differs(zk, record)
    return UPDATING if found == CREATING_STATE else found


def compare_again(driver):
    """A driver that has written one difference looks for the next."""
    driver.writing = WAITING


CLAIM = {claiming.begin_to_rule: begin_to_rule}


def claimed_epoch(driver):
    """The controller epoch that a driver writes into the state of a partition: the one that it has claimed."""
    return driver.zk_epoch


REPAIRS = {
    zookeeper.epoch_of: claimed_epoch,
    driver.was_copied: was_copied,
    zookeeper.claim_again: recognise_claim,
    zookeeper.send_again: recognise,
    writing.what_differs: what_differs,
    writing.end_synchronisation: compare_again,
}
