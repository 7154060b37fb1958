"""What drivers ask ZooKeeper: /migration, the claim of /controller, and writes of metadata in multis that check both.

Each function below is one request. Of the versions of /migration only the set of drivers that know the current one is
kept. A client whose connection is lost sends a request again: where the first was applied (`lost`), the second is refused
by a version that the first has raised. Sessions of controllers do not matter: /controller of a quorum is persistent.
"""

from kafkaproof.spec.kafka.zookeeper import (
    BADVERSION,
    EXPIRED,
    FENCED,
    NEWER,
    NODEEXISTS,
    NONODE,
    OK,
    check_version,
    note_write,
    put_controller,
    put_epoch,
    remove_controller,
    session_open,
)
from kafkaproof.spec.kafka.zookeeper import set_state as set_state_epoch
from kafkaproof.spec.language.combine import checked
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, only, with_member, without_member
from kafkaproof.spec.migration.state import NO_STATE, clear, copy, put

KNOWN = ("has_pending", "quorum_owns_controller", "is_known", "forget_version", "note_change")


def quorum_owns_controller(zk):
    """Whether /controller names a controller of the quorum."""
    return zk.controller == len(zk.clients)


def is_known(zk, c):
    """Whether the driver of `c` knows the current version of /migration."""
    return contains(zk.migration.readers, c)


def forget_version(zk, c):
    """The driver of `c` does not remember any version of /migration."""
    zk.migration.readers = without_member(zk.migration.readers, c)


def note_change(zk, topic, leader, leader_epoch):
    """Whoever rules has changed the metadata of the topic."""
    zk.changes += 1
    zk.ghosts.topic = topic
    zk.ghosts.leader = leader
    zk.ghosts.leader_epoch = leader_epoch


def read_migration(zk, c, driver):
    """getData of /migration, which is created where it is missing, into `driver`: OK."""
    zk.migration.exists = 1
    zk.migration.readers = with_member(zk.migration.readers, c)
    driver.offset = zk.migration.offset
    driver.metadata_epoch = zk.migration.metadata_epoch
    return OK


def read_version(zk, c, stale):
    """getData of /migration once more, for its version; a server that lags says what `c` has read before: OK."""
    if not stale:
        zk.migration.readers = with_member(zk.migration.readers, c)
    return OK


def read_owner(zk, c, driver):
    """getData of /controller_epoch and /controller into `driver`: OK, or NEWER where a KRaft epoch there is not lower."""
    if zk.kraft_epoch >= driver.epoch:
        return NEWER
    driver.zk_epoch = zk.epoch
    driver.zk_version = zk.epoch_version
    driver.found = 0 if zk.controller == NOBODY else 1
    return OK


def claim_controller(zk, c, driver, lost):
    """multi[setData /controller_epoch if it has the version that was read, delete /controller if there was one, create it].

    OK; BADVERSION, NONODE or NODEEXISTS of one of the three.
    """
    if zk.epoch_version != driver.zk_version:
        return BADVERSION
    if driver.found and zk.controller == NOBODY:
        return NONODE
    if not driver.found and zk.controller != NOBODY:
        return NODEEXISTS
    put_epoch(zk, driver.zk_epoch + 1)
    if driver.found:
        remove_controller(zk)
    put_controller(zk, len(zk.clients))
    zk.kraft_epoch = driver.epoch
    return claim_again(zk) if lost else OK


def claim_again(zk):
    """A claim that was applied is sent again: BADVERSION.

    Kafka: KafkaZkClient.retryRequestUntilConnected, 3.4 to 3.9.
    """
    zk.faults += 1
    return BADVERSION


def send_again(zk, c):
    """A write of /migration that was applied is sent again: BADVERSION. The driver does not know the version any more.

    Kafka: KafkaZkClient.retryRequestsUntilConnected, 3.4 to 3.9.
    """
    zk.faults += 1
    forget_version(zk, c)
    return BADVERSION


def check_claim(zk, driver):
    """check of /controller_epoch: OK, or FENCED where another has claimed the rule."""
    return OK if zk.epoch_version == driver.zk_version else FENCED


def check_migration(zk, c, driver):
    """check of /controller_epoch and /migration: OK, FENCED by the first, or BADVERSION of the second."""
    if check_claim(zk, driver) == FENCED:
        return FENCED
    return OK if is_known(zk, c) else BADVERSION


def put_migration(zk, c, driver, offset, metadata_epoch, lost):
    """Write /migration: OK, or BADVERSION where the request is sent again."""
    zk.migration.offset = offset
    zk.migration.metadata_epoch = metadata_epoch
    zk.migration.controller_epoch = driver.epoch
    zk.migration.readers = only(c)
    return send_again(zk, c) if lost else OK


def put_known(zk, c, driver, lost):
    """Write /migration in the multi of another write, as the driver knows it."""
    return put_migration(zk, c, driver, driver.offset, driver.metadata_epoch, lost)


