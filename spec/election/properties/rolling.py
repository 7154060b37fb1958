"""What holds for upgraded brokers already during a rolling upgrade."""

from kafkaproof.spec.election.history.versions import is_old
from kafkaproof.spec.language.model import always_step


def upgraded_writes_in_time(before, after, b, delivery):
    """No write of an upgraded broker is the first to be applied after a later election took effect (C4)."""
    return is_old(b) or before.zk.ghosts.stale_write or not after.zk.ghosts.stale_write


UPGRADED = (
    always_step(upgraded_writes_in_time, of=("clean", "write_state", "write_when_asked", "delete_own_controller")),
)
