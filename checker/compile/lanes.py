"""Leaves that stand side by side in memory, looked at several at once by a processor's vector instructions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from kafkaproof.checker.compile.text import Value, Writer

MOST = 8
"""So many leaves fill a vector register."""


def _length(count):
    """The leaves in a vector, a power of two, if there are so many."""
    return min(MOST, 1 << count.bit_length() - 1)


def _beginnings(count):
    """Where the vectors of so many leaves begin; the last overlaps the one before where it must."""
    return [min(at, count - _length(count)) for at in range(0, count, _length(count))]


def copy(writer: Writer, to: Value, source: Value, count: int) -> None:
    """Copy the `count` leaves of a record to another."""
    kind = f"<{_length(count)} x i32>"
    for at in _beginnings(count):
        places = [writer.ask(f"getelementptr i32, ptr {record.text}, i64 {at}") for record in (source, to)]
        leaves = writer.ask(f"load {kind}, ptr {places[0]}, align 4")
        writer.do(f"store {kind} {leaves}, ptr {places[1]}, align 4")


@dataclass(frozen=True)
class Lanes:
    """Leaves of a record from the `first` on: their least values, how far above these they may be, and their shifts.

    They are taken in vectors of one length.
    """

    first: int
    lows: tuple[int, ...]
    spans: tuple[int, ...]
    shifts: tuple[int, ...]

    def is_unlike(self, writer: Writer, one: Value, other: Value) -> Value:
        """Not 0 if a leaf differs between two records."""

        def unlike(at):
            mine, others = (self._loaded(writer, record, at) for record in (one, other))
            return writer.ask(f"xor {self._leaves} {mine}, {others}")

        return self._any(writer, unlike)

    def is_outside(self, writer: Writer, record: Value) -> Value:
        """Not 0 if a leaf is out of its range."""

        def beyond(at):
            spans = self._constant(self.spans, at)
            above = f"{self._leaves} {self._above(writer, record, at)}, {self._leaves} {spans}"
            most = writer.ask(f"call {self._leaves} @llvm.umax.v{self._length}i32({above})")
            return writer.ask(f"sub {self._leaves} {most}, {spans}")

        return self._any(writer, beyond)

    def packed(self, writer: Writer, record: Value) -> Value:
        """The word in which the leaves are packed."""
        wide = f"<{self._length} x i64>"

        def shifted(at):
            above = writer.ask(f"zext {self._leaves} {self._above(writer, record, at)} to {wide}")
            return writer.ask(f"shl {wide} {above}, {self._constant(self.shifts, at, 'i64')}")

        together = self._together(writer, shifted, wide)
        return writer.number(f"call i64 @llvm.vector.reduce.or.v{self._length}i64({wide} {together})")

    @property
    def declared(self) -> tuple[str, ...]:
        """What the text of a module must declare."""
        n = self._length
        return (
            f"declare i32 @llvm.vector.reduce.or.v{n}i32(<{n} x i32>)",
            f"declare i64 @llvm.vector.reduce.or.v{n}i64(<{n} x i64>)",
            f"declare <{n} x i32> @llvm.umax.v{n}i32(<{n} x i32>, <{n} x i32>)",
        )

    @property
    def _length(self):
        return _length(len(self.lows))

    @property
    def _leaves(self):
        return f"<{self._length} x i32>"

    def _together(self, writer, vector: Callable[[int], str], kind):
        """The bits of all vectors, in one of them."""
        vectors = [vector(at) for at in _beginnings(len(self.lows))]
        return reduce(lambda one, other: writer.ask(f"or {kind} {one}, {other}"), vectors)

    def _any(self, writer, vector):
        together = self._together(writer, vector, self._leaves)
        any_bits = writer.ask(f"call i32 @llvm.vector.reduce.or.v{self._length}i32({self._leaves} {together})")
        return writer.number(f"zext i32 {any_bits} to i64")

    def _loaded(self, writer, record, at):
        place = writer.ask(f"getelementptr i32, ptr {record.text}, i64 {self.first + at}")
        return writer.ask(f"load {self._leaves}, ptr {place}, align 4")

    def _above(self, writer, record, at):
        """Leaves, each as far as it is above its least value."""
        return writer.ask(f"sub {self._leaves} {self._loaded(writer, record, at)}, {self._constant(self.lows, at)}")

    def _constant(self, numbers, at, kind="i32"):
        return f"<{', '.join(f'{kind} {number}' for number in numbers[at : at + self._length])}>"
