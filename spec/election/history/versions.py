"""Which brokers are still of 1.1 to 2.0 in the course of a rolling upgrade."""

OLD_BROKERS = 1


def is_old(b):
    """Whether a broker is still to be upgraded: the first ones are."""
    return b < OLD_BROKERS
