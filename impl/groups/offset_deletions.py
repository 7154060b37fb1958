"""OffsetDelete: which offsets of a group are deleted, and what it is answered.

The specification knows one offset of a group. Deleting all offsets of an Empty group is a step of it. Deleting some,
while others are left, changes nothing that it knows: tombstones are appended, and that is recorded as no step.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from kafkaproof.impl.groups.group import Group
from kafkaproof.impl.groups.leader import Leader
from kafkaproof.impl.protocol.group_requests import offsets_deleted
from kafkaproof.impl.protocol.offset_records import Entry, batch_of
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.group import deletion
from kafkaproof.spec.group.group_states import EMPTY
from kafkaproof.spec.group.network import NON_EMPTY_GROUP, NONE, Verdict
from kafkaproof.spec.group.validation import offset_deletion_refusal, offset_deletion_verdict

CONSUMER = "consumer"
"""The protocol type of consumers."""
_BEGINNING, _LENGTH = struct.Struct("!hi"), struct.Struct("!h")


class OffsetDeletions:
    """Deletes offsets at one coordinator; `take` takes a step of a group, `note` records a line of one, `exists` says
    whether there is a partition.
    """

    def __init__(
        self, leader: Leader, take: Callable[..., bool], note: Callable[..., None], exists: Callable[[str, int], bool]
    ):
        self._leader, self._take, self._note, self._exists = leader, take, note, exists

    def delete(self, call: Call, group: Group) -> None:
        """Answer a request. While a group has members, the last of its offsets stay: NON_EMPTY_GROUP."""
        refusal = offset_deletion_refusal(group.broker, group.protocol_type == CONSUMER)
        verdicts = {}
        if refusal == NONE:
            places = [(topic.name, each.partition_index) for topic in call.request.topics for each in topic.partitions]
            verdicts = {place: self._verdict(group, place) for place in places}
            refusal = self._delete(group, verdicts)
        told = {place: Verdict.names[verdict] for place, verdict in verdicts.items()} if refusal == NONE else {}
        call.answer(offsets_deleted(call.request, Verdict.names[refusal], {"of_places": told}))

    def _verdict(self, group: Group, place: tuple[str, int]) -> int:
        return offset_deletion_verdict(group.broker, self._exists(*place), _subscribes(group, place[0]))

    def _delete(self, group: Group, verdicts: dict[tuple[str, int], int]) -> int:
        """Delete the offsets that may be; the error for the whole request, NONE for none."""
        doomed = [place for place in group.offsets if verdicts.get(place) == NONE]
        if len(doomed) < len(group.offsets):
            if doomed:
                self._forget(group, doomed)
        elif group.broker.group.state == EMPTY and NONE in verdicts.values():
            group.doomed = doomed
            if not self._take(group, deletion.delete_offset):
                raise RuntimeError(f"the offsets of group {group.name!r} cannot be deleted: a defect")
        elif doomed:
            return NON_EMPTY_GROUP
        return NONE

    def _forget(self, group: Group, doomed: list[tuple[str, int]]) -> None:
        """Delete some of the offsets of a group."""
        self._leader.append(group.name, batch_of([Entry(group.name, place, None) for place in doomed]), group.storage)
        for place in doomed:
            del group.offsets[place]
        self._note(group, forgets=[list(place) for place in doomed], append=self._leader.appended)


def _subscribes(group: Group, topic: str) -> bool:
    """Whether a member subscribes to a topic; it is not known before the first generation, or where what a member says
    cannot be read, and then counts as yes.

    Source: kafka.coordinator.group.GroupMetadata.computeSubscribedTopics, isSubscribedToTopic, 2.4 to 3.9.
    """
    protocol = group.protocol
    if protocol is None:
        return True
    try:
        return any(topic in _topics_in(group.members[n].metadata(protocol)) for n in group.present())
    except (struct.error, UnicodeDecodeError):
        return True


def _topics_in(metadata: bytes) -> list[str]:
    """The topics that a consumer subscribes to, as it says when it joins (ConsumerProtocolSubscription)."""
    _, count = _BEGINNING.unpack_from(metadata)
    at, topics = _BEGINNING.size, []
    for _ in range(count):
        (length,) = _LENGTH.unpack_from(metadata, at)
        at += _LENGTH.size + length
        topics.append(metadata[at - length : at].decode())
    return topics
