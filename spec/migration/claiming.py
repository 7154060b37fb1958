"""How the leader's driver becomes the one who rules: /controller and /controller_epoch, then the copy of what is there."""

from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.domains import Flag
from kafkaproof.spec.migration.driver import was_copied
from kafkaproof.spec.migration.quorum import Controller, append, end_controller, forget_copy, leads
from kafkaproof.spec.migration.state import (
    BECOME_CONTROLLER,
    CLAIMED,
    CLAIMING,
    COMPLETED,
    COPIED,
    SYNC_KRAFT_TO_ZK,
    WAITING,
    ZK_MIGRATION,
)
from kafkaproof.spec.migration.zookeeper import (
    claim_controller,
    read_owner,
    read_topic,
    set_any_migration,
    set_migration,
)


def look_for_owner(s, c: Controller):
    """A driver that is to rule reads /controller_epoch and /controller.

    Guards:  it is to become the controller.
    Request: OK; NEWER where /controller has a KRaft epoch that is not lower than its own.
    Effects: it claims the rule next; on NEWER it reads again later.
    Kafka:   KafkaZkClient.tryRegisterKRaftControllerAsActiveController, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.driving != BECOME_CONTROLLER or driver.writing != WAITING:
        return False

    answer = read_owner(s.zk, c, driver)
    if answer == OK:
        driver.writing = CLAIMING
    return True


def claim(s, c: Controller, lost: Flag()):
    """A driver takes /controller, whoever owns it, and raises /controller_epoch, in one multi.

    Guards:  it has read both.
    Request: OK; BADVERSION, NONODE or NODEEXISTS when somebody was elected or resigned since, or itself was before its
             answer was `lost`.
    Effects: on OK it rules in the epoch that it wrote; else it reads again.
    Kafka:   KafkaZkClient.tryRegisterKRaftControllerAsActiveController, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.writing != CLAIMING:
        return False

    answer = claim_controller(s.zk, c, driver, lost)
    driver.found = 0
    if answer == OK:
        driver.zk_epoch += 1
        driver.zk_version += 1
        driver.writing = CLAIMED
    else:
        driver.zk_epoch = 0
        driver.zk_version = 0
        driver.writing = WAITING
    return True


def begin_to_rule(s, c: Controller):
    """A driver that rules writes what it knows into /migration, and so learns its version, and goes on.

    Guards:  it has claimed the rule.
    Request: OK.
    Effects: without a copy it copies next, else it makes ZooKeeper like the log.
    Kafka:   KRaftMigrationDriver.BecomeZkControllerEvent, 3.9 (KAFKA-16667).
    """
    driver = s.drivers[c]
    if driver.writing != CLAIMED:
        return False

    set_any_migration(s.zk, c, driver)
    go_on(s, c)
    return True


def go_on(s, c):
    """A driver that rules copies, or makes ZooKeeper like the log where that was done before."""
    s.drivers[c].writing = WAITING
    s.drivers[c].driving = SYNC_KRAFT_TO_ZK if was_copied(s, c) else ZK_MIGRATION


def copy_metadata(s, c: Controller):
    """The driver opens a transaction in the log, reads everything in ZooKeeper, and appends it in batches.

    Guards:  it is to copy.
    Request: OK.
    Effects: what was read is in the log, and not valid yet. A node that leads no more dies.
    Kafka:   KRaftMigrationDriver.MigrateMetadataEvent, 3.4 to 3.9; ZkMigrationClient.readAllMetadata, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.driving != ZK_MIGRATION or driver.writing != WAITING:
        return False

    if leads(s, c):
        read_topic(s.zk, c, s.quorum.copied)
        s.quorum.copying = 1
        driver.writing = COPIED
    else:
        end_controller(s, c)
    return True


def complete_copy(s, c: Controller):
    """The driver appends MIGRATION and ends the transaction.

    Guards:  all batches are appended.
    Effects: the log has what ZooKeeper had. A node that leads no more dies.
    Kafka:   QuorumController.MigrationRecordConsumer, 3.4 to 3.9 (transactions: 3.6).
    """
    driver = s.drivers[c]
    if driver.writing != COPIED:
        return False

    if leads(s, c):
        copied = s.quorum.copied
        append(s.quorum, copied.topic, copied.leader, copied.leader_epoch)
        s.quorum.migrated = s.quorum.end
        forget_copy(s.quorum)
        driver.writing = COMPLETED
    else:
        end_controller(s, c)
    return True


def record_copy(s, c: Controller, lost: Flag()):
    """The driver writes the offset of the copy into /migration.

    Guards:  the copy is committed.
    Request: OK; BADVERSION when another has written it, or itself before its answer was `lost`.
    Effects: it makes ZooKeeper like the log next. On BADVERSION the process dies.
    Kafka:   KRaftMigrationDriver.MigrateMetadataEvent, 3.4 to 3.9; KafkaZkClient.updateMigrationState, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.writing != COMPLETED:
        return False

    answer = set_migration(s.zk, c, driver, s.quorum.migrated, driver.epoch, lost)
    if answer == OK:
        driver.writing = WAITING
        driver.driving = SYNC_KRAFT_TO_ZK
    else:
        end_controller(s, c)
    return True