def set_migration(zk, c, driver, offset, metadata_epoch, lost):
    """setData of /migration if `c` knows its version, with no other check, and into `driver`: OK or BADVERSION."""
    if not is_known(zk, c):
        return BADVERSION
    answer = put_migration(zk, c, driver, offset, metadata_epoch, lost)
    if answer == OK:
        driver.offset = offset
        driver.metadata_epoch = metadata_epoch
    return answer


def set_any_migration(zk, c, driver):
    """setData of /migration, whatever its version: OK."""
    return put_known(zk, c, driver, 0)


def create_topic(zk, c, driver, topic):
    """create /brokers/topics/TOPIC: OK or NODEEXISTS."""
    answer = NODEEXISTS if zk.topic.topic != NOBODY else OK
    if answer == OK:
        note_write(zk, driver.zk_epoch)
        zk.topic.topic = topic
    return answer


def create_state(zk, c, driver, content, lost):
    """create the state of its partition, and setData of /migration: OK, NODEEXISTS, NONODE or BADVERSION."""
    if zk.topic.topic == NOBODY:
        return NONODE
    if zk.topic.leader_epoch != NO_STATE:
        return NODEEXISTS
    return put_state(zk, c, driver, content, lost)


def update_state(zk, c, driver, content, lost):
    """setData of the state of its partition, and of /migration: OK, NONODE or BADVERSION."""
    if zk.topic.leader_epoch == NO_STATE:
        return NONODE
    return put_state(zk, c, driver, content, lost)


def epoch_of(driver):
    """The controller epoch that a driver writes into the state of a partition: that of the quorum's leader.

    Kafka: ZkTopicMigrationClient.createTopicPartitionState, updateTopicPartitionState, 3.6 to 3.9.
    """
    return driver.epoch


def put_state(zk, c, driver, content, lost):
    """Write the state of the partition, with the KRaft epoch as its controller epoch, and /migration."""
    note_write(zk, driver.zk_epoch)
    put(zk.topic, zk.topic.topic, content.leader, content.leader_epoch)
    zk.state_epoch = epoch_of(driver)
    zk.state_readers = 0
    return put_known(zk, c, driver, lost)


def delete_state(zk, c, driver):
    """delete the state of its partition, where there is one: OK, or NONODE where there is no topic."""
    if zk.topic.topic == NOBODY:
        return NONODE
    note_write(zk, driver.zk_epoch)
    put(zk.topic, zk.topic.topic, NOBODY, NO_STATE)
    zk.state_epoch = 0
    zk.state_readers = 0
    return OK


def delete_topic(zk, c, driver, lost):
    """delete /brokers/topics/TOPIC, and setData of /migration: OK or BADVERSION."""
    note_write(zk, driver.zk_epoch)
    clear(zk.topic)
    return put_known(zk, c, driver, lost)


def delete_marker(zk, c, driver, lost):
    """delete /admin/delete_topics/TOPIC, and setData of /migration: OK or BADVERSION."""
    note_write(zk, driver.zk_epoch)
    zk.deleting = 0
    return put_known(zk, c, driver, lost)


checked_create_topic = checked(create_topic, check_migration)
checked_create_state = checked(create_state, check_migration)
checked_update_state = checked(update_state, check_migration)
checked_delete_state = checked(delete_state, check_migration)
checked_delete_topic = checked(delete_topic, check_migration)
checked_delete_marker = checked(delete_marker, check_migration)


def has_pending(zk):
    """Whether a topic is still named in /admin/delete_topics: such topics are not copied, and the request is deleted.

    Kafka: ZkTopicMigrationClient.readPendingTopicDeletions, 3.6.1 to 3.9 (KAFKA-15605).
    """
    return zk.deleting == 1


def read_topic(zk, c, content):
    """getData of the topic and the state of its partition into `content`: OK; a topic that is to be deleted is passed over."""
    if has_pending(zk):
        clear(content)
    else:
        copy(zk.topic, content)
    return OK


def set_state(zk, b, epoch, delivery):
    """setData of the partition state by a controller of ZooKeeper: `b` leads, in the next leader epoch."""
    if zk.topic.leader_epoch == NO_STATE:
        return NONODE
    answer = set_state_epoch(zk, b, epoch, delivery)
    if answer == OK:
        put(zk.topic, zk.topic.topic, b, zk.topic.leader_epoch + 1)
        note_change(zk, zk.topic.topic, b, zk.topic.leader_epoch)
    return answer


def delete_marked(zk, b, epoch, delivery):
    """delete the state, the topic and /admin/delete_topics/TOPIC by a controller of ZooKeeper: OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    note_write(zk, epoch)
    clear(zk.topic)
    zk.deleting = 0
    zk.state_epoch = 0
    zk.state_readers = 0
    return OK


checked_delete_marked = checked(delete_marked, check_version)


def remove_owner(zk):
    """delete /controller by hand: OK."""
    zk.kraft_epoch = 0
    remove_controller(zk)
    return OK


def remove_migration(zk):
    """delete /migration by hand: OK."""
    zk.migration.exists = 0
    zk.migration.offset = 0
    zk.migration.metadata_epoch = 0
    zk.migration.controller_epoch = 0
    zk.migration.readers = 0
    return OK
