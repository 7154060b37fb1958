"""Liveness: a migration that is asked for ends, and what differs between the stores is mended."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.fairness import at_last, weak
from kafkaproof.spec.language.model import eventually
from kafkaproof.spec.migration.directions import any_in
from kafkaproof.spec.migration.quorum import leads
from kafkaproof.spec.migration.state import DUAL_WRITE, IN_MIGRATION, ZOOKEEPER_MODE, is_same


def has_leader(s):
    """The quorum has a leader."""
    return s.quorum.leader != NOBODY


def is_asked_for(s):
    """The quorum runs for the migration, and all brokers have entered migration mode."""
    return s.stage == IN_MIGRATION and not any_in(s, ZOOKEEPER_MODE)


def migration_ends(s):
    """Eventually the leader's driver writes to both stores, or the operator goes back or on (L16)."""
    if s.stage != IN_MIGRATION:
        return True
    for c in range(len(s.drivers)):
        if leads(s, c) and s.drivers[c].driving == DUAL_WRITE:
            return True
    return False


def differs(s):
    """The quorum runs for the migration, the copy is committed, and ZooKeeper has not what the log has."""
    return is_asked_for(s) and s.quorum.migrated > 0 and not is_same(s.zk.topic, s.quorum.records[s.quorum.end - 1])


def difference_is_mended(s):
    """What the log has and ZooKeeper has not, ZooKeeper eventually has, unless the operator goes back or on (L17)."""
    return not differs(s)


DRIVERS_RUN = (
    weak("start", "handle_change", "reopen", "notice_expiry", each=("b",)),
    weak(
        "recover",
        "hear",
        "load",
        "wait_for_quorum",
        "wait_for_brokers",
        "look_for_owner",
        "claim",
        "begin_to_rule",
        "copy_metadata",
        "complete_copy",
        "record_copy",
        "clear_deletions",
        "synchronise",
        "create_topic",
        "create_state",
        "update_state",
        "delete_state",
        "delete_topic",
        "tell_all",
        "take_record",
        "record_offset",
        each=("c",),
    ),
    at_last(has_leader),
)
LIVENESS = (
    eventually(migration_ends, given=DRIVERS_RUN, after=is_asked_for),
    eventually(difference_is_mended, given=DRIVERS_RUN, after=differs),
)
