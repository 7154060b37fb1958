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


def takes_over(before, after, m):
    """A member that begins takes the partition when nobody has it, and has its first commit to make."""
    return before.owner == NOBODY and after.owner == m and after.members[m].uncommitted == 1


def reads_one(before, after, m):
    """The member that has the partition reads one record after the other, and none during a commit."""
    old = before.members[m]
    new = after.members[m]
    return before.owner == m and not old.copying and new.position == old.position + 1 and new.uncommitted == 1


def commits_what_is_new(before, after, m):
    """Only the member that has the partition commits, and only what it has not committed."""
    return before.owner == m and before.members[m].uncommitted == 1


def notes_what_it_wrote(before, after, m):
    """A member knows the offset that it has written to ZooKeeper, and its commit has succeeded."""
    new = after.members[m]
    return new.checkpoint == new.position and not new.uncommitted


def leaves_committed(before, after, m):
    """A member that stops has committed, and leaves the partition to others."""
    return before.owner == m and not before.members[m].uncommitted and after.owner == NOBODY


def expires_at_rest(before, after):
    """An offset expires in Kafka alone, and only while nobody reads."""
    kept = after.zookeeper == before.zookeeper and before.owner == NOBODY
    return kept and before.kafka > 0 and after.kafka == 0


SAFETY = (
    always_step(begins_at_acknowledged, of=("begin",)),
    always_step(begins_at_stored, of=("begin",)),
    always_step(both_have_it, of=("commit_to_kafka", "copy_to_zookeeper")),
    always_step(commits_what_was_read, of=("commit_to_zookeeper", "commit_to_kafka", "copy_to_zookeeper")),
    always_step(stored_never_falls, of=("commit_to_zookeeper", "commit_to_kafka", "copy_to_zookeeper")),
    always_step(steps_are_apart, of=("configure_both", "configure_target")),
    always_step(takes_over, of=("begin",)),
    always_step(reads_one, of=("consume",)),
    always_step(commits_what_is_new, of=("commit_to_zookeeper", "commit_to_kafka")),
    always_step(notes_what_it_wrote, of=("commit_to_zookeeper", "copy_to_zookeeper")),
    always_step(leaves_committed, of=("stop",)),
    always_step(expires_at_rest, of=("expire_offset",)),
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
