"""What drivers of earlier releases did otherwise."""

from kafkaproof.spec.language.domains import NOBODY, Flag
from kafkaproof.spec.migration.claiming import go_on
from kafkaproof.spec.migration.driver import hear as hear_in_turn
from kafkaproof.spec.migration.driver import recover
from kafkaproof.spec.migration.quorum import Controller, runs
from kafkaproof.spec.migration.state import CLAIMED, STOPPED, UNINITIALIZED, WAITING, WRITTEN
from kafkaproof.spec.migration.zookeeper import read_migration, read_version


def nothing_differs(zk, record):
    """A driver that begins to rule does not compare: what was not written by the last one is never written.

    Kafka: KRaftMigrationDriver.BecomeZkControllerEvent, 3.4.
    """
    return WRITTEN


def begin_with_version(s, c: Controller):
    """A driver that rules goes on with the version of /migration that it read when it became the leader.

    Guards:  it has claimed the rule.
    Effects: it copies, or makes ZooKeeper like the log.
    Kafka:   KRaftMigrationDriver.BecomeZkControllerEvent, 3.4 to 3.6.1 (KAFKA-16171).
    """
    if s.drivers[c].writing != CLAIMED:
        return False

    go_on(s, c)
    return True


def begin_with_read(s, c: Controller, stale: Flag()):
    """A driver that rules reads the version of /migration again, from a server that may lag.

    Guards:  it has claimed the rule.
    Request: OK.
    Effects: it makes ZooKeeper like the log, with the version that it has read.
    Kafka:   KRaftMigrationDriver.BecomeZkControllerEvent, 3.6.2 to 3.8 (KAFKA-16667).
    """
    if s.drivers[c].writing != CLAIMED:
        return False

    read_version(s.zk, c, stale)
    go_on(s, c)
    return True


def recover_once(s, c: Controller, failed: Flag()):
    """A driver begins: it reads /migration, and after a failure it polls no more.

    Guards:  the quorum runs; the driver has not begun, and polls.
    Request: OK.
    Effects: it waits for a leader, or for nothing.
    Kafka:   KRaftMigrationDriver.initializeMigrationState, 3.4; recoverMigrationStateFromZK, 3.5 to 3.7.0
             (KAFKA-16563).
    """
    driver = s.drivers[c]
    if not runs(s) or driver.driving != UNINITIALIZED or driver.writing != WAITING:
        return False

    if failed:
        s.zk.faults += 1
        driver.writing = STOPPED
    else:
        recover(s, c)
    return True


def hear_early(s, c: Controller):
    """A driver hears that the quorum has another leader, perhaps before it has begun.

    Guards:  the quorum has a leader in an epoch that the driver does not know; no event is in progress.
    Request: OK.
    Effects: as later, but a driver that has not begun takes notice and nothing more: when it has begun it is inactive.
    Kafka:   KRaftMigrationDriver.KRaftLeaderEvent, 3.8.0 (KAFKA-17506).
    """
    driver = s.drivers[c]
    if driver.driving != UNINITIALIZED:
        return hear_in_turn(s, c)
    if not runs(s) or s.quorum.leader == NOBODY or driver.epoch == s.quorum.epoch:
        return False

    read_migration(s.zk, c, driver)
    driver.epoch = s.quorum.epoch
    return True


def overlook_deletions(zk):
    """Topics that are named in /admin/delete_topics are copied like others, and stay there.

    Kafka: ZkMigrationClient.migrateTopics, 3.4; ZkTopicMigrationClient.iterateTopics, 3.5 to 3.6.0.
    """
    return False
