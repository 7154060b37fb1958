"""What brokers that run with ZooKeeper must know once the quorum's leader has told them."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.migration.hybrid.hosts import is_current
from kafkaproof.spec.migration.hybrid.state import is_same


def was_told(s, b):
    """Whether broker `b` runs, and was told all that is in the log."""
    return s.tells == 1 and is_same(s.log, s.told) and s.hosts[b].up == 1 and not s.hosts[b].new


def is_replica(s, b):
    """Whether broker `b` is a replica of the partition in the log."""
    return s.log.topic != 0 and contains(s.log.replicas, b)


def replica_is_told(s):
    """A broker that is a replica, once it was told, has a log of the topic, and knows the leader and its epoch."""
    for b in range(len(s.hosts)):
        host = s.hosts[b]
        knows = host.topic == s.log.topic and host.leader == s.log.leader and host.leader_epoch == s.log.leader_epoch
        if was_told(s, b) and is_replica(s, b) and not knows:
            return False
    return True


def no_log_is_left(s):
    """A broker that is no replica, once it was told, has no log of a topic of that name."""
    for b in range(len(s.hosts)):
        if was_told(s, b) and not is_replica(s, b) and s.hosts[b].topic != 0:
            return False
    return True


def leader_knows_replicas(s):
    """The leader, once it was told, knows the assignment: else no new replica ever is in sync."""
    for b in range(len(s.hosts)):
        if was_told(s, b) and leads(s, b) and s.hosts[b].replicas != s.log.replicas:
            return False
    return True


def leader_knows_isr(s):
    """The leader, once it was told, knows the ISR: else all that it proposes is refused for its version."""
    for b in range(len(s.hosts)):
        if was_told(s, b) and leads(s, b) and s.hosts[b].isr != s.log.isr:
            return False
    return True


def leads(s, b):
    """Whether broker `b` leads the partition in the log, and has its log."""
    return s.log.topic != 0 and s.log.leader == b and s.hosts[b].topic == s.log.topic


def cache_has_topics(s):
    """The metadata cache of a broker, once it was told, has the topic that there is, by its id, and no other."""
    for b in range(len(s.hosts)):
        if was_told(s, b) and s.hosts[b].cached != s.log.topic:
            return False
    return True


def is_in_sync(s, b, topic):
    """Whether broker `b` is in the ISR of a topic."""
    return s.log.topic == topic and contains(s.log.isr, b)


def in_sync_keeps_log(before, after):
    """A broker that is in sync before and after a step keeps its log."""
    topic = before.log.topic
    for b in range(len(before.hosts)):
        stays = topic != 0 and is_in_sync(before, b, topic) and is_in_sync(after, b, topic)
        if stays and before.hosts[b].topic == topic and after.hosts[b].topic != topic:
            return False
    return True


def created_again(s):
    """A topic was created again under its name, and its leader knows all of it."""
    return s.log.topic > 1 and s.log.leader != NOBODY and is_current(s, s.log.leader)


def moved(s):
    """The partition was moved from one broker to another, who knows all of it; the former has no log."""
    return (
        s.log.topic == 1 and not contains(s.log.replicas, 0) and is_current(s, s.log.leader) and s.hosts[0].topic == 0
    )


def in_sync_again(s):
    """A broker that was shut down is in sync again."""
    return s.restarts > 0 and s.log.topic == 1 and contains(s.log.isr, 1) and s.hosts[1].up == 1


HYBRID = (
    always(replica_is_told),
    always(no_log_is_left),
    always(leader_knows_replicas),
    always(leader_knows_isr),
    always(cache_has_topics),
    always_step(in_sync_keeps_log),
    sometimes(created_again, changes=2, topics=2),
    sometimes(moved, changes=2),
    sometimes(in_sync_again, restarts=1, changes=1),
)
