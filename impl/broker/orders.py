"""The words by which the driver of a cluster tells a broker's process what to do: `do` of each line of its input."""

from __future__ import annotations

from enum import StrEnum


class Do(StrEnum):
    """What a broker is told to do; TAKE, ANNOUNCE and PROPOSE are for brokers that take ordered steps only."""

    STOP = "stop"
    HOLD = "hold"
    FAIL_LOG_DIR = "fail_log_dir"
    BREAK_LOG = "break_log"
    CUT = "cut"
    SLOW = "slow"
    TAKE = "take"
    ANNOUNCE = "announce"
    PROPOSE = "propose"
