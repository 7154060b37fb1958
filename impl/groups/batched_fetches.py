"""OffsetFetch of several groups in one request, from version 8 on (KIP-709): each group is asked for by itself, and the
request is answered when all of them have answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka.protocol.consumer.group import OffsetFetchRequest, OffsetFetchResponse

from kafkaproof.impl.protocol.wire import Call

BATCHED = 8
"""The version from which on a request names several groups."""
ALONE = 7


@dataclass(eq=False)
class Part(Call):
    """What a request asks of one group; `whole` is the request, `others` are its parts by group, and what they were
    answered.
    """

    whole: Call | None = None
    others: dict[str, OffsetFetchResponse | None] = field(default_factory=dict)

    def answer(self, response) -> None:
        """Note the answer; the last one answers the request."""
        self.others[self.request.group_id] = response
        if self.whole and all(each is not None for each in self.others.values()):
            self.whole.answer(together(self.others))


def parts_of(call: Call) -> list[Part]:
    """The parts of a request of OffsetFetch that names several groups."""
    others: dict[str, OffsetFetchResponse | None] = {group.group_id: None for group in call.request.groups}
    kind = OffsetFetchRequest.OffsetFetchRequestTopic
    return [
        Part(
            OffsetFetchRequest(
                group_id=group.group_id,
                topics=None
                if group.topics is None
                else [kind(name=topic.name, partition_indexes=topic.partition_indexes) for topic in group.topics],
            ),
            ALONE,
            whole=call,
            others=others,
        )
        for group in call.request.groups
    ]


def together(answers: Mapping[str, Any]) -> OffsetFetchResponse:
    """The answer to a request, of what was answered about each group."""
    kind = OffsetFetchResponse.OffsetFetchResponseGroup
    topic_kind = kind.OffsetFetchResponseTopics
    return OffsetFetchResponse(
        throttle_time_ms=0,
        groups=[
            kind(
                group_id=name,
                error_code=response.error_code,
                topics=[
                    topic_kind(
                        name=topic.name,
                        partitions=[
                            topic_kind.OffsetFetchResponsePartitions(
                                partition_index=each.partition_index,
                                committed_offset=each.committed_offset,
                                committed_leader_epoch=each.committed_leader_epoch,
                                metadata=each.metadata,
                                error_code=each.error_code,
                            )
                            for each in topic.partitions
                        ],
                    )
                    for topic in response.topics
                ],
            )
            for name, response in answers.items()
        ],
    )
