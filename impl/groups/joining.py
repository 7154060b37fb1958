"""Who joins a group by a JoinGroup, in its several versions."""

from __future__ import annotations

import uuid

from kafkaproof.impl.protocol.offset_records import Member
from kafkaproof.impl.protocol.wire import Call

TOLD_FROM = 4
"""The version of JoinGroup from which on MEMBER_ID_REQUIRED may be answered (KIP-394)."""


def joining(call: Call) -> Member:
    """Who joins by a request; without a member id it gets a new one. Version 0 has one timeout for all."""
    request = call.request
    begins = request.group_instance_id or "kafkaproof"
    return Member(
        request.member_id or f"{begins}-{uuid.uuid4()}",
        session=request.session_timeout_ms,
        rebalance=request.rebalance_timeout_ms if call.version else request.session_timeout_ms,
        protocols=[(each.name, bytes(each.metadata)) for each in request.protocols],
        instance=request.group_instance_id,
    )
