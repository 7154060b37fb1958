"""Leaders up to 0.8, which forget the ends of their followers with each LeaderAndIsr.

So did the brokers of this project in recordings up to format 5.
"""


def keeps_no_end(broker):
    """A leader that leads again knows no follower's end, like one that begins to lead (Partition.makeLeader, 0.8)."""
    return False
