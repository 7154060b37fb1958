"""What brokers ask the controller for producers: AllocateProducerIds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from types import MappingProxyType

from kafkaproof.impl.protocol.inner_frames import Frame
from kafkaproof.impl.seams.between.messages import OK, Message, Outcome
from kafkaproof.impl.seams.between.naming import Asked, Naming, Part, Returned, code

ASKS_IDS = "AllocateProducerIds"
NOT_REGISTERED = "broker_id_not_registered"
NOTHING = 0, 0


class AllocateProducerIds:
    """One message; the answer to it has a block of ids."""

    key, versions, named, served = 67, MappingProxyType({"2.8": 0, "3.9": 0}), 0, (0, 0)
    kinds = (ASKS_IDS,)

    @staticmethod
    def request(naming: Naming, messages: list[Message]) -> Asked:
        """As naming.Api."""
        return Asked(messages, {"broker_id": naming.own_id, "broker_epoch": naming.broker_epoch}, [])

    @staticmethod
    def read(naming: Naming, frame: Frame) -> tuple[int, list[Part]]:
        """As naming.Api."""
        return naming.brokers.number(frame.fields.broker_id), [
            Part(ASKS_IDS, {"broker_epoch": frame.fields.broker_epoch})
        ]

    @staticmethod
    def answer(naming: Naming, frame: Frame, outcomes: list[Outcome]) -> dict:
        """As naming.Api."""
        (outcome,) = outcomes
        start, size = outcome.content["block"] if isinstance(outcome, Message) else NOTHING
        given = {"producer_id_start": start, "producer_id_len": size}
        return {"throttle_time": timedelta(), "error_code": code(outcome), **given}

    @staticmethod
    def returned(naming: Naming, asked: Asked, frame: Frame) -> Iterator[Returned]:
        """As naming.Api."""
        if frame.fields.error_code.name == OK:
            block = [frame.fields.producer_id_start, frame.fields.producer_id_len]
            yield Returned(0, "ProducerIds", {"block": block})
