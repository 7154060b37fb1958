"""ZooKeeper as elections in steps use it beside the partitions' controllers: the requests are those of *election*.

A broker is registered exactly while its session is open, and hears of every change of /controller (`vacant`, `moved`).
"""


def fire_nothing(zk, event):
    """The watch on /controller is not kept."""
    return 0


def owns_controller(zk, b):
    """Whether /controller belongs to the session of `b`: that of a former process has ended before another starts."""
    return zk.controller == b
