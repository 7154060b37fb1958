"""Brokers that obey every LeaderAndIsr, also one that names no leader, or one that they do not know as alive.

No release of Kafka does so; the brokers of this project did in recordings up to format 7.
"""


def may_become_anything(broker, b, leader):
    """A broker follows whoever is named, and where nobody is, it leads no more."""
    return True
