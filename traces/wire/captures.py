"""Packet captures, as tcpdump writes them: the TCP segments of a .pcap or .pcapng file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dpkt
from dpkt.ip import IP
from dpkt.ip6 import IP6
from dpkt.tcp import TCP
from dpkt.utils import inet_to_str

from kafkaproof.checker.basics.errors import UserError

End = tuple[str, int]
"""One end of a connection: address and port."""
MAGICS = {
    b"\xa1\xb2\xc3\xd4": ".pcap",
    b"\xd4\xc3\xb2\xa1": ".pcap",
    b"\xa1\xb2\x3c\x4d": ".pcap",
    b"\x4d\x3c\xb2\xa1": ".pcap",
    b"\x0a\x0d\x0d\x0a": ".pcapng",
}
"""The first bytes of captures."""
_LINKS: dict[int, type] = {
    0: dpkt.loopback.Loopback,
    1: dpkt.ethernet.Ethernet,
    108: dpkt.loopback.Loopback,
    113: dpkt.sll.SLL,
    276: dpkt.sll2.SLL2,
}
_BARE = (12, 14, 101, 228, 229)
"""The kinds of links whose packets begin with the IP header."""


class Segment(NamedTuple):
    """A TCP segment that was captured: when, from where, to where, its number, its data, and its flags.

    `missing`: how many of its bytes the capture lacks (a snap length).
    """

    time: float
    source: End
    target: End
    number: int
    data: bytes
    opens: bool
    ends: bool
    answers: bool
    missing: int


class Capture:
    """A file of packets; `problems` tells in lines what could not be read. Raises UserError where it is no capture."""

    def __init__(self, file: Path):
        self.file = file
        self.problems: list[str] = []

    def segments(self) -> Iterator[Segment]:
        """The TCP segments in the order of the file."""
        unread = fragments = 0
        try:
            with open(self.file, "rb") as source:
                reader = self._reader(source)
                read = self._link(reader.datalink())
                for time, data in self._packets(reader):
                    try:
                        packet = read(data)
                    except (dpkt.UnpackError, ValueError, IndexError):
                        unread += 1
                        continue
                    if isinstance(packet, IP) and (packet.mf or packet.offset):
                        fragments += 1
                    elif isinstance(packet, (IP, IP6)) and isinstance(packet.data, TCP):
                        yield _segment(float(time), packet, packet.data)
        except OSError as error:
            raise UserError(f"--wire {self.file}: cannot be read: {error.strerror}") from None
        if unread:
            self.problems.append(f"{self.file}: {unread:,} packets cannot be read")
        if fragments:
            self.problems.append(f"{self.file}: {fragments:,} fragments of IP packets are left out")

    def _reader(self, source) -> Any:
        try:
            return dpkt.pcap.UniversalReader(source)
        except (ValueError, dpkt.Error):
            raise UserError(f"--wire {self.file}: a damaged capture: its head cannot be read") from None

    def _link(self, kind: int):
        """What reads a packet of a kind of link."""
        if kind in _BARE:
            return lambda data: (IP6 if data[0] >> 4 == 6 else IP)(data)
        if kind not in _LINKS:
            raise UserError(
                f"--wire {self.file}: link type {kind} is not read; capture Ethernet, loopback or -i any, as tcpdump does"
            )
        return lambda data: _inner(_LINKS[kind](data))

    def _packets(self, reader) -> Iterator[tuple[float, bytes]]:
        try:
            yield from reader
        except (dpkt.Error, ValueError, IndexError):
            self.problems.append(f"{self.file}: the last packet was not written whole, and is left out")


def _inner(packet) -> Any:
    """What is in a packet of a link."""
    return packet.data


def _segment(time: float, packet: IP | IP6, tcp: TCP) -> Segment:
    whole = _size(packet) - tcp.off * 4
    data = bytes(tcp.data)[: max(whole, 0)] if whole >= 0 else bytes(tcp.data)
    source, target = (inet_to_str(packet.src), tcp.sport), (inet_to_str(packet.dst), tcp.dport)
    opens, ends = bool(tcp.flags & dpkt.tcp.TH_SYN), bool(tcp.flags & (dpkt.tcp.TH_FIN | dpkt.tcp.TH_RST))
    missing = max(whole - len(data), 0)
    return Segment(time, source, target, tcp.seq, data, opens, ends, bool(tcp.flags & dpkt.tcp.TH_ACK), missing)


def _size(packet: IP | IP6) -> int:
    """How long the TCP part is by the head of its packet; where the sender left that to its card, as it is."""
    if isinstance(packet, IP):
        return packet.len - packet.hl * 4 if packet.len else len(packet.data)
    return packet.plen - sum(len(each) for each in packet.extension_hdrs.values()) if packet.plen else len(packet.data)
