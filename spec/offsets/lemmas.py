"""Lemmas of where a group keeps its offset (repaired): which place has what was acknowledged, and who knows it."""

from kafkaproof.spec.offsets.stores import BOTH, KAFKA, ZOOKEEPER, Member


def is_unexpired(s):
    """Whether no offset has expired in Kafka."""
    return s.expirations == 0


def one_place_has_it(s):
    """What was acknowledged is in ZooKeeper or in Kafka."""
    return not is_unexpired(s) or max(s.zookeeper, s.kafka) >= s.ghosts.acknowledged


def zookeeper_has_it(s, m: Member):
    """While a member uses ZooKeeper alone, ZooKeeper has what was acknowledged."""
    return s.members[m].storage != ZOOKEEPER or s.zookeeper >= s.ghosts.acknowledged


def kafka_has_it(s, m: Member):
    """Once a member uses Kafka alone, a commit was made to both places, and Kafka has what was acknowledged."""
    return not is_unexpired(s) or s.members[m].storage != KAFKA or s.copied == 1


def copied_is_in_kafka(s):
    """After a commit to both places, Kafka has what was acknowledged."""
    return not is_unexpired(s) or s.copied == 0 or s.kafka >= s.ghosts.acknowledged


def apart(s, m: Member, n: Member):
    """Nobody uses Kafka alone while somebody uses ZooKeeper alone."""
    return s.members[m].storage != KAFKA or s.members[n].storage != ZOOKEEPER


def knows_zookeeper(s, m: Member):
    """The member that reads knows what ZooKeeper has, and has read as far as the places where it commits."""
    member = s.members[m]
    if s.owner != m:
        return True
    if member.checkpoint != s.zookeeper:
        return False
    if member.storage != KAFKA and member.position < s.zookeeper:
        return False
    return member.storage == ZOOKEEPER or member.position >= s.kafka


def reads_on(s, m: Member):
    """The member that reads is not behind what was acknowledged."""
    return not is_unexpired(s) or s.owner != m or s.members[m].position >= s.ghosts.acknowledged


def copies_to_both(s, m: Member):
    """Only the member that reads, and that commits to both places, has to copy: what Kafka has."""
    member = s.members[m]
    if not member.copying:
        return True
    return s.owner == m and member.storage == BOTH and s.kafka == member.position


REPAIRED = (
    one_place_has_it,
    zookeeper_has_it,
    kafka_has_it,
    copied_is_in_kafka,
    apart,
    knows_zookeeper,
    reads_on,
    copies_to_both,
)
