"""Records of a ZooKeeper transaction log as bytes, with right checksums, written fast and rolled into files."""

import struct
import zlib
from pathlib import Path

_HEADER = struct.Struct(">Qiqqi")
_RECORD = struct.Struct(">qi")
_INT = struct.Struct(">i")
_OPEN_TO_ALL = _INT.pack(1) + _INT.pack(31) + _INT.pack(5) + b"world" + _INT.pack(6) + b"anyone"
_BEGAN = 1_700_000_000_000


def _buffer(data: bytes) -> bytes:
    return _INT.pack(len(data)) + data


def create(path: str, data: bytes, ephemeral: bool, cversion: int) -> tuple[int, bytes]:
    """A creation: type and body, as all of these."""
    body = _buffer(path.encode()) + _buffer(data) + _OPEN_TO_ALL
    return 1, body + (b"\1" if ephemeral else b"\0") + _INT.pack(cversion)


def set_data(path: str, data: bytes, version: int) -> tuple[int, bytes]:
    """A setData that leads to a version."""
    return 5, _buffer(path.encode()) + _buffer(data) + _INT.pack(version)


def delete(path: str) -> tuple[int, bytes]:
    """A deletion."""
    return 2, _buffer(path.encode())


def check(path: str, version: int) -> tuple[int, bytes]:
    """A check in a multi; the version is the current one + 1."""
    return 13, _buffer(path.encode()) + _INT.pack(version)


def failure(code: int) -> tuple[int, bytes]:
    """A request that was refused."""
    return -1, _INT.pack(code)


def create_session(timeout: int) -> tuple[int, bytes]:
    """A session opens; timeout in ms."""
    return -10, _INT.pack(timeout)


def close_session(paths: list[str]) -> tuple[int, bytes]:
    """A session ends, with the ephemerals that go."""
    return -11, _INT.pack(len(paths)) + b"".join(_buffer(path.encode()) for path in paths)


def multi(*operations: tuple[int, bytes]) -> tuple[int, bytes]:
    """Several operations in one transaction."""
    return 14, _INT.pack(len(operations)) + b"".join(_INT.pack(kind) + _buffer(body) for kind, body in operations)


class LogFiles:
    """The files log.ZXID of a directory, each with so many records at most; zxids and times count up."""

    def __init__(self, directory: Path, records: int):
        self.zxid, self.time = 0, _BEGAN
        self._directory, self._records, self._file = directory / "version-2", records, None

    def __enter__(self) -> "LogFiles":
        self._directory.mkdir(parents=True)
        return self

    def __exit__(self, *error) -> None:
        if self._file:
            self._file.close()

    def pause(self, milliseconds: int) -> None:
        """Time goes on."""
        self.time += milliseconds

    def add(self, session: int, cxid: int, operation: tuple[int, bytes]) -> None:
        """Write the next record, a millisecond later."""
        if self.zxid % self._records == 0:
            self.__exit__()
            self._file = open(self._directory / f"log.{self.zxid + 1:x}", "wb", buffering=1 << 20)
            self._file.write(struct.pack(">4siq", b"ZKLG", 2, 0))
        self.zxid += 1
        self.time += 1
        kind, body = operation
        payload = _HEADER.pack(session, cxid, self.zxid, self.time, kind) + body
        self._file.write(_RECORD.pack(zlib.adler32(payload), len(payload)) + payload + b"B")
