"""The formats of a recording: each is a number, and later ones say more."""

from __future__ import annotations

FORMAT, READING_TOPICS, GOING_ON, WITH_UPDATES, WITH_ENDS = 10, 9, 8, 7, 6
WITH_REASSIGNMENTS, WITH_DELETIONS, WITH_GROUPS = 5, 4, 3
FORMATS = (
    2,
    WITH_GROUPS,
    WITH_DELETIONS,
    WITH_REASSIGNMENTS,
    WITH_ENDS,
    WITH_UPDATES,
    GOING_ON,
    READING_TOPICS,
    FORMAT,
)
"""In format 2 the steps of groups say too little to be replayed: there must be none. Up to 3 no topic is deleted, and
up to 4 no partition reassigned, and with a write that was refused goes a `clean` of *election*, and not a `load`. Up to
5 a leader that leads again forgets the ends of its followers, and up to 6 brokers are sent no UpdateMetadata,
and no StopReplica without delete. Up to 7 an event whose session has expired ends at once, with its term, brokers of
2.0 take the brokers that they list as live one by one, and a leader that is told that nobody leads leads no more. Up to
8 a controller adds partitions to a topic by what it remembers, in one step, and tells no broker of an ISR that it does not
write. Up to 9 the description says for how many partitions there is room, and the id of a topic which of them it has.
"""
