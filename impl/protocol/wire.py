"""Kafka's wire protocol: a port for clients, whose requests are decoded, handed to the broker, and answered in order.

Requests and answers are encoded and decoded by kafka-python's definitions, which are generated from Kafka's own.
Source: Kafka protocol guide; kafka.network.SocketServer (one request of a connection at a time).
"""

from __future__ import annotations

import queue
import socket
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from kafka.protocol.admin import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse
from kafka.protocol.consumer.offsets import (
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from kafka.protocol.metadata.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka.protocol.metadata.metadata import MetadataRequest, MetadataResponse
from kafka.protocol.producer.produce import ProduceRequest, ProduceResponse
from kafka.protocol.producer.transaction import InitProducerIdRequest, InitProducerIdResponse

from kafkaproof.impl.protocol import group_requests as answers

HOST = "127.0.0.1"
LARGEST = 100 << 20
_SIZE, _HEADER = struct.Struct("!i"), struct.Struct("!hhi")
TOPICS = {
    CreateTopicsRequest: (CreateTopicsResponse, 2, 4),
    DeleteTopicsRequest: (DeleteTopicsResponse, 1, 5),
    CreatePartitionsRequest: (CreatePartitionsResponse, 0, 3),
    ListPartitionReassignmentsRequest: (ListPartitionReassignmentsResponse, 0, 0),
    AlterPartitionReassignmentsRequest: (AlterPartitionReassignmentsResponse, 0, 0),
    ElectLeadersRequest: (ElectLeadersResponse, 1, 2),
    DescribeConfigsRequest: (DescribeConfigsResponse, 1, 4),
    AlterConfigsRequest: (AlterConfigsResponse, 0, 2),
    IncrementalAlterConfigsRequest: (IncrementalAlterConfigsResponse, 0, 1),
    DescribeLogDirsRequest: (DescribeLogDirsResponse, 0, 4),
}
VERSIONS = {
    ApiVersionsRequest: (ApiVersionsResponse, 0, 3),
    MetadataRequest: (MetadataResponse, 0, 12),
    ProduceRequest: (ProduceResponse, 3, 7),
    InitProducerIdRequest: (InitProducerIdResponse, 0, 4),
    FetchRequest: (FetchResponse, 4, 11),
    ListOffsetsRequest: (ListOffsetsResponse, 0, 6),
    OffsetForLeaderEpochRequest: (OffsetForLeaderEpochResponse, 2, 4),
    DeleteRecordsRequest: (DeleteRecordsResponse, 0, 2),
    **answers.VERSIONS,
    **TOPICS,
}
"""The requests that are served: their answers, and the versions from which to which."""
ALIKE = {(DescribeLogDirsRequest, 0): 1}
"""Versions that kafka-python has no definition of, and those that have the same fields."""
UNSUPPORTED_VERSION = 35
CONSUMER_GROUP_HEARTBEAT = 68
"""Offered, and refused with UNSUPPORTED_VERSION, as by brokers of 3.7 to 3.9 whose group coordinator is not the new one.

Version 1, which they do not have, is offered, too: librdkafka 2.16 asks for no other, and would wait without a word.
"""
_REFUSAL = struct.Struct("!ibihbbiibb")
"""An answer to it: correlation, tags; throttle time, error, no message, no member, two numbers, no assignment, tags."""


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

    def __init__(self, inbox: queue.SimpleQueue, port: int = 0, has_groups: bool = False, has_topics: bool = False):
        self._inbox, self._has_groups = inbox, has_groups
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
                    answer = self.answer_of(stream.read(size))
                    if answer is not None:
                        connection.sendall(answer)
            except (OSError, ValueError, KeyError, IndexError, struct.error):
                pass  # the client has gone, or speaks another protocol: like Kafka, hang up

    def answer_of(self, data: bytes, more: Mapping[int, tuple[int, int]] = MappingProxyType({})) -> bytes | None:
        """The answer to a request, without its length; waits for it. Raises ValueError, KeyError and the like for what is
        not offered. `more`: the APIs and versions that are offered besides where it has come.
        """
        key, version, correlation = _HEADER.unpack_from(data)
        if key == CONSUMER_GROUP_HEARTBEAT:
            body = _REFUSAL.pack(correlation, 0, 0, UNSUPPORTED_VERSION, 0, 0, 0, 0, -1, 0)
            return _SIZE.pack(len(body)) + body
        kind = self._by_key[key]
        _, low, high = self._served[kind]
        if not low <= version <= high:
            if kind is not ApiVersionsRequest:
                raise ValueError("a version that is not offered")
            return framed(self.versions(UNSUPPORTED_VERSION, more), 0, correlation)
        version = ALIKE.get((kind, version), version)
        call = Call(kind[version].decode(data, header=True), version)
        if kind is ApiVersionsRequest:
            return framed(self.versions(0, more), version, correlation)
        self._inbox.put(call)
        answer = call.wait()
        return None if answer is None else framed(answer, version, correlation)

    def versions(self, error: int, more: Mapping[int, tuple[int, int]] = MappingProxyType({})) -> ApiMessage:
        """The answer to ApiVersions."""
        kind, offered = ApiVersionsResponse, {request.API_KEY: each[1:] for request, each in self._served.items()}
        for key, (low, high) in more.items():
            former = offered.get(key, (low, high))
            offered[key] = min(low, former[0]), max(high, former[1])
        keys = [kind.ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in offered.items()]
        if self._has_groups:
            keys.append(kind.ApiVersion(api_key=CONSUMER_GROUP_HEARTBEAT, min_version=0, max_version=1))
        return kind(error_code=error, api_keys=keys, throttle_time_ms=0)


def framed(message: ApiMessage, version: int, correlation: int, client: str = "") -> bytes:
    """A request of a client, or an answer, in a version and with its header, as it goes over the wire."""
    message.API_VERSION = version
    message.with_header(correlation_id=correlation, client_id=client)
    return message.encode(header=True, framed=True)


def ask(
    address: tuple[str, int], request: ApiMessage, answer: Any, version: int, client: str, patience: float
) -> ApiMessage | None:
    """What a broker answers to a request of a client, within `patience` seconds; None where nothing listens, or its
    connection breaks.
    """
    try:
        with socket.create_connection(address, patience) as connection, connection.makefile("rb") as stream:
            connection.sendall(framed(request, version, 1, client))
            size = int.from_bytes(stream.read(_SIZE.size), "big")
            data = stream.read(size)
            return answer[version].decode(data, header=True) if size and len(data) == size else None
    except OSError:
        return None
