"""What lagging servers do, which is neither a fault nor an act of a broker."""

from kafkaproof.spec.partition.context import Broker
from kafkaproof.spec.partition.lagging.zookeeper import is_behind, see_all
from kafkaproof.spec.partition.zookeeper import session_open


def catch_up(s, b: Broker):
    """The server that `b` is connected to catches up with all writes.

    Guards:  the session is open; the server is behind.
    Effects: reads see the latest values; the watch on /brokers/ids fires if somebody has come or gone.
    """
    if not session_open(s.zk, b) or not is_behind(s.zk, b):
        return False

    see_all(s.zk, b)
    return True
