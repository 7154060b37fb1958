"""Properties of states and steps: who rules, what both stores hold, what is left after the way back."""

from kafkaproof.spec.election.broker_state import FULL, IDLE
from kafkaproof.spec.election.properties.safety import applied_never_fall, no_stale_write, stale_request
from kafkaproof.spec.kafka.zookeeper import NOTHING, owns_controller
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.migration.quorum import leads, runs
from kafkaproof.spec.migration.state import (
    DUAL_WRITE,
    FINALIZED,
    IN_ZOOKEEPER,
    KRAFT_MODE,
    NO_STATE,
    WAITING,
    ZK_MIGRATION,
    is_same,
)
from kafkaproof.spec.migration.zookeeper import is_known, quorum_owns_controller


def one_ruler(s):
    """While /controller names the quorum, no broker has the version of /controller_epoch by which writes are checked."""
    if not quorum_owns_controller(s.zk):
        return True
    for broker in s.brokers:
        if broker.active and broker.epoch_version == s.zk.epoch_version:
            return False
    return True


def image_epoch(quorum, image):
    """The epoch of the last record that a broker in KRaft mode has loaded, 0 before any."""
    return 0 if image == 0 else quorum.records[image - 1].epoch


def newest_in_kraft(before, after):
    """A broker in KRaft mode obeys no control request, and its records are of an epoch that never falls."""
    for b in range(len(before.followers) - 1):
        stays = before.brokers[b].mode == KRAFT_MODE and after.brokers[b].mode == KRAFT_MODE
        image = after.followers[b].image
        upwards = image_epoch(after.quorum, image) >= image_epoch(before.quorum, before.followers[b].image)
        if stays and not (upwards and image >= before.followers[b].image and after.brokers[b].ghosts.applied == 0):
            return False
    return True


def claims_upwards(before, after):
    """The KRaft epoch in /controller never falls while the quorum owns it."""
    return after.zk.kraft_epoch >= before.zk.kraft_epoch or not quorum_owns_controller(after.zk)


def rests(s, c):
    """Whether the driver of the leader writes to both stores, and has loaded all that is committed."""
    driver = s.drivers[c]
    return driver.driving == DUAL_WRITE and driver.writing == WAITING and leads(s, c) and driver.image == s.quorum.end


def agree_at_rest(s):
    """When the leader's driver rests, ZooKeeper has what the log has."""
    for c in range(len(s.drivers)):
        if runs(s) and rests(s, c) and not is_same(s.zk.topic, s.quorum.records[s.quorum.end - 1]):
            return False
    return True


def ruler_is_heard(s):
    """A driver that rules and writes, and has no event in progress, knows the version of /migration: it is not refused."""
    for c in range(len(s.drivers)):
        driver = s.drivers[c]
        rules = driver.driving >= ZK_MIGRATION and driver.zk_epoch == s.zk.epoch and runs(s)
        if rules and driver.writing == WAITING and not is_known(s.zk, c):
            return False
    return True


def no_deletion_is_left(s):
    """When the leader's driver rests, no topic waits to be deleted by a controller of ZooKeeper."""
    for c in range(len(s.drivers)):
        if runs(s) and rests(s, c) and s.zk.deleting:
            return False
    return True


def copied_whole(before, after):
    """When the copy is committed the log has what ZooKeeper has, but for a topic that is to be deleted."""
    if after.quorum.migrated == before.quorum.migrated or after.quorum.migrated == 0 or after.zk.deleting:
        return True
    return is_same(after.zk.topic, after.quorum.records[after.quorum.migrated - 1])


def deleted_as_asked(before, after):
    """A topic goes from ZooKeeper only when users have asked for its deletion."""
    gone = before.zk.topic.topic
    return gone == NOBODY or after.zk.topic.topic == gone or contains(after.unwanted, gone)


def log_keeps_topic(before, after):
    """A topic goes from the log only when users have asked for its deletion, or with the whole quorum."""
    if before.quorum.end == 0 or after.quorum.end <= before.quorum.end:
        return True
    gone = before.quorum.records[before.quorum.end - 1].topic
    return gone == NOBODY or after.quorum.records[after.quorum.end - 1].topic == gone or contains(after.unwanted, gone)


def leader_epoch_never_falls(before, after):
    """The leader epoch in ZooKeeper never falls while the topic is the same, whoever writes it."""
    old = before.zk.topic
    new = after.zk.topic
    return new.topic != old.topic or new.leader_epoch == NO_STATE or new.leader_epoch >= old.leader_epoch


