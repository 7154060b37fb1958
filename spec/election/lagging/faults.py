"""What lagging servers do, which is neither a fault nor an act of a broker."""

from kafkaproof.spec.election.lagging.zookeeper import is_behind, see_all, session_open
from kafkaproof.spec.election.session import Broker


def catch_up(s, b: Broker):
    """The server that `b` is connected to catches up with all writes.

    Guards:  the session is open; the server is behind.
    Effects: reads see the latest values; the watch on /controller fires if that has changed.
    """
    if not session_open(s.zk, b) or not is_behind(s.zk, b):
        return False

    see_all(s.zk, b)
    return True
