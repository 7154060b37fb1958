"""What a migration driver does before it claims the rule: it recovers, hears of leaders, loads records, and waits.

A driver handles one event at a time. What it knows of a leader is what it has handled.
"""

from kafkaproof.spec.kafka.zookeeper import ABSENT
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.migration.quorum import Controller, forget_claim, runs, step_down
from kafkaproof.spec.migration.state import (
    BECOME_CONTROLLER,
    DUAL_WRITE,
    INACTIVE,
    KRAFT_CONTROLLER_TO_BROKER_COMM,
    MIGRATION_MODE,
    UNINITIALIZED,
    WAIT_FOR_BROKERS,
    WAIT_FOR_CONTROLLER_QUORUM,
    WAITING,
)
from kafkaproof.spec.migration.zookeeper import forget_version, read_migration


def is_behind(quorum, driver):
    """Whether an image lacks something that ZooKeeper has, by the offset and the epoch in /migration.

    Kafka: KRaftMigrationDriver.SyncKRaftMetadataEvent, 3.5 to 3.9.
    """
    if driver.image == 0:
        return True
    epoch = quorum.records[driver.image - 1].epoch
    return epoch < driver.metadata_epoch or (epoch == driver.metadata_epoch and driver.image < driver.offset)


def says_migration(quorum, driver):
    """Whether an image has the record that says MIGRATION."""
    return quorum.migrated > 0 and driver.image >= quorum.migrated


def rest(s, c):
    """The driver of `c` is inactive. What it knows it will read again."""
    step_down(s.drivers[c])
    s.drivers[c].driving = INACTIVE
    forget_version(s.zk, c)


def recover(s, c: Controller):
    """A driver begins: it reads /migration, and creates it where it is missing.

    Guards:  the quorum runs; the driver has not begun.
    Request: OK.
    Effects: it waits for a leader. What it has read it will read again.
    Kafka:   KRaftMigrationDriver.initializeMigrationState, 3.4; recoverMigrationStateFromZK, 3.5 to 3.7.0;
             KRaftMigrationDriver.RecoverMigrationStateFromZKEvent, 3.7.1 to 3.9.
    """
    driver = s.drivers[c]
    if not runs(s) or driver.driving != UNINITIALIZED:
        return False

    read_migration(s.zk, c, driver)
    rest(s, c)
    return True


def before_epoch(quorum):
    """How many records were committed in epochs before that of the leader: it has loaded them when it hears that it leads.

    Kafka: KafkaRaftClient.maybeFireLeaderChange, 3.4 to 3.9.
    """
    found = 0
    for i in range(quorum.end):
        if quorum.records[i].epoch < quorum.epoch:
            found += 1
    return found


def may_hear(driver):
    """Whether a change of leader is handled now: the driver has begun (it is made to begin first, KAFKA-17506).

    Kafka: KRaftMigrationDriver.onControllerChange, 3.8.1 to 3.9.
    """
    return driver.driving != UNINITIALIZED


def hear(s, c: Controller):
    """A driver hears that the quorum has another leader.

    Guards:  the quorum has a leader in an epoch that the driver does not know; no event is in progress.
    Request: OK.
    Effects: the leader's driver reads /migration again, and waits for the controllers; its image has all records of
             former epochs. Others are inactive.
    Kafka:   KRaftMigrationDriver.KRaftLeaderEvent, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if not runs(s) or s.quorum.leader == NOBODY or driver.epoch == s.quorum.epoch:
        return False
    if driver.writing != WAITING or not may_hear(driver):
        return False

    if s.quorum.leader == c:
        read_migration(s.zk, c, driver)
        forget_claim(driver)
        driver.image = max(driver.image, before_epoch(s.quorum))
        driver.driving = WAIT_FOR_CONTROLLER_QUORUM
    else:
        rest(s, c)
    driver.epoch = s.quorum.epoch
    return True


def has_next(s, c):
    """Whether there is a record for the driver of `c`: records of a leader come after the news of that leader, but for
    those of the node itself.

    Kafka: KafkaRaftClient.maybeFireLeaderChange, 3.4 to 3.9; MetadataLoader.handleLeaderChange, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.image == s.quorum.end:
        return False
    epoch = s.quorum.records[driver.image].epoch
    return epoch <= driver.epoch or (s.quorum.leader == c and epoch == s.quorum.epoch)


def load(s, c: Controller):
    """The leader's driver, while it does not write to ZooKeeper yet, loads the next record.

    Guards:  there is more than its image has; it waits for others, copies or synchronises.
    Effects: its image has it.
    Kafka:   KRaftMigrationDriver.MetadataChangeEvent, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.driving == UNINITIALIZED or driver.driving == INACTIVE or allows_dual_write(driver.driving):
        return False
    if driver.writing != WAITING or not has_next(s, c):
        return False

    driver.image += 1
    return True


def allows_dual_write(driving):
    """Whether a driver in this state writes what it loads to ZooKeeper: once it tells brokers.

    Kafka: MigrationDriverState.allowDualWrite, 3.5 to 3.9.
    """
    return driving == KRAFT_CONTROLLER_TO_BROKER_COMM or driving == DUAL_WRITE


def was_copied(s, c):
    """Whether the metadata was copied before, as the driver of `c` knows: /migration has an offset.

    Kafka: ZkMigrationLeadershipState.zkMigrationComplete, 3.4; initialZkMigrationComplete, 3.5 to 3.9.
    """
    return s.drivers[c].offset > 0


def wait_for_quorum(s, c: Controller):
    """The leader's driver looks how far the migration is, by its log.

    Guards:  it waits for the controllers, which are all ready here (how it knows changes with KIP-919, 3.7); it has an
             image.
    Effects: before the copy it waits for brokers; after the copy it claims the rule, or gives up where /migration says
             that there was none.
    Kafka:   KRaftMigrationDriver.WaitForControllerQuorumEvent, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.driving != WAIT_FOR_CONTROLLER_QUORUM or driver.writing != WAITING or driver.image == 0:
        return False

    if not says_migration(s.quorum, driver):
        driver.driving = WAIT_FOR_BROKERS
    elif was_copied(s, c):
        driver.driving = BECOME_CONTROLLER
    else:
        rest(s, c)
    return True


def are_ready(s):
    """Whether all brokers are registered in ZooKeeper, or have replicas, and with the quorum, too.

    Kafka: KRaftMigrationDriver.areZkBrokersReadyForMigration, 3.4 to 3.9.
    """
    for b in range(len(s.brokers)):
        if s.brokers[b].mode != MIGRATION_MODE or s.zk.clients[b].registered == ABSENT:
            return False
    return True


def wait_for_brokers(s, c: Controller):
    """The leader's driver finds all brokers registered with the quorum.

    Guards:  it waits for them, and they are.
    Effects: it claims the rule next.
    Kafka:   KRaftMigrationDriver.WaitForZkBrokersEvent, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.driving != WAIT_FOR_BROKERS or driver.writing != WAITING or not are_ready(s):
        return False

    driver.driving = BECOME_CONTROLLER
    return True