def one_leader(s):
    """In one leader epoch of a topic ZooKeeper and the log name one leader."""
    for i in range(s.quorum.end):
        record = s.quorum.records[i]
        same = record.topic != NOBODY and record.topic == s.zk.topic.topic
        if same and record.leader_epoch == s.zk.topic.leader_epoch and record.leader != s.zk.topic.leader:
            return False
    return True


def is_back(s):
    """Whether the cluster is in ZooKeeper mode after a way back, and a controller among the brokers is at work."""
    return s.stage == IN_ZOOKEEPER and s.attempts > 0 and has_controller(s)


def has_controller(s):
    """Whether a broker owns /controller and is at work."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        if owns_controller(s.zk, b) and broker.active and broker.ruling == FULL and broker.doing == IDLE:
            return True
    return False


def nothing_lost(s):
    """After the way back ZooKeeper has the metadata as it was changed last."""
    unwanted = s.zk.ghosts.topic != NOBODY and contains(s.unwanted, s.zk.ghosts.topic)
    if not is_back(s) or unwanted:
        return True
    same = s.zk.topic.leader == s.zk.ghosts.leader and s.zk.topic.leader_epoch == s.zk.ghosts.leader_epoch
    return s.zk.topic.topic == s.zk.ghosts.topic and same


def may_write(s):
    """After the way back the controller among the brokers may write the partition: no higher epoch is in its state."""
    return not is_back(s) or s.zk.state_epoch <= s.zk.epoch


def migrated(s):
    """The metadata was copied, and the leader's driver writes to both stores."""
    for c in range(len(s.drivers)):
        if rests(s, c) and s.quorum.end > s.quorum.migrated:
            return True
    return False


def taken_over(s):
    """A second leader's driver writes to both stores."""
    for c in range(len(s.drivers)):
        if rests(s, c) and s.zk.migration.metadata_epoch < s.drivers[c].epoch:
            return True
    return False


def in_both_modes(s):
    """One broker is in KRaft mode, and another with ZooKeeper."""
    kraft = False
    zookeeper = False
    for broker in s.brokers:
        kraft = kraft or broker.mode == KRAFT_MODE
        zookeeper = zookeeper or broker.mode != KRAFT_MODE
    return kraft and zookeeper


def loaded_in_kraft(s):
    """A broker in KRaft mode has loaded the copy."""
    for b in range(len(s.followers) - 1):
        if s.brokers[b].mode == KRAFT_MODE and s.quorum.migrated > 0 and s.followers[b].image >= s.quorum.migrated:
            return True
    return False


def late_in_kraft(s):
    """A control request is on its way to a broker that is in KRaft mode."""
    for requests in s.network.requests:
        for b in range(len(s.followers) - 1):
            if s.brokers[b].mode == KRAFT_MODE and contains(requests, b):
                return True
    return False


def finalized(s):
    """The migration is finalized."""
    return s.stage == FINALIZED


def came_back(s):
    """A cluster that was migrated is in ZooKeeper mode, with a controller at work."""
    return is_back(s) and s.zk.state_epoch > 0 and s.zk.epoch > 2


def zombie_driver(s):
    """A driver is about to write although another has claimed the rule since."""
    for driver in s.drivers:
        if driver.writing > 2 and driver.zk_epoch < s.zk.epoch:
            return True
    return False


def zombie_broker(s):
    """A broker is at work as controller although the quorum owns /controller."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        at_work = broker.active and broker.ruling == FULL and broker.doing == IDLE
        if at_work and quorum_owns_controller(s.zk) and s.zk.clients[b].fired != NOTHING:
            return True
    return False


SAFETY = (
    always(no_stale_write),
    always(one_ruler),
    always_step(applied_never_fall),
    always_step(newest_in_kraft),
    always_step(claims_upwards),
    always(ruler_is_heard),
    always(agree_at_rest),
    always(no_deletion_is_left),
    always_step(copied_whole),
    always_step(deleted_as_asked),
    always_step(log_keeps_topic),
    always_step(leader_epoch_never_falls),
    always(one_leader),
    always(nothing_lost),
    always(may_write),
    sometimes(migrated, changes=1),
    sometimes(taken_over, elections=2),
    sometimes(in_both_modes, brokers=2),
    sometimes(finalized),
    sometimes(came_back),
    sometimes(zombie_driver, elections=2),
    sometimes(zombie_broker),
    sometimes(stale_request, receivers=1),
    sometimes(loaded_in_kraft, receivers=1),
    sometimes(late_in_kraft, receivers=1),
)
