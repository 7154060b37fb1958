"""Which brokers still run 1.1 to 2.0 during a rolling upgrade."""

OLD_BROKERS = 1


def is_old(b):
    """Whether a broker is not upgraded yet: the first ones are not."""
    return b < OLD_BROKERS
