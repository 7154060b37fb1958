"""What brokers tell the controller by a znode: ISRs that they have written (up to 2.6), failed log directories."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.writes import Write
from kafkaproof.traces.explain.partitions.proposals import proposals_of
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.explain.topics.asked import tells_of_log_directory
from kafkaproof.traces.reading.state_records import NOTHING
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in, json_in
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind

ISRS, DIRECTORY, DELETED = "ISRs told of", "log directory failure told of", "notification deleted"


class Notifications:
    """Judges notifications in the order of the log.

    A leader that writes an ISR notifies the controller in the same step of the specification; in Kafka it remembers the
    partition, and tells of all that it remembers later, in one znode. So what is told must be of such steps, and what a
    broker may still remember shrinks with each that it tells.
    """

    def __init__(self, evidence: Evidence):
        self._tells = tells_of_log_directory(evidence.features)
        self._owns, self._whole = evidence.owns, evidence.common.terms.begins == 0
        self._told, self._stopped = evidence.common.told, evidence.common.stopped
        self._latest: dict[int, bytes | None] = {}
        self._changed: dict[int | None, list[tuple[int, Partition]]] = defaultdict(list)
        for row in _told_rows(evidence).tolist():
            change = evidence.changes[row]
            self._changed[change.broker].append((change.zxid, change.partition))

    @staticmethod
    def kind(write: Write) -> str:
        """What a notification is."""
        return ISRS if write.place.kind == PlaceKind.ISR_CHANGE else DIRECTORY

    def why_not(self, write: Write) -> str | None:
        """Why no broker writes this: it tells of the ISRs that it has written as leader since then; None where it may.

        Then: when it told the last time but one, or when it stopped and closed its session, as it remembers them in
        memory. What it wrote before it told the last time it may have remembered only afterwards, when the answer had
        come; or it told of it in vain, when its session ended before the answer (ReplicaManager.recordIsrChange and
        maybePropagateIsrChanges). Of those that it names the ones of the stream's topics are judged. What a broker has
        done before the log is unknown until then; and what it tells comes twice where the first answer was lost.
        """
        if write.place.kind == PlaceKind.LOG_DIR_EVENT:
            named = json_in(write.data).get("broker")
            if named != write.broker:
                return f"it names broker {named}"
            return None if self._tells else "brokers of these releases do not tell of a failed log directory"
        again = self._latest.get(write.session) == write.data
        self._latest[write.session] = write.data
        told, changed = self._told[write.broker], self._changed[write.broker]
        stopped = () if write.broker is None else self._stopped.get(write.broker, ())
        since = max(_last(told, _last(told, write.zxid)), _last(stopped, write.zxid))
        done = {
            partition
            for _, partition in changed[
                bisect_right(changed, since, key=itemgetter(0)) : bisect_left(changed, write.zxid, key=itemgetter(0))
            ]
        }
        strange = sorted(p for p in set(entries_in(write.data)) - done if self._owns(p[0]))
        if not strange or again or not since and not self._whole:
            return None
        partition = "{}-{}".format(*strange[0])
        return f"since it told the last time but one or was started, its broker wrote no ISR of {partition} as leader"


def _told_rows(evidence: Evidence) -> np.ndarray:
    """The rows of the changes by which leaders write ISRs that they notify controllers of, as the transition does."""
    changes, states = evidence.changes, evidence.changes.states
    before, after = changes.before, changes.after
    own = ~changes.checked & (before != NOTHING) & (states.leader_epochs[after] == states.leader_epochs[before])
    rows, proposals = np.flatnonzero(own & (states.leaders[before] != NOBODY)), proposals_of(evidence.features)
    first, kinds = distinct(states.held[before[rows]], states.held[after[rows]])
    found = (changes[row] for row in rows[first].tolist())
    told = [
        proposals.is_told(Elected(each.former.leader, frozenset(each.former.isr)), frozenset(each.written.isr))
        for each in found
    ]
    return rows[np.array(told, bool)[kinds]]


def _last(zxids: Sequence[int], zxid: int) -> int:
    """The last of some zxids before another one; 0 where there is none."""
    place = bisect_left(zxids, zxid)
    return zxids[place - 1] if place else 0
