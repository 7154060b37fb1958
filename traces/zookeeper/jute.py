"""Decodes jute, ZooKeeper's serialization format (`org.apache.jute.BinaryInputArchive`): big-endian."""

import struct
from collections.abc import Callable
from functools import lru_cache
from sys import intern
from typing import NoReturn, TypeVar

Element = TypeVar("Element")

_int = struct.Struct(">i").unpack_from
_LONG = struct.Struct(">q")
_UNSIGNED_LONG = struct.Struct(">Q")


class JuteError(ValueError):
    """The bytes are not what the format asks for at this place; the text says what is wrong."""


@lru_cache(maxsize=100_000)
def _text(encoded: bytes) -> str:
    return intern(encoded.decode())


class JuteReader:
    """Takes jute values one after another from bytes; every method raises JuteError where the bytes end too early."""

    __slots__ = ("content", "offset")

    def __init__(self, content: bytes, offset: int = 0):
        self.content = content
        self.offset = offset

    def unpack(self, layout: struct.Struct) -> tuple:
        """Take the fixed-size fields of a layout."""
        start = self.offset
        self._skip(layout.size)
        return layout.unpack_from(self.content, start)

    def integer(self) -> int:
        """Take a signed 32-bit int."""
        start = self.offset
        self.offset = end = start + 4
        if end > len(self.content):
            self._end(4, start)
        return _int(self.content, start)[0]

    def long(self) -> int:
        """Take a signed 64-bit long."""
        return self.unpack(_LONG)[0]

    def unsigned_long(self) -> int:
        """Take a long as a number from 0 to 2**64 - 1 (a session id)."""
        return self.unpack(_UNSIGNED_LONG)[0]

    def boolean(self) -> bool:
        """Take a boolean (one byte)."""
        start = self.offset
        self._skip(1)
        return self.content[start] != 0

    def buffer(self) -> bytes | None:
        """Take a buffer; length -1 is None."""
        content, start = self.content, self.offset + 4
        if start > len(content):
            self._end(4, start - 4)
        length = _int(content, start - 4)[0]
        self.offset = end = start + length
        if length < 0:
            self.offset = start
            if length == -1:
                return None
            raise JuteError(f"negative length {length}")
        if end > len(content):
            self._end(length, start)
        return content[start:end]

    def string(self) -> str:
        """Take a UTF-8 string, the same object each time; a null string is an error, no field read here may be null."""
        encoded = self.buffer()
        if encoded is None:
            raise JuteError("null string")
        try:
            return _text(encoded)
        except UnicodeDecodeError:
            raise JuteError("string that is not UTF-8") from None

    def vector(self, element: Callable[[], Element]) -> tuple[Element, ...] | None:
        """Take a vector, each element taken by `element`; count -1 is None."""
        count = self.integer()
        if count == -1:
            return None
        if count < 0:
            raise JuteError(f"negative count {count}")
        return tuple([element() for _ in range(count)])

    def rest(self) -> bytes:
        """Take all bytes that are left."""
        start, self.offset = self.offset, len(self.content)
        return self.content[start:]

    def _skip(self, size: int) -> None:
        start, self.offset = self.offset, self.offset + size
        if self.offset > len(self.content):
            self._end(size, start)

    def _end(self, size: int, start: int) -> NoReturn:
        self.offset = start
        raise JuteError(f"{size} bytes wanted, {len(self.content) - start} left")
