"""Mutants of what brokers that run with ZooKeeper are told by the quorum; on the variant `hybrid`."""

from kafkaproof.spec.language.mutants.mutant import mutant
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.migration.hybrid import hosts, propagator
from kafkaproof.spec.migration.hybrid.hosts import leads_or_follows, stop
from kafkaproof.spec.migration.hybrid.model import ONE_CHANGE
from kafkaproof.spec.migration.hybrid.state import put


def learn_nothing(host, content):
    """A full UpdateMetadata takes nothing from the cache."""
    if content.topic != 0:
        host.cached = content.topic


def drop_nothing(host, b, content):
    """A full LeaderAndIsr takes no log away."""
    leads_or_follows(host, b, content)


def lead_without_assignment(host, b, content):
    """A leader does not look at the assignment in LeaderAndIsr."""
    put(host, content.topic, 0, content.leader, content.leader_epoch, content.isr if content.leader == b else 0)


def lead_without_isr(host, b, content):
    """A leader does not look at the ISR in LeaderAndIsr."""
    put(host, content.topic, content.replicas if content.leader == b else 0, content.leader, content.leader_epoch, 0)


def follow_nobody(host, b, content):
    """A follower ignores LeaderAndIsr."""
    if content.leader == b:
        put(host, content.topic, content.replicas, b, content.leader_epoch, content.isr)


def stop_all(s, b):
    """When a broker is no replica any more, all are told to delete."""
    if s.told.topic != 0 and s.log.replicas != s.told.replicas and contains(s.told.replicas, b):
        stop(s.hosts[b], b, s.log.leader_epoch, True)


MUTANTS = (
    mutant("follower-deaf", "replica_is_told", {hosts.lead_or_follow: follow_nobody}, ONE_CHANGE),
    mutant("assignment-ignored", "leader_knows_replicas", {hosts.lead_or_follow: lead_without_assignment}, ONE_CHANGE),
    mutant("isr-ignored", "leader_knows_isr", {hosts.lead_or_follow: lead_without_isr}, ONE_CHANGE),
    mutant("cache-kept", "cache_has_topics", {hosts.learn_all: learn_nothing}, ONE_CHANGE),
    mutant("all-stopped", "in_sync_keeps_log", {propagator.stop_former: stop_all}, ONE_CHANGE),
    mutant("strays-overlooked", "no_log_is_left", {hosts.obey_full: drop_nothing}, ONE_CHANGE),
)
