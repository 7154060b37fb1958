"""Times as people read them."""

from datetime import UTC, datetime


def time_of_day(time: int) -> str:
    """The time of day (UTC) of a time in ms since 1970."""
    return f"{datetime.fromtimestamp(time / 1000, UTC):%H:%M:%S}.{time % 1000:03d}"


def day_and_time(time: int) -> str:
    """A time in ms since 1970 as people write it, with its zone."""
    return f"{datetime.fromtimestamp(time / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def lasting(ms: int) -> str:
    """A duration as people say it: ``0.8 s``, ``45 s``, ``3 min 20 s``, ``2 h 5 min``."""
    seconds = round(ms / 1000)
    if seconds < 10:
        return f"{ms / 1000:.1f} s"
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"
