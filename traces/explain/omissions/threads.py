"""What each controller is done with at each of its writes: it handles one event after the other.

A write shows that a handler has begun behind an earlier write: it goes by brokers or by a topic that came later, or it
is of another kind of handler. So the handler of the earlier write has ended, and with it all that it, and those before
it, had to write.
"""

import numpy as np

from kafkaproof.traces.basics.versions import NEVER


class Thread:
    """The writes of one controller to partition states, and the deletions of what it was told.

    `zxids`: of the writes; `done`: the oldest view of /brokers/ids by which all is done when each of them comes, 0
    where nothing is known to be; `topics`: the zxid up to which all that was made is read of topics, and done.
    """

    def __init__(self, zxids: np.ndarray, floors: np.ndarray, made: np.ndarray, behind: np.ndarray):
        """`floors`: views, `made`: when the topic of a first state was made, 0 of others; `behind`: the zxid before
        which all writes are of handlers that have ended."""
        self.zxids, self._behind = zxids, np.maximum.accumulate(behind)
        ended = np.searchsorted(zxids, self._behind)
        self.done, self.topics = (
            np.concatenate([[0], np.maximum.accumulate(column)])[ended] if len(zxids) else zxids
            for column in (floors, made)
        )

    def left(self, views: np.ndarray) -> np.ndarray:
        """The zxid of the first write that shows that all is done by a view of /brokers/ids not older than each of these.

        NEVER where no write does; so of the next two.
        """
        return self._first(self.done, views)

    def left_topics(self, made: np.ndarray) -> np.ndarray:
        """The zxid of the first write that shows that all is done for topics that were made up to each of these."""
        return self._first(self.topics, made)

    def left_behind(self, zxids: np.ndarray) -> np.ndarray:
        """The zxid of the first write that shows that the handler of each of some earlier writes has ended."""
        return self._first(self._behind, zxids + 1)

    def wrote_before(self, zxid: int) -> bool:
        """Whether it wrote anything before a record."""
        return bool(len(self.zxids)) and int(self.zxids[0]) < zxid

    def _first(self, column: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        return np.append(self.zxids, NEVER)[np.searchsorted(column, wanted)]
