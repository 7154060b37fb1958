"""How a driver writes to ZooKeeper what is in the log: all that differs when it begins to rule, then record by record.

A topic takes several multis. Each checks /controller_epoch and /migration, and the last one writes /migration. After one
that is refused the event has failed: a driver that synchronises begins again later, one that writes a record leaves it.
"""

from kafkaproof.spec.kafka.zookeeper import NODEEXISTS, OK
from kafkaproof.spec.language.domains import NOBODY, Flag
from kafkaproof.spec.migration.driver import allows_dual_write, has_next, is_behind
from kafkaproof.spec.migration.quorum import Controller, runs
from kafkaproof.spec.migration.state import (
    CREATING,
    CREATING_STATE,
    DELETING,
    DELETING_STATE,
    DUAL_WRITE,
    KRAFT_CONTROLLER_TO_BROKER_COMM,
    SYNC_KRAFT_TO_ZK,
    UPDATING,
    WAITING,
    WRITTEN,
    is_same,
)
from kafkaproof.spec.migration.zookeeper import (
    checked_create_state,
    checked_create_topic,
    checked_delete_marker,
    checked_delete_state,
    checked_delete_topic,
    checked_update_state,
    has_pending,
    set_migration,
)


def image_of(s, c):
    """The last record of the image of a driver."""
    return s.quorum.records[s.drivers[c].image - 1]


def what_differs(zk, record):
    """What a driver that synchronises does first to make ZooKeeper like the log; WRITTEN where nothing differs.

    Kafka: KRaftMigrationZkWriter.handleTopicsSnapshot, 3.5 to 3.9.
    """
    if record.topic != NOBODY and record.topic != zk.topic.topic:
        return CREATING
    if zk.topic.topic != NOBODY and record.topic != zk.topic.topic:
        return DELETING_STATE
    if not is_same(record, zk.topic):
        return UPDATING
    return WRITTEN


def synchronise(s, c: Controller):
    """A driver that has begun to rule compares all that ZooKeeper has with its image.

    Guards:  it is to synchronise, and its image has all that ZooKeeper has, by the offset in /migration; no deletion is
             pending.
    Effects: it makes the first difference go; without any it tells brokers next.
    Kafka:   KRaftMigrationDriver.SyncKRaftMetadataEvent, 3.5 to 3.9.
    """
    driver = s.drivers[c]
    if driver.driving != SYNC_KRAFT_TO_ZK or driver.writing != WAITING or is_behind(s.quorum, driver):
        return False
    if has_pending(s.zk):
        return False

    driver.writing = what_differs(s.zk, image_of(s, c))
    if driver.writing == WRITTEN:
        driver.driving = KRAFT_CONTROLLER_TO_BROKER_COMM
        driver.writing = WAITING
    return True


def clear_deletions(s, c: Controller, lost: Flag()):
    """A driver that has begun to rule deletes what is left of /admin/delete_topics: such topics were not copied.

    Guards:  it is to synchronise, and its image has all that ZooKeeper has; there is a topic to be deleted.
    Request: OK; FENCED when another has claimed the rule; BADVERSION of /migration.
    Effects: on OK the topics themselves are compared next.
    Kafka:   KRaftMigrationZkWriter.handleTopicsSnapshot, 3.6.1 to 3.9; ZkTopicMigrationClient.clearPendingTopicDeletions,
             3.6.1 to 3.9 (KAFKA-15605).
    """
    driver = s.drivers[c]
    if driver.driving != SYNC_KRAFT_TO_ZK or driver.writing != WAITING or not has_pending(s.zk):
        return False
    if is_behind(s.quorum, driver):
        return False

    checked_delete_marker(s.zk, c, driver, lost)
    return True


def end_write(driver):
    """ZooKeeper has what the driver was to write."""
    if driver.driving == SYNC_KRAFT_TO_ZK:
        end_synchronisation(driver)
    else:
        driver.writing = WRITTEN


def end_synchronisation(driver):
    """A driver that has written what differed tells brokers next."""
    driver.driving = KRAFT_CONTROLLER_TO_BROKER_COMM
    driver.writing = WAITING


def end_with(driver, answer):
    """The last multi of a write was answered."""
    if answer == OK:
        end_write(driver)
    else:
        driver.writing = WAITING


def create_topic(s, c: Controller):
    """A driver creates the znode of the topic.

    Guards:  it is to create it.
    Request: OK; NODEEXISTS; FENCED; BADVERSION of /migration.
    Effects: on OK the state is next. On NODEEXISTS the rest is taken to be there; where a former topic of that name is
             there, it is deleted next.
    Kafka:   ZkTopicMigrationClient.createTopic, 3.6 to 3.9.
    """
    driver = s.drivers[c]
    if driver.writing != CREATING:
        return False

    answer = checked_create_topic(s.zk, c, driver, image_of(s, c).topic)
    if answer == OK:
        driver.writing = CREATING_STATE
    elif answer == NODEEXISTS:
        driver.writing = DELETING_STATE if driver.driving == SYNC_KRAFT_TO_ZK else WRITTEN
    else:
        driver.writing = WAITING
    return True


