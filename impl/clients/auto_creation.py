"""Topics that are created because a client asks about them (auto.create.topics.enable): the controller is asked for each
once, in a thread, by CreateTopics on the wire; the client hears that there is no such topic yet, and asks again.

Source: kafka.server.DefaultAutoTopicCreationManager, 2.8 to 3.9; kafka.server.KafkaApis.createTopic, 0.9 to 2.7.
"""

from __future__ import annotations

import threading

from kafka.protocol.admin import CreateTopicsRequest, CreateTopicsResponse

from kafkaproof.impl.clients.topics import DEFAULT, is_name
from kafkaproof.impl.protocol.wire import ask

VERSION, CLIENT = 4, "auto-creation"
PATIENCE = 30.0
"""request.timeout.ms, in seconds."""


class AutoCreation:
    """Asks for the topics that clients of one broker name; `in_flight` are those that it has asked for. Where the
    controller does not answer, the client will ask again.
    """

    def __init__(self):
        self.in_flight: set[str] = set()

    def create(self, topic: str, controller: tuple[str, int] | None) -> str:
        """Ask the controller for a topic, unless that is under way; returns the error that the client is answered with."""
        if not is_name(topic):
            return "INVALID_TOPIC_EXCEPTION"
        if controller and topic not in self.in_flight:
            self.in_flight.add(topic)
            threading.Thread(target=self._ask, args=(topic, controller), daemon=True).start()
        return "UNKNOWN_TOPIC_OR_PARTITION"

    def _ask(self, topic, controller):
        kind = CreateTopicsRequest.CreatableTopic
        wanted = kind(name=topic, num_partitions=DEFAULT, replication_factor=DEFAULT, assignments=[], configs=[])
        request = CreateTopicsRequest(topics=[wanted], timeout_ms=int(PATIENCE * 1000), validate_only=False)
        try:
            ask(controller, request, CreateTopicsResponse, VERSION, CLIENT, PATIENCE)
        finally:
            self.in_flight.discard(topic)
