"""Mutants of where a group keeps its offset: one deliberate mistake each, on the variant `repaired`."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import first_paragraph
from kafkaproof.spec.language.mutants.mutant import Mutant, everywhere
from kafkaproof.spec.language.mutants.simple import NO, NOTHING, YES, simple
from kafkaproof.spec.offsets import members, stores
from kafkaproof.spec.offsets.history import paths
from kafkaproof.spec.offsets.model import scope
from kafkaproof.spec.offsets.stores import ZOOKEEPER, Member, fetched, offset_in_zookeeper, put_in_zookeeper, succeed


def kafka_if_it_has_one(s, storage):
    """A member that commits to both places begins at Kafka's offset if there is one, not at the higher one."""
    if storage == ZOOKEEPER or s.kafka == 0:
        return offset_in_zookeeper(s)
    return s.kafka


def put_next(s, offset):
    """The record that is next is committed to ZooKeeper as if it had been read."""
    s.zookeeper = offset + 1


def own_position(s, position):
    """A member that begins believes that ZooKeeper has the offset at which it begins, as in Kafka."""
    return position


def keep_position(s, m):
    """A member that reads no more keeps its position."""
    s.owner = NOBODY


def begin_over_another(s, m: Member):
    """A member begins although another reads."""
    s.owner = m
    s.members[m].position = fetched(s, s.members[m].storage)
    s.members[m].uncommitted = 1
    return True


def read_two(s, m: Member):
    """A member passes over a record."""
    if s.owner != m or s.members[m].copying:
        return False
    s.members[m].position += 2
    s.members[m].uncommitted = 1
    return True


def commit_again(s, m: Member):
    """A member commits to ZooKeeper what it has committed."""
    if s.owner != m or s.members[m].storage != ZOOKEEPER:
        return False
    put_in_zookeeper(s, s.members[m].position)
    succeed(s, m, s.members[m].position)
    return True


def expire_both(s):
    """An offset expires in ZooKeeper, too."""
    if s.owner != NOBODY or s.kafka == 0:
        return False
    s.kafka = 0
    s.zookeeper = 0
    s.expirations += 1
    return True


def mutant(name, kills, replacements, at):
    """A mutant told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


CALM, CRASH = scope(), scope(crashes=1)
MUTANTS = {
    "repaired": (
        mutant("higher-one-not-taken", "begins_at_acknowledged", {stores.fetched: kafka_if_it_has_one}, CALM),
        mutant("own-checkpoint", "both_have_it", {paths.checkpoint_in_zookeeper: own_position}, CRASH),
        mutant("own-checkpoint-falls", "begins_at_acknowledged", {paths.checkpoint_in_zookeeper: own_position}, CRASH),
        mutant("next-committed", "commits_what_was_read", {stores.put_in_zookeeper: put_next}, CALM),
        simple("begins_at_stored", stores.fetched, NO, CALM),
        simple("both_have_it", stores.must_copy, NO, CALM),
        simple("stored_never_falls", stores.fetched, NO, CALM),
        simple("steps_are_apart", stores.may_leave_both, YES, CALM),
        mutant("begins-over-another", "takes_over", {members.begin: begin_over_another}, CALM),
        mutant("reads-two", "reads_one", {members.consume: read_two}, CALM),
        mutant("commits-again", "commits_what_is_new", {members.commit_to_zookeeper: commit_again}, CALM),
        mutant("both-expire", "expires_at_rest", {members.expire_offset: expire_both}, scope(expirations=1)),
        simple("notes_what_it_wrote", stores.succeed, NOTHING, CALM),
        simple("leaves_committed", stores.leave, NOTHING, CALM),
        mutant("position-kept", "one_reads", {stores.leave: keep_position}, CALM),
    )
}
