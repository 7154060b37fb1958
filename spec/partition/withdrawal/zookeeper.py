"""ZooKeeper's watches on /admin/reassign_partitions, which fire once."""

from kafkaproof.spec.language.domains import SetOf
from kafkaproof.spec.language.sets import contains, with_member
from kafkaproof.spec.partition import znodes

KNOWN = ("hears",)
ZOOKEEPER = znodes.ZOOKEEPER.extended(
    hearing=(SetOf("brokers"), "controllers whose watch on /admin/reassign_partitions reports the next list, or has")
)


def hears(zk, b):
    """Whether the watch of `b` on /admin/reassign_partitions reports the list that there is."""
    return contains(zk.hearing, b)


def watch_list(zk, b):
    """Set the watch of `b` on /admin/reassign_partitions, which also tells whether there is a list."""
    zk.hearing = with_member(zk.hearing, b)


def fire_on_list(zk):
    """Every watch on /admin/reassign_partitions fires."""
    zk.hearing = 0
