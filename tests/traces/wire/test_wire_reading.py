"""Record files of proxies and packet captures are read alike; what is missing or no Kafka is told in one line."""

import gzip
import shutil

import pytest
from captured import CLIENT, LINKS, SERVER, opening, packet, write

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.spec.protocol.contents import heads_of
from kafkaproof.spec.protocol.passed import ANSWER, DROPPED, PASSED, REQUEST, Recorder
from kafkaproof.traces.wire.listeners import Listeners, endpoints_in
from kafkaproof.traces.wire.reading import read_wire
from tests.frames import CONTROLLED_SHUTDOWN, LEADER_AND_ISR, answer, request

AT_9092 = Listeners([(7, "127.0.0.1", 9092)])
FIRST, SECOND = (request(LEADER_AND_ISR, 4, n, "3", controller_id=3, controller_epoch=n) for n in (1, 2))
TOLD = [answer(LEADER_AND_ISR, 4, n) for n in (1, 2)]


def talk(asked=FIRST + SECOND, told=TOLD[0] + TOLD[1], version=4, **ends):
    return [
        *opening(version=version, **ends),
        packet(CLIENT, SERVER, 1001, asked, version=version),
        packet(SERVER, CLIENT, 5001, told, version=version),
    ]


def read(tmp_path, packets, name="a.pcap", listeners=AT_9092, **options):
    write(tmp_path / name, packets, **options)
    return read_wire([tmp_path], listeners)


def epochs(wire):
    return [each.asked["controller_epoch"] for each in wire.exchanges]


@pytest.mark.parametrize("name", ["a.pcap", "a.pcapng"])
@pytest.mark.parametrize("link", LINKS)
def test_a_capture_of_any_link_is_read(tmp_path, link, name):
    wire = read(tmp_path, talk(), name, link=link)
    assert [(e.api, e.version, e.broker, e.sender, e.answered > e.time) for e in wire.exchanges] == [
        ("LeaderAndIsr", 4, 7, 3, True)
    ] * 2
    assert epochs(wire) == [1, 2] and not wire.problems
    assert wire.exchanges[0].told["error_code"] == 0


def test_a_capture_of_ipv6_is_read(tmp_path):
    assert epochs(read(tmp_path, talk(version=6))) == [1, 2]


def test_segments_that_come_late_twice_or_in_pieces_are_put_together(tmp_path):
    both = FIRST + SECOND
    pieces = [packet(CLIENT, SERVER, 1001 + start, both[start : start + 20]) for start in range(0, len(both), 20)]
    wire = read(tmp_path, [*opening(), *reversed(pieces[1:]), *pieces[:3], *pieces])
    assert epochs(wire) == [1, 2] and not wire.problems


def test_a_lost_segment_is_told_and_what_follows_is_read(tmp_path):
    half = len(FIRST) // 2
    start = 1001 + len(FIRST)
    wire = read(
        tmp_path, [*opening(), packet(CLIENT, SERVER, 1001, FIRST[:half]), packet(CLIENT, SERVER, start, SECOND)]
    )
    assert epochs(wire) == [2]
    assert wire.problems == [
        f"{tmp_path}/a.pcap: {len(FIRST) - half} bytes are missing on 127.0.0.2:40000 to 127.0.0.1:9092; "
        "frames in them are not judged"
    ]


def test_a_capture_that_begins_in_the_middle_is_read_from_the_next_frame_on(tmp_path):
    wire = read(tmp_path, [packet(CLIENT, SERVER, 1001, FIRST[9:]), packet(CLIENT, SERVER, 992 + len(FIRST), SECOND)])
    assert epochs(wire) == [2] and "bytes are missing" in wire.problems[0]


def test_a_packet_that_is_cut_short_is_missing(tmp_path):
    long = request(LEADER_AND_ISR, 4, 1, "3" * 200, controller_id=3)
    start = 1001 + len(long)
    packets = [*opening(), packet(CLIENT, SERVER, 1001, long), packet(CLIENT, SERVER, start, SECOND)]
    wire = read(tmp_path, packets, snap=54 + len(SECOND))
    assert epochs(wire) == [2] and f"{len(long) - len(SECOND)} bytes are missing" in wire.problems[0]


def test_a_connection_that_takes_the_ports_of_another_is_another(tmp_path):
    wire = read(tmp_path, [*talk(FIRST, TOLD[0]), *talk(SECOND, TOLD[1])])
    assert epochs(wire) == [1, 2] and [each.connection for each in wire.exchanges] == [1, 2]


