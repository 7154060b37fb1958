"""The link to a broker, which knows Kafka's frames: those of controllers, followers and clients."""

from __future__ import annotations

from kafkaproof.impl.harness.links.proxy import Connection, Proxy
from kafkaproof.spec.protocol.contents import without_contents
from kafkaproof.spec.protocol.frames import client_of, decoded, key_of, name_of, number_of, sender_of
from kafkaproof.spec.protocol.passed import ANSWER, REQUEST


class KafkaLink(Proxy):
    """A proxy before one listener of a broker.

    A request says its `api` (LeaderAndIsr, UpdateMetadata, StopReplica, AlterPartition, ControlledShutdown, Fetch and
    others), its `api_version`, its `client`, the broker that is its `sender`, where it is one's, and its fields, as
    Kafka's schemas name them. An answer says its own fields, and has those of its `request` in it.
    """

    def number(self, data: bytes, part: str) -> int | None:
        """The correlation id."""
        return number_of(data, part)

    def hear(self, connection: Connection, data: bytes, part: str) -> None:
        """Learn which broker a connection is from, by its client id."""
        if "client" not in connection.about and part != ANSWER:
            client = client_of(data)
            connection.about |= {"client": client, "sender": sender_of(client)}

    def read(self, connection: Connection, data: bytes, part: str) -> dict[str, object]:
        """What a frame says."""
        request = self._request_of(connection, data, part)
        if request is None:
            return {}
        key, version = key_of(request)
        said = {"api": name_of(key), "api_version": version, **connection.about} | decoded(key, version, data, part)
        return said | {"request": decoded(key, version, request, REQUEST)} if part == ANSWER else said

    def kept(self, connection: Connection, data: bytes, part: str) -> bytes:
        """A frame as it is noted: without the contents of records."""
        request = self._request_of(connection, data, part)
        return without_contents(*key_of(request), data, part) if request else data

    def _request_of(self, connection: Connection, data: bytes, part: str) -> bytes | None:
        """The request that a frame answers, or is; None where that has not passed."""
        return connection.requests.get(self.number(data, part)) if part == ANSWER else data
