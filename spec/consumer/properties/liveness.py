"""Liveness of the old consumer (L15): once membership is stable, every partition gets exactly one reader."""

from kafkaproof.spec.consumer.member import reads
from kafkaproof.spec.language.fairness import at_last, finitely, strong, weak
from kafkaproof.spec.language.model import eventually_always


def has_reader(s, p):
    """Whether partition p is read by the one consumer that it belongs to, and by no other."""
    readers = 0
    for c in range(len(s.consumers)):
        if reads(s.consumers[c], p):
            readers += 1 if s.zk.partitions[p].owner == c else 2
    return readers == 1


def all_read(s):
    """Once membership is stable, eventually exactly one live consumer owns and reads each partition (L15)."""
    for p in range(s.zk.size):
        if not has_reader(s, p):
            return False
    return True


def a_member_lives(s):
    """Some consumer has a process, and some broker is alive."""
    for consumer in s.consumers:
        if consumer.up:
            return not s.zk.brokerless
    return False


LIVENESS = (
    eventually_always(
        all_read,
        given=(
            weak("reopen", each=("c",)),
            weak("register", each=("c",)),
            strong("rebalance_registered", each=("c",)),
            strong("rebalance_changed", each=("c",)),
            weak(
                "look",
                "release",
                "list_group",
                "read_subscriptions",
                "read_partitions",
                "read_offset",
                "claim",
                "undo",
                "retry",
                each=("c",),
            ),
            weak("commit", each=("c", "p")),
            weak("expire_orphan", each=("c",)),
            finitely("start"),
            at_last(a_member_lives),
        ),
    ),
)
