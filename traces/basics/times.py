"""Times as people read them."""

from datetime import UTC, datetime


def time_of_day(time: int) -> str:
    """The time of day (UTC) of a time in ms since 1970."""
    return f"{datetime.fromtimestamp(time / 1000, UTC):%H:%M:%S}.{time % 1000:03d}"
