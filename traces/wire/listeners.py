"""Which broker stands behind an address: by the registrations in ZooKeeper's log, and by who else sends from there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kafkaproof.traces.reading.cluster import below
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.wire.captures import End
from kafkaproof.traces.zookeeper.transactions import Create, SetData
from kafkaproof.traces.zookeeper.znodes.json_parts import is_int, json_in

_ID = re.compile(r"/brokers/ids/(\d+)")
_ENDPOINT = re.compile(r"[^:]+://(?P<host>.*):(?P<port>\d+)")


class Listeners:
    """The endpoints that brokers have ever registered, as host and port, with the brokers of each."""

    def __init__(self, registered: Iterable[tuple[int, str, int]] = ()):
        self._of_end: dict[tuple[str, int], set[int]] = defaultdict(set)
        self._of_port: dict[int, set[int]] = defaultdict(set)
        for broker, host, port in registered:
            self._of_end[host.strip("[]"), port].add(broker)
            self._of_port[port].add(broker)

    @property
    def ports(self) -> frozenset[int]:
        """All ports that are registered."""
        return frozenset(self._of_port)

    def broker_of(self, end: End, senders: Mapping[str, set[int]]) -> int | None:
        """The broker that listens at an address; `senders`: the brokers that send from each address, by their client ids.

        The port decides where one broker alone has registered it; else the address, as registered, or as one broker alone
        sends from there.
        """
        address, port = end
        known = self._of_port.get(port, set())
        for found in (known, self._of_end.get((address, port), set()), known & senders.get(address, set())):
            if len(found) == 1:
                return next(iter(found))
        return None


def listeners_of(recordings: Iterable[Recording], root: str) -> Listeners:
    """The listeners of all registrations in a log."""
    return Listeners(
        (int(found[1]), *endpoint)
        for path, data in _written(recordings)
        if data and (found := _ID.fullmatch(below(root, path) or ""))
        for endpoint in endpoints_in(data)
    )


def _written(recordings: Iterable[Recording]) -> Iterator[tuple[str, bytes | None]]:
    """What znodes hold, from the first of some recordings on: from 2.2 on a registration is created, and then set."""
    for recording in recordings:
        for path, node in recording.start.nodes.items() if recording.start else ():
            yield path, node.data
        for transaction in recording.transactions:
            for operation in () if transaction.failed else transaction.operations:
                if isinstance(operation, (Create, SetData)):
                    yield operation.path, operation.data


def endpoints_in(data: bytes | None) -> set[tuple[str, int]]:
    """The hosts and ports that a registration names."""
    content = json_in(data)
    listed = content.get("endpoints")
    found = {
        (match["host"], int(match["port"]))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, str) and (match := _ENDPOINT.fullmatch(each))
    }
    host, port = content.get("host"), content.get("port")
    return found | ({(host, port)} if isinstance(host, str) and is_int(port) and port > 0 else set())
