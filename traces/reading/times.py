"""When the records of a recording were written."""

from bisect import bisect_left

from kafkaproof.traces.reading.recording import Recording


class Times:
    """The times of records, in ms since 1970; `began` and `ended` are those of the first and of the last."""

    def __init__(self, recording: Recording):
        transactions = recording.transactions
        self._zxids = [transaction.zxid for transaction in transactions]
        self._times = [transaction.time for transaction in transactions]
        self.began, self.ended = min(self._times, default=0), max(self._times, default=0)

    def at(self, zxid: int) -> int:
        """The time of the first record from that zxid on: of the first before the log, of the last behind it."""
        place = bisect_left(self._zxids, zxid)
        return self._times[place] if place < len(self._times) else self.ended

    def around(self, zxid: int, many: int) -> tuple[int, ...]:
        """The zxids of the record, and of so many before it and behind it."""
        place = bisect_left(self._zxids, zxid)
        return tuple(self._zxids[max(place - many, 0) : place + many + 1])
