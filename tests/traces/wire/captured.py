"""Captures of a conversation, written by dpkt: any link, segments as one likes."""

import socket

import dpkt

CLIENT, SERVER = ("127.0.0.2", 40_000), ("127.0.0.1", 9092)
SYN, ACK = dpkt.tcp.TH_SYN, dpkt.tcp.TH_ACK


def packet(source, target, number, data=b"", flags=ACK, version=4):
    """An IP packet with a TCP segment."""
    tcp = dpkt.tcp.TCP(sport=source[1], dport=target[1], seq=number, flags=flags, data=data)
    if version == 6:
        found = dpkt.ip6.IP6(src=bytes(15) + b"\1", dst=bytes(15) + b"\1", nxt=dpkt.ip.IP_PROTO_TCP, data=tcp)
        found.plen = len(tcp)
        return found
    found = dpkt.ip.IP(
        src=socket.inet_aton(source[0]), dst=socket.inet_aton(target[0]), p=dpkt.ip.IP_PROTO_TCP, data=tcp
    )
    found.len = len(found)
    return found


def opening(source=CLIENT, target=SERVER, version=4):
    """The packets that open a connection; data begin with 1001 from the client, and 5001 from the server."""
    yield packet(source, target, 1000, flags=SYN, version=version)
    yield packet(target, source, 5000, flags=SYN | ACK, version=version)


LINKS = {
    1: lambda ip: dpkt.ethernet.Ethernet(type=0x86DD if isinstance(ip, dpkt.ip6.IP6) else 0x0800, data=ip),
    0: lambda ip: dpkt.loopback.Loopback(family=2, data=ip),
    113: lambda ip: dpkt.sll.SLL(ethtype=0x0800, data=ip),
    276: lambda ip: dpkt.sll2.SLL2(ethtype=0x0800, data=ip),
    101: lambda ip: ip,
}


def write(file, packets, link=1, snap=None):
    """Write packets, a tenth of a second apart, to a .pcap file, or a .pcapng file by its name."""
    if file.suffix == ".pcapng":
        idb = dpkt.pcapng.InterfaceDescriptionBlockLE(linktype=link)
        with open(file, "wb") as out:
            writer = dpkt.pcapng.Writer(out, idb=idb)
            for n, each in enumerate(packets):
                writer.writepkt(bytes(LINKS[link](each)), ts=100 + n / 10)
        return
    with open(file, "wb") as out:
        writer = dpkt.pcap.Writer(out, linktype=link)
        for n, each in enumerate(packets):
            writer.writepkt(bytes(LINKS[link](each))[:snap], ts=100 + n / 10)
