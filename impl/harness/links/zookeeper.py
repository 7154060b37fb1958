"""The link between a process and ZooKeeper, which knows the frames of ZooKeeper's clients.

Source: org.apache.zookeeper.ZooDefs.OpCode, org.apache.zookeeper.ClientCnxn, zookeeper.jute (3.4 to 3.9).
"""

from __future__ import annotations

import struct

from kazoo.protocol.serialization import read_buffer, read_string

from kafkaproof.impl.harness.links.proxy import Connection, Proxy
from kafkaproof.impl.harness.links.rules import DROP, Rule
from kafkaproof.spec.protocol.passed import ANSWER, LENGTH, NOTIFICATION, REQUEST

CREATE, CREATE2, DELETE, SET_DATA, CHECK, MULTI = "create", "create2", "delete", "setData", "check", "multi"
OPERATIONS = {
    1: CREATE,
    2: DELETE,
    3: "exists",
    4: "getData",
    5: SET_DATA,
    6: "getACL",
    7: "setACL",
    8: "getChildren",
    9: "sync",
    11: "ping",
    12: "getChildren2",
    13: CHECK,
    14: MULTI,
    15: CREATE2,
    16: "reconfig",
    19: "createContainer",
    21: "createTTL",
    22: "multiRead",
    100: "auth",
    101: "setWatches",
    105: "setWatches2",
    -11: "closeSession",
    -1: "error",
}
WRITES = f"{CREATE}2?|{DELETE}|{SET_DATA}|{MULTI}"
"""The operations that change something, as a pattern of a rule."""
EVENTS = {1: "NodeCreated", 2: "NodeDeleted", 3: "NodeDataChanged", 4: "NodeChildrenChanged", -1: "None"}
_PING, _NOTICED = -2, -1
_FAILED, _OTHERS_FAILED = -1, -2
_WITH_DATA, _WITH_VERSION = (CREATE, CREATE2, SET_DATA), (DELETE, SET_DATA, CHECK)
_int, _flag = struct.Struct(">i"), struct.Struct(">?")
_OPENED = struct.Struct(">iiqi")


class ZooKeeperLink(Proxy):
    """A proxy between one process and ZooKeeper; `session` is the id and the password of the last session opened.

    A request says its `operation` and its `path`, the `data` that it writes (text) and the `version` that it expects;
    a multi its `operations`. An answer says what its request does, and its `error` (0: none). A notification, which a
    watch has waited for, says its `event` and `path`. Of a multi that fails an answer says which operation has
    `failed`. A ping passes what is held.
    """

    session: tuple[int, bytes] | None = None

    def lose(self, applied: bool, path: str = ".*") -> Rule:
        """Lose the next write to a path (a regular expression): where it is `applied` its answer, else the request."""
        part = ANSWER if applied else REQUEST
        return self.add(Rule(DROP, {"part": part, "operation": WRITES, "path": path}))

    def number(self, data: bytes, part: str) -> int | None:
        """The xid."""
        return _int.unpack_from(data, LENGTH)[0]

    def part(self, data: bytes, is_answer: bool) -> str:
        """Which part of the conversation a frame is."""
        if not is_answer:
            return REQUEST
        return NOTIFICATION if _int.unpack_from(data, LENGTH)[0] == _NOTICED else ANSWER

    def overtakes(self, data: bytes) -> bool:
        """Whether it is a ping, or its answer."""
        return _int.unpack_from(data, LENGTH)[0] == _PING

    def hear(self, connection: Connection, data: bytes, part: str) -> None:
        """Note that a session is asked for, by the first request, and learn it from the first answer."""
        if part == REQUEST:
            connection.about.setdefault("opens", data)
        elif "session" not in connection.about:
            _, timeout, session, length = _OPENED.unpack_from(data, LENGTH)
            connection.about["session"] = session
            if timeout > 0:
                start = LENGTH + _OPENED.size
                self.session = session, data[start : start + length]

    def read(self, connection: Connection, data: bytes, part: str) -> dict[str, object]:
        """What a frame says; nothing of those that open a session."""
        session = connection.about.get("session")
        if session is None or connection.about["opens"] is data:
            return {}
        said: dict[str, object] = {"session": hex(session & (1 << 64) - 1)}
        if part == NOTIFICATION:
            kind = _int.unpack_from(data, LENGTH + 16)[0]
            return said | {"event": EVENTS.get(kind, str(kind)), "path": read_string(data, LENGTH + 24)[0]}
        if part == ANSWER:
            request = connection.requests.get(self.number(data, part))
            asked = said_by(request) if request else {}
            return said | asked | _outcome(data, asked.get("operation") == MULTI)
        return said | said_by(data)


def _outcome(answer: bytes, is_multi: bool) -> dict[str, int]:
    """The error that an answer tells, 0 for none, and of a multi which operation it is of."""
    error, offset = _int.unpack_from(answer, LENGTH + 12)[0], LENGTH + 16
    if not is_multi or error or offset == len(answer) or _int.unpack_from(answer, offset)[0] != _FAILED:
        return {"error": error}
    errors = []
    while not _flag.unpack_from(answer, offset + 4)[0]:
        errors.append(_int.unpack_from(answer, offset + 9)[0])
        offset += 13
    first = next((place for place, each in enumerate(errors) if each not in (0, _OTHERS_FAILED)), 0)
    return {"error": errors[first], "failed": first}


def said_by(request: bytes) -> dict[str, object]:
    """What a request says, but for those that open a session."""
    operation = OPERATIONS.get(_int.unpack_from(request, LENGTH + 4)[0], "unknown")
    if operation != MULTI:
        return _operation(operation, request, LENGTH + 8)[0]
    found, offset = [], LENGTH + 8
    while not _flag.unpack_from(request, offset + 4)[0]:
        kind = OPERATIONS.get(_int.unpack_from(request, offset)[0], "unknown")
        each, offset = _operation(kind, request, offset + 9)
        found.append(each)
    return {"operation": MULTI, "operations": found}


def _operation(name: str, content: bytes, offset: int) -> tuple[dict[str, object], int]:
    """What an operation says, and where it ends."""
    said: dict[str, object] = {"operation": name}
    if name in ("ping", "closeSession", "auth", "setWatches", "setWatches2", "reconfig", "unknown", "multiRead"):
        return said, offset
    said["path"], offset = read_string(content, offset)
    if name in _WITH_DATA:
        data, offset = read_buffer(content, offset)
        said["data"] = (data or b"").decode(errors="replace")
    if name in (CREATE, CREATE2):
        offset = _after_acl(content, offset) + 4
    if name in _WITH_VERSION:
        said["version"] = _int.unpack_from(content, offset)[0]
        offset += 4
    return said, offset


def _after_acl(content: bytes, offset: int) -> int:
    """Where a list of ACLs ends."""
    count, offset = _int.unpack_from(content, offset)[0], offset + 4
    for _ in range(max(count, 0)):
        offset = read_string(content, read_string(content, offset + 4)[1])[1]
    return offset
