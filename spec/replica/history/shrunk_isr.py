"""The high watermark advances by a smaller proposed ISR before the leader knows that it is written (a draft of 2.7).

The leader asks the controller to remove a follower, and at once stops waiting for it. Until the controller has written
that, it may elect this very follower, which lacks what was committed meanwhile.
"""

from kafkaproof.spec.language.sets import contains, is_empty


def is_proposed(broker, member):
    """Whether a replica is in the ISR that the leader wants: the proposed one, while there is one."""
    return contains(broker.isr if is_empty(broker.pending) else broker.pending, member)