def create_state(s, c: Controller, lost: Flag()):
    """A driver creates the state of the partition.

    Guards:  it has created the topic.
    Request: OK; NODEEXISTS or NONODE; FENCED; BADVERSION of /migration.
    Effects: on OK the write is done.
    Kafka:   ZkTopicMigrationClient.createTopic, 3.6 to 3.9.
    """
    driver = s.drivers[c]
    if driver.writing != CREATING_STATE:
        return False

    answer = checked_create_state(s.zk, c, driver, image_of(s, c), lost)
    end_with(driver, answer)
    return True


def update_state(s, c: Controller, lost: Flag()):
    """A driver writes the state of the partition, on no version of it.

    Guards:  it is to write it.
    Request: OK; NONODE; FENCED; BADVERSION of /migration.
    Effects: on OK the write is done.
    Kafka:   ZkTopicMigrationClient.updateTopicPartitions, 3.6 to 3.9.
    """
    driver = s.drivers[c]
    if driver.writing != UPDATING:
        return False

    answer = checked_update_state(s.zk, c, driver, image_of(s, c), lost)
    end_with(driver, answer)
    return True


def delete_state(s, c: Controller):
    """A driver deletes the state of the partition.

    Guards:  it is to delete the topic.
    Request: OK; NONODE; FENCED; BADVERSION of /migration.
    Effects: on OK the topic is next.
    Kafka:   ZkTopicMigrationClient.deleteTopic, 3.6 to 3.9.
    """
    driver = s.drivers[c]
    if driver.writing != DELETING_STATE:
        return False

    answer = checked_delete_state(s.zk, c, driver)
    driver.writing = DELETING if answer == OK else WAITING
    return True


def delete_topic(s, c: Controller, lost: Flag()):
    """A driver deletes the topic.

    Guards:  it has deleted the state.
    Request: OK; FENCED; BADVERSION of /migration.
    Effects: on OK the write is done.
    Kafka:   ZkTopicMigrationClient.deleteTopic, 3.6 to 3.9.
    """
    driver = s.drivers[c]
    if driver.writing != DELETING:
        return False

    answer = checked_delete_topic(s.zk, c, driver, lost)
    end_with(driver, answer)
    return True


def tell_all(s, c: Controller):
    """A driver that has synchronised tells the brokers in ZooKeeper mode everything.

    Guards:  it is to tell them; its image has all that ZooKeeper has.
    Effects: from now on it writes every record.
    Kafka:   KRaftMigrationDriver.SendRPCsToBrokersEvent, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.driving != KRAFT_CONTROLLER_TO_BROKER_COMM or driver.writing != WAITING or is_behind(s.quorum, driver):
        return False

    driver.driving = DUAL_WRITE
    return True


def what_changed(before, after):
    """What a driver does first to write one record; WRITTEN where the topic is as before.

    Kafka: KRaftMigrationZkWriter.handleTopicsDelta, 3.5 to 3.9.
    """
    if before.topic != NOBODY and after.topic != before.topic:
        return DELETING_STATE
    if after.topic != before.topic:
        return CREATING
    return WRITTEN if is_same(before, after) else UPDATING


def take_record(s, c: Controller):
    """A driver that writes to both stores loads the next record.

    Guards:  it writes to both; there is a record; no event is in progress.
    Effects: it writes what has changed; a record that ZooKeeper has already is passed over.
    Kafka:   KRaftMigrationDriver.MetadataChangeEvent, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if not runs(s) or not allows_dual_write(driver.driving) or driver.writing != WAITING:
        return False
    if not has_next(s, c):
        return False

    before = s.quorum.records[driver.image - 1]
    driver.image += 1
    if not is_behind(s.quorum, driver):
        driver.writing = what_changed(before, image_of(s, c))
    return True


def record_offset(s, c: Controller, lost: Flag()):
    """A driver that has written a record writes its offset into /migration, and tells the brokers.

    Guards:  ZooKeeper has the record.
    Request: OK; BADVERSION when another has written it, or itself before its answer was `lost`.
    Effects: on BADVERSION nobody is told.
    Kafka:   KRaftMigrationDriver.MetadataChangeEvent, 3.4 to 3.9; KafkaZkClient.updateMigrationState, 3.4 to 3.9.
    """
    driver = s.drivers[c]
    if driver.writing != WRITTEN:
        return False

    set_migration(s.zk, c, driver, driver.image, image_of(s, c).epoch, lost)
    driver.writing = WAITING
    return True
