"""Ids of producers, from blocks: this broker asks the controller for one, or, as brokers before 3.0, takes it in ZooKeeper.

Source: kafka.coordinator.transaction.TransactionCoordinator.handleInitProducerId, 0.11 to 3.9;
        kafka.coordinator.transaction.RPCProducerIdManager.generateProducerId, 3.0 to 3.9;
        kafka.coordinator.transaction.ZkProducerIdManager.generateProducerId, 3.0 to 3.9.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kafka.protocol.producer.transaction import InitProducerIdResponse
from kazoo.protocol.serialization import SetData

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.between.control_apis import STALE_BROKER
from kafkaproof.impl.seams.between.data_apis import NOT_CONTROLLER
from kafkaproof.impl.seams.between.messages import Message
from kafkaproof.impl.seams.between.producer_apis import ASKS_IDS, NOT_REGISTERED
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.znodes import ProducerIdBlock
from kafkaproof.spec.kafka.zookeeper import BADVERSION, OK
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.protocol.batches import NO_PRODUCER

ASK_AGAIN = 1.0
"""After how many seconds a controller that has not answered is asked again."""


class ProducerIds:
    """Gives each producer of a cluster an id of its own; `controller` says who the controller is."""

    def __init__(self, process: Process, controller: Callable[[], int]):
        self._process, self._controller = process, controller
        self._asks = process.settings.spoken == "3.9"
        self._left, self._asked = range(0), 0.0

    def serve(self, call: Call) -> None:
        """Answer InitProducerId: a new id in epoch 0. Transactions are not served."""
        kind, request = InitProducerIdResponse, call.request
        error, id = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", NO_PRODUCER
        if request.transactional_id is None:
            id = self._next()
            error = "COORDINATOR_LOAD_IN_PROGRESS" if id == NO_PRODUCER else DONE
        epoch = -1 if id == NO_PRODUCER else 0
        call.answer(kind(throttle_time_ms=0, error_code=ERRORS[error], producer_id=id, producer_epoch=epoch))

    def _next(self) -> int:
        """The next id, NO_PRODUCER where there is no block now."""
        if not self._left:
            self._find_block()
        if not self._left:
            return NO_PRODUCER
        id, self._left = self._left[0], self._left[1:]
        return id

    def _find_block(self) -> None:
        """Have a block, or ask for one, unless that is under way."""
        process, now = self._process, time.monotonic()
        if not self._asks:
            self._left = self._claim(process.broker)
        elif now - self._asked > ASK_AGAIN and self._controller() != NOBODY:
            self._asked = now
            process.tell(
                process.known.reach(self._controller()), ASKS_IDS, {"broker_epoch": process.network.broker_epoch}
            )

    def take(self, message: Message) -> None:
        """The controller has given a block."""
        start, size = message.content["block"]
        self._left, self._asked = self._left or range(start, start + size), 0.0

    def give(self, message: Message, rules: bool) -> None:
        """As the controller, if this broker `rules`: give a broker a block. The request waits for the events before it.

        Source: kafka.controller.KafkaController.processAllocateProducerIds, 3.0 to 3.9.
        """
        known = self._process.partition_zookeeper.brokers.get(message.sender)
        if not rules:
            message.settle(NOT_CONTROLLER)
        elif known is None:
            message.settle(NOT_REGISTERED)
        elif known[1] != message.content["broker_epoch"]:
            message.settle(STALE_BROKER)
        elif block := self._claim(message.sender):
            self._process.tell(message.reply, "ProducerIds", {"block": [block.start, len(block)]})
        else:
            message.settle(NOT_CONTROLLER)

    def _claim(self, broker: int) -> range:
        """Take the block after the latest for a broker: written over the version that was read, until no other was first;
        nothing where ZooKeeper does not answer.
        """
        requests = self._process.requests
        while True:
            try:
                reply = requests.at_once(lambda: requests.session.get(ProducerIdBlock.path))[0]
                if reply.result is None:
                    return range(0)
                data, stat = reply.result
                block = ProducerIdBlock.after(broker, data)
                answer = requests.write_beside(SetData(ProducerIdBlock.path, block.encode(), stat.version))
            except (NotAnswered, Expired):
                return range(0)
            if answer != BADVERSION:
                return range(block.start, block.end + 1) if answer == OK else range(0)
