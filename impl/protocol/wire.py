"""Kafka's wire protocol: a port for clients, whose requests are decoded, handed to the broker, and answered in order.

Requests and answers are encoded and decoded by kafka-python's definitions, which are generated from Kafka's own.
Source: Kafka protocol guide; kafka.network.SocketServer (one request of a connection at a time).
"""

from __future__ import annotations

import queue
import socket
import struct
import threading
from dataclasses import dataclass, field

from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse
from kafka.protocol.consumer.offsets import ListOffsetsRequest, ListOffsetsResponse
from kafka.protocol.metadata.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka.protocol.metadata.metadata import MetadataRequest, MetadataResponse
from kafka.protocol.producer.produce import ProduceRequest, ProduceResponse

from kafkaproof.impl.protocol import group_requests as answers

HOST = "127.0.0.1"
LARGEST = 100 << 20
_SIZE, _HEADER = struct.Struct("!i"), struct.Struct("!hhi")
TOPICS = {
    CreateTopicsRequest: (CreateTopicsResponse, 2, 4),
    DeleteTopicsRequest: (DeleteTopicsResponse, 1, 3),
    CreatePartitionsRequest: (CreatePartitionsResponse, 0, 3),
    ListPartitionReassignmentsRequest: (ListPartitionReassignmentsResponse, 0, 0),
    AlterPartitionReassignmentsRequest: (AlterPartitionReassignmentsResponse, 0, 0),
    ElectLeadersRequest: (ElectLeadersResponse, 1, 2),
}
VERSIONS = {
    ApiVersionsRequest: (ApiVersionsResponse, 0, 3),
    MetadataRequest: (MetadataResponse, 1, 5),
    ProduceRequest: (ProduceResponse, 3, 7),
    FetchRequest: (FetchResponse, 4, 4),
    ListOffsetsRequest: (ListOffsetsResponse, 1, 2),
    **answers.VERSIONS,
    **TOPICS,
}
"""The requests that are served: their answers, and the versions from which to which."""
UNSUPPORTED_VERSION = 35


@dataclass(eq=False)
class Call:
    """A request of a client; `answer` it once, with an answer of its kind, or with None where it wants none."""

    request: ApiMessage
    version: int
    _answer: queue.Queue = field(default_factory=lambda: queue.Queue(1))

    @property
    def kind(self) -> type:
        """The class of the request."""
        return type(self.request)

    def answer(self, response: ApiMessage | None) -> None:
        """Let the answer go out."""
        self._answer.put(response)

    def wait(self) -> ApiMessage | None:
        """The answer, when it is there."""
        return self._answer.get()


class ClientPort:
    """Listens on the loopback interface, at a free port or a given one; `inbox` receives a Call for each request.

    Without groups, or topics that are created, deleted and reassigned, their requests are not offered.
    """

    def __init__(self, inbox: queue.Queue, port: int = 0, has_groups: bool = False, has_topics: bool = False):
        self._inbox = inbox
        left_out = {*(() if has_groups else answers.VERSIONS), *(() if has_topics else TOPICS)}
        self._served = {kind: served for kind, served in VERSIONS.items() if kind not in left_out}
        self._by_key = {kind.API_KEY: kind for kind in self._served}
        self._listener = socket.create_server((HOST, port))
        self.address = (HOST, self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self._listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        """Serve one connection, until it ends or something comes that is no request of Kafka's."""
        with connection, connection.makefile("rb") as stream:
            try:
                while len(header := stream.read(_SIZE.size)) == _SIZE.size:
                    size = _SIZE.unpack(header)[0]
                    if not _HEADER.size <= size <= LARGEST:
                        return
                    answer = self._ask(stream.read(size))
                    if answer is not None:
                        connection.sendall(answer)
            except (OSError, ValueError, KeyError, IndexError, struct.error):
                pass  # the client has gone, or speaks another protocol: like Kafka, hang up

    def _ask(self, data: bytes) -> bytes | None:
        key, version, correlation = _HEADER.unpack_from(data)
        kind = self._by_key[key]
        _, low, high = self._served[kind]
        if not low <= version <= high:
            if kind is not ApiVersionsRequest:
                raise ValueError("a version that is not offered")
            return _encoded(self.versions(UNSUPPORTED_VERSION), 0, correlation)
        call = Call(kind[version].decode(data, header=True), version)
        if kind is ApiVersionsRequest:
            return _encoded(self.versions(0), version, correlation)
        self._inbox.put(call)
        answer = call.wait()
        return None if answer is None else _encoded(answer, version, correlation)

    def versions(self, error: int) -> ApiMessage:
        """The answer to ApiVersions."""
        kind = ApiVersionsResponse
        keys = [
            kind.ApiVersion(api_key=request.API_KEY, min_version=low, max_version=high)
            for request, (_, low, high) in self._served.items()
        ]
        return kind(error_code=error, api_keys=keys, throttle_time_ms=0)


def _encoded(answer, version, correlation):
    answer.API_VERSION = version
    answer.with_header(correlation_id=correlation)
    return answer.encode(header=True, framed=True)
