"""Mutants of who rules, of what is written to either store, and of the way back; on the variant `fenced`."""

from kafkaproof.spec.election.network import take_request
from kafkaproof.spec.election.requests import is_stale, obey
from kafkaproof.spec.kafka import zookeeper as kafka
from kafkaproof.spec.kafka.zookeeper import OK, put_controller, remove_controller
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.mutants.mutant import mutant
from kafkaproof.spec.migration import directions, driver, quorum, requests, writing, zookeeper
from kafkaproof.spec.migration.model import ONE_CHANGE, QUICK, TOLD, scope
from kafkaproof.spec.migration.quorum import Leader, append, is_open, last_record
from kafkaproof.spec.migration.state import NO_STATE, WRITTEN, copy, put
from kafkaproof.spec.migration.zookeeper import forget_version, note_change, put_known


def check_nothing(zk, b, version, delivery):
    """A controller of ZooKeeper writes whatever the version of /controller_epoch."""
    return OK


def claim_without_epoch(zk, c, driver, lost):
    """A driver takes /controller, and leaves /controller_epoch as it is."""
    if driver.found:
        remove_controller(zk)
    put_controller(zk, len(zk.clients))
    zk.kraft_epoch = driver.epoch
    return OK


def read_any_owner(zk, c, driver):
    """A driver claims the rule whatever KRaft epoch /controller has."""
    driver.zk_epoch = zk.epoch
    driver.zk_version = zk.epoch_version
    driver.found = 0 if zk.controller == NOBODY else 1
    return OK


def is_never_stale(broker, epoch):
    """A broker obeys control requests whatever their epoch."""
    return False


def write_unanswered(zk, c, driver):
    """A driver that begins to rule does not learn the version of /migration from its write."""
    put_known(zk, c, driver, 0)
    forget_version(zk, c)
    return OK


def write_nothing(before, after):
    """A driver writes no record to ZooKeeper."""
    return WRITTEN


def overlook(zk):
    """A driver overlooks topics that are named in /admin/delete_topics."""
    return False


def read_no_leader(zk, c, content):
    """The copy lacks who leads the partition."""
    put(content, zk.topic.topic, NOBODY, zk.topic.leader_epoch)
    return OK


def read_first_epoch(zk, c, content):
    """The copy begins anew with leader epoch 0."""
    copy(zk.topic, content)
    if content.leader_epoch != NO_STATE:
        content.leader_epoch = 0
    return OK


def is_never_behind(quorum, driver):
    """A driver makes ZooKeeper like its image although that lacks the copy."""
    return driver.image == 0


def commit_without_topic(s, b: Leader):
    """Another leader is committed, and with that the topic goes from the log."""
    if not is_open(s) or s.quorum.records[last_record(s.quorum)].topic == NOBODY:
        return False

    append(s.quorum, NOBODY, NOBODY, NO_STATE)
    note_change(s.zk, NOBODY, NOBODY, NO_STATE)
    return True


def commit_in_same_epoch(s, b: Leader):
    """Another leader is committed in the leader epoch that there is."""
    if not is_open(s) or s.quorum.records[last_record(s.quorum)].topic == NOBODY:
        return False

    last = s.quorum.records[last_record(s.quorum)]
    append(s.quorum, last.topic, b, last.leader_epoch)
    note_change(s.zk, last.topic, b, last.leader_epoch)
    return True


def take_away_blindly(s):
    """The operator takes the quorum away although ZooKeeper has not all that the log has."""
    return True


def write_higher_epoch(driver):
    """A driver writes a controller epoch into states that nobody has claimed."""
    return driver.zk_epoch + 3


def obey_in_kraft(s, b, epoch):
    """A broker in KRaft mode obeys control requests."""
    take_request(s.network, b, epoch)
    obey(s.brokers[b], epoch)


def load_anew(quorum, image):
    """A broker in KRaft mode that has loaded the last record loads the first again."""
    return 1 if image + 1 == quorum.end and image > 0 else image + 1


def are_never_ready(s):
    """A driver never finds all brokers registered."""
    return False


TWO_BROKERS = scope(elections=1)
FINALIZING = scope(brokers=1, elections=1, receivers=1)
HIGHER = scope(brokers=1, elections=1, epochs=8)
MUTANTS = (
    mutant("version-unchecked", "no_stale_write", {kafka.check_version: check_nothing}, ONE_CHANGE),
    mutant("requests-uncompared", "applied_never_fall", {is_stale: is_never_stale}, TOLD),
    mutant("obeyed-in-kraft", "newest_in_kraft", {requests.refuse: obey_in_kraft}, TOLD),
    mutant("loaded-anew", "newest_in_kraft", {requests.next_offset: load_anew}, FINALIZING),
    mutant("claim-without-epoch", "one_ruler", {zookeeper.claim_controller: claim_without_epoch}, ONE_CHANGE),
    mutant("kraft-epoch-uncompared", "claims_upwards", {zookeeper.read_owner: read_any_owner}, QUICK),
    mutant("version-not-learned", "ruler_is_heard", {zookeeper.set_any_migration: write_unanswered}, ONE_CHANGE),
    mutant("record-unwritten", "agree_at_rest", {writing.what_changed: write_nothing}, ONE_CHANGE),
    mutant("record-never-written", "difference_is_mended", {writing.what_changed: write_nothing}, ONE_CHANGE),
    mutant("deletion-overlooked", "no_deletion_is_left", {zookeeper.has_pending: overlook}, ONE_CHANGE),
    mutant("leader-not-copied", "copied_whole", {zookeeper.read_topic: read_no_leader}, ONE_CHANGE),
    mutant("image-without-copy", "deleted_as_asked", {driver.is_behind: is_never_behind}, ONE_CHANGE),
    mutant("topic-left-out", "log_keeps_topic", {quorum.commit_leader: commit_without_topic}, ONE_CHANGE),
    mutant("leader-epoch-anew", "leader_epoch_never_falls", {zookeeper.read_topic: read_first_epoch}, ONE_CHANGE),
    mutant("two-leaders", "one_leader", {quorum.commit_leader: commit_in_same_epoch}, TWO_BROKERS),
    mutant("taken-away-blindly", "nothing_lost", {directions.may_take_away: take_away_blindly}, ONE_CHANGE),
    mutant("epoch-ahead", "may_write", {zookeeper.epoch_of: write_higher_epoch}, HIGHER),
    mutant("never-ready", "migration_ends", {driver.are_ready: are_never_ready}, ONE_CHANGE),
)
