"""What servers that lag do: no fault, and not the brokers' doing either."""

from kafkaproof.spec.election.lagging.zookeeper import is_behind, see_all, session_open
from kafkaproof.spec.election.session import Broker


def catch_up(s, b: Broker):
    """The server that `b` is connected to sees all that was written.

    Guards:  the session is open; the server is behind.
    Effects: reads see it; the watch on /controller fires if that has changed.
    """
    if not session_open(s.zk, b) or not is_behind(s.zk, b):
        return False

    see_all(s.zk, b)
    return True
