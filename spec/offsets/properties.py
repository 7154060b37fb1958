"""Properties of offsets: no acknowledged commit is left behind, and nothing is skipped."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.offsets.stores import BOTH, KAFKA, ZOOKEEPER, former, offset_in_zookeeper, target


def begins_at_acknowledged(before, after, m):
    """A member does not begin behind an offset whose commit has succeeded."""
    return after.members[m].position >= before.ghosts.acknowledged


def begins_at_stored(before, after, m):
    """A member begins at an offset that is stored in a place where it looks, so that no record is skipped."""
    position = after.members[m].position
    storage = before.members[m].storage
    in_zookeeper = storage != KAFKA and position == offset_in_zookeeper(before)
    return in_zookeeper or storage != ZOOKEEPER and position == before.kafka


def both_have_it(before, after, m):
    """A commit to both places that succeeds leaves the same offset in both."""
    if before.members[m].storage != BOTH or after.members[m].uncommitted:
        return True
    return after.kafka == after.members[m].position and offset_in_zookeeper(after) == after.kafka


def commits_what_was_read(before, after, m):
    """A commit stores the position of the member that reads, and nothing else."""
    position = before.members[m].position
    for_zookeeper = offset_in_zookeeper(after) == offset_in_zookeeper(before) or offset_in_zookeeper(after) == position
    return for_zookeeper and (after.kafka == before.kafka or after.kafka == position)


def stored_never_falls(before, after, m):
    """A commit takes no stored offset back."""
    return after.kafka >= before.kafka and offset_in_zookeeper(after) >= offset_in_zookeeper(before)


def steps_are_apart(before, after, m):
    """Nobody commits to the new place alone as long as somebody may commit to the former alone."""
    for member in before.members:
        if member.storage == former():
            return after.members[m].storage != target()
    return True


def one_reads(s):
    """Only the member that reads has a position and something to commit."""
    for m in range(len(s.members)):
        member = s.members[m]
        idle = member.position == 0 and member.checkpoint == 0 and not member.uncommitted and not member.copying
        if m != s.owner and not idle:
            return False
    return True


SAFETY = (
    always_step(begins_at_acknowledged, of=("begin",)),
    always_step(begins_at_stored, of=("begin",)),
    always_step(both_have_it, of=("commit_to_kafka", "copy_to_zookeeper")),
    always_step(commits_what_was_read, of=("commit_to_zookeeper", "commit_to_kafka", "copy_to_zookeeper")),
    always_step(stored_never_falls, of=("commit_to_zookeeper", "commit_to_kafka", "copy_to_zookeeper")),
    always_step(steps_are_apart, of=("configure_both", "configure_target")),
    always(one_reads),
)


def migrated(s):
    """All members have the new storage, and one of them has committed there."""
    for member in s.members:
        if member.storage != target():
            return False
    return s.owner != NOBODY and not s.members[s.owner].uncommitted and s.members[s.owner].position > 1


def mixed(s):
    """Two members commit to different places."""
    for one in s.members:
        for other in s.members:
            if one.storage != other.storage:
                return True
    return False


def kafka_is_ahead(s):
    """A commit is in Kafka and not in ZooKeeper, and nobody will copy it."""
    return s.owner == NOBODY and s.kafka > s.zookeeper and s.zookeeper > 0


MIGRATION = (
    sometimes(migrated, records=2),
    sometimes(mixed, members=2),
    sometimes(kafka_is_ahead, records=2, crashes=1),
)