def test_brokers_with_one_port_are_told_by_their_addresses_and_by_who_sends_from_there(tmp_path):
    packets = talk()
    named = Listeners([(7, "127.0.0.1", 9092), (8, "10.0.0.8", 9092)])
    assert {each.broker for each in read(tmp_path, packets, listeners=named).exchanges} == {7}
    unnamed = Listeners([(7, "kafka-7", 9092), (3, "kafka-3", 9092)])
    assert {each.broker for each in read(tmp_path, packets, listeners=unnamed).exchanges} == {None}
    back = [
        packet(SERVER, (CLIENT[0], 9092), 1000, flags=2),
        packet(SERVER, (CLIENT[0], 9092), 1001, request(CONTROLLED_SHUTDOWN, 3, 1, "7")),
    ]
    wire = read(tmp_path, [*packets, *back], listeners=unnamed)
    assert [each.broker for each in wire.exchanges] == [7, 7, 3]


def test_a_listener_that_nobody_registered_is_told(tmp_path):
    wire = read(tmp_path, talk(), listeners=Listeners())
    assert "no registration in ZooKeeper's log tells whose listener this is: 127.0.0.1:9092" in wire.problems[0]


def test_registrations_name_their_endpoints():
    data = b'{"endpoints": ["PLAINTEXT://a.b:9092", "IN://[::1]:9093"], "host": "a.b", "port": 9092}'
    assert endpoints_in(data) == {("a.b", 9092), ("[::1]", 9093)}
    assert endpoints_in(b"no JSON") == set()


def note(file, *frames):
    recorder = Recorder(file)
    for part, became, data in frames:
        recorder.note(1, part, became, data)
    recorder.close()


def test_what_a_proxy_noted_is_read_with_what_it_dropped(tmp_path):
    file = tmp_path / "kafka-5"
    note(file, (REQUEST, PASSED, FIRST), (ANSWER, DROPPED, TOLD[0]), (REQUEST, DROPPED, SECOND))
    (tmp_path / "zookeeper-5").write_bytes(b"not of Kafka")
    wire = read_wire([tmp_path], AT_9092)
    assert [(e.broker, e.is_lost, e.answer_lost) for e in wire.exchanges] == [(5, False, True), (5, True, False)]
    with open(file, "rb") as source, gzip.open(tmp_path / "kafka-6.gz", "wb") as packed:
        shutil.copyfileobj(source, packed)
    assert len(read_wire([tmp_path], AT_9092).exchanges) == 4


def test_an_unknown_version_is_counted(tmp_path):
    frame = bytearray(FIRST)
    frame[7] = 99
    note(tmp_path / "kafka-5", (REQUEST, PASSED, bytes(frame)))
    wire = read_wire([tmp_path], AT_9092)
    assert not wire.readable(wire.exchanges[0]) and wire.unreadable == {("LeaderAndIsr", 99): 1}


@pytest.mark.parametrize(
    "name, content, told",
    [
        ("a.pcap", b"\xd4\xc3\xb2\xa1\0\0", "a damaged capture"),
        ("notes.txt", b"text", "neither a packet capture"),
        ("kafka-1", b"x" * 40, "not a record of what passed a link"),
        ("kafka-1.gz", b"x" * 40, "cannot be read"),
    ],
)
def test_what_is_no_traffic_is_refused_in_a_line(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=told) as refused:
        read_wire([tmp_path / name], AT_9092)
    assert "\n" not in str(refused.value)


def test_encrypted_traffic_is_refused(tmp_path):
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    with pytest.raises(UserError, match=r"no plaintext Kafka in it, in 1 connection; 1 connection encrypted \(TLS\)"):
        read(tmp_path, talk(hello, hello))


def test_a_directory_or_file_that_has_nothing_is_refused(tmp_path):
    for path in tmp_path, tmp_path / "none":
        with pytest.raises(UserError, match="--wire"):
            read_wire([path], AT_9092)


def test_of_records_the_heads_of_batches_are_kept():
    head = (7).to_bytes(8, "big") + (60).to_bytes(4, "big") + (3).to_bytes(4, "big") + b"\2" + b"h" * 44
    batch = head + b"secret 1234"
    assert heads_of(batch * 2) == (head + bytes(11)) * 2
    old = (7).to_bytes(8, "big") + (20).to_bytes(4, "big") + b"crc!" + b"\0\0" + b"secretsecret12"
    assert heads_of(old) == old[:18] + bytes(14)
