"""What happened in each recording, as its README tells it, is found by replay."""

import re
from ast import literal_eval
from pathlib import Path

import pytest

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.registrations import CLOSED, ENDED, EXPIRED, Registrations
from kafkaproof.traces.explain.facts.expectations import UNEXPECTED
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Transaction
from tests.traces.readmes import rows, section
from tests.traces.replaying import FIVE_FENCED, FIVE_LEGACY, all_of


def zxid_in(cell: str) -> int | None:
    """The zxid with which a cell begins."""
    found = re.match(r"0x(\w+)", cell)
    return int(found[1], 16) if found else None


def name_of(directory: Path) -> str:
    return "/".join(directory.parts[-2:])


def test_lives_of_brokers(recording_directory):
    told = [
        (int(broker), zxid_in(zxid), int(session, 16), *end.split()[:2])
        for broker, zxid, _, session, end in rows(recording_directory, "Broker registrations")
    ]
    found = [
        (each.broker, each.zxid, each.session, each.how.removeprefix("session ").split()[0], hex(each.ended))
        for each in all_of(recording_directory).facts.registrations
    ]
    assert found == told and len(told) >= 5


def test_unclean_elections(recording_directory):
    told = rows(recording_directory, "Unclean elections")
    found = all_of(recording_directory).facts.unclean
    assert int(re.search(r"stored\): (\d+)", section(recording_directory, "Unclean elections"))[1]) == len(found)
    assert [
        (
            f"{change.zxid:#x}",
            f"{change.topic}-{change.number}",
            *map(state, (change.before, change.after)),
            f"{change.before.leader_epoch} -> {change.after.leader_epoch}",
            f"broker {change.broker}",
        )
        for change in found
    ] == [(zxid, *cells) for zxid, _, *cells in told]


def state(of) -> str:
    return f"{of.leader} {list(of.isr)}"


def test_times_without_a_leader(recording_directory):
    facts, told = all_of(recording_directory).facts, section(recording_directory, "Leader -1")
    written, others, kept = map(int, re.search(r"Written (\d+) .* these, (\d+) .*, (\d+) with the old", told).groups())
    assert facts.written == (written, kept) and written == others + kept
    found = [
        ("{}-{}".format(*each.partition), each.zxid, each.ended, str(list(each.isr)), back(each)) for each in facts.long
    ]
    assert found == [
        (partition, zxid_in(begin), zxid_in(end), isr, how)
        for partition, begin, end, isr, how in rows(recording_directory, "Leader -1")
    ]


def back(each) -> str:
    if each.leader is None:
        return "-"
    return f"leader {each.leader} ISR [{each.leader}]" + (" (unclean)" if each.unclean else "")


def test_topics(recording_directory):
    history = all_of(recording_directory).streams
    told = rows(recording_directory, "Topics")
    created = [(topic, zxid_in(begin)) for topic, begin, *_ in told if begin]
    assert sorted((each.topic, each.zxid) for each in history.made if each.first == 0) == sorted(created)
    deleted = [(topic, *map(zxid_in, cells)) for topic, _, *cells in told if cells[0]]
    assert sorted((each.topic, each.zxid, each.gone, each.ended) for each in history.deletions) == sorted(
        deleted, key=lambda row: row[:2]
    )
    added = re.findall(r"(\w+) at (0x\w+): (\{.*\})", section(recording_directory, "Topics"))
    found = [
        (each.topic, hex(each.zxid), {n: list(a.replicas) for n, a in each.partitions.items()})
        for each in history.made
        if each.first
    ]
    assert found == [(topic, zxid, literal_eval(text)) for topic, zxid, text in added]


def test_requests_and_assignments(recording_directory):
    told = re.findall(
        r"^- (0x\w+) [\d:.]+ (\S+ ?\d?) (admin znode \w+|/brokers/topics/\S+:)",
        section(recording_directory, "Reassignment and other /admin requests"),
        re.MULTILINE,
    )
    found = {judged.write.zxid: judged.kind for judged in all_of(recording_directory).streams.writes}
    kinds = {
        "admin znode created": ("reassignments requested", "preferred elections requested"),
        "admin znode set": ("request list written",),
        "admin znode deleted": ("request list written", "preferred elections dealt with"),
    }
    for zxid, _, what in told:
        assert found[int(zxid, 16)] in kinds.get(what, ("assignment written", "target written"))
    requests = [zxid for zxid, kind in found.items() if kind in kinds["admin znode created"]]
    assert requests == [int(zxid, 16) for zxid, _, what in told if what == "admin znode created"]


def test_what_one_might_expect_of_states(recording_directory):
    told = re.findall(
        r"^- (.*): (always|broken (\d+) times, (0x\w+))",
        section(recording_directory, "Partition state writes"),
        re.MULTILINE,
    )
    assert [text for text, *_ in told] == list(UNEXPECTED)
    broken = [(text, int(count), first) for text, _, count, first in told if count]
    facts = all_of(recording_directory).facts
    assert [(each.text, each.count, hex(each.zxid)) for each in facts.broken] == broken


STORIES = {
    "3.9.1/steady": {
        "register -> NODEEXISTS": [0x82, 0xB6],
        "register -> OK": [0x3B, 0x81, 0xB5],
        "write_leader: preferred": list(range(0x109, 0x110)),
        "write_leader: offline": [],
    },
    "3.9.1/controller-failover": {
        "register -> NODEEXISTS": [0x81, 0xAA, 0xF8, 0xFF, 0x17A],
        "delete_controller": [0xF6],
        "register -> OK": [0x2C, 0x5A, 0x80, 0xA9, 0xAC, 0xF7, 0xFE, 0x179],
    },
    "3.9.1/reassign": {
        "ask_for_reassignment": [0xF2],
        "ask_for_preferred": [0x161],
        "delete_request": [0xF9, 0xFE, 0x166],
        "delete_controller": [0xA2],
    },
    "3.9.1/topic-deletion": {
        "ask_for_deletion": [0x71, 0x9C, 0xDF, 0x141, 0x179],
        "ask_for_unknown_deletion": [0x177],
        "delete_leftovers": [0x178],
        "write_partitions": [0xC8],
        "delete_topic": [0x82, 0xC5, 0x13E, 0x174, 0x190],
    },
    "3.9.1/groups": {"register -> OK": [0x2B], "ask_for_deletion": [0xAB], "delete_marker": [0xBE]},
    "1.1.1/controller-failover": {
        "create -> OK": [0x1A, 0x63, 0x8A, 0xAC, 0xB4, 0xED, 0x103, 0x173],
        "found_epoch -> OK": [0x1C],
        "delete_controller": [0xEC],
    },
    "1.1.1/isr-and-unclean": {
        "ask_for_preferred": [0x87],
        "delete_request": [0x88],
        "write_leader: preferred": [],
        "delete_controller": [0x8F, 0xEE],
        "refused: BADVERSION": [0x138, 0x139],
    },
    "1.1.1/topic-deletion": {
        "delete_topic": [0x8E, 0xDD, 0x15B, 0x190, 0x1B1],
        "delete_leftovers": [0x194],
        "write_partitions": [0xE1],
        "raise_epoch -> OK": [0x110, 0x167],
        "ask_for_deletion": [0x7C, 0xAB, 0xFA, 0x15E, 0x196],
        "ask_for_unknown_deletion": [0x193],
    },
}
"""What the text at the top of each README tells, by zxid."""


def test_the_story_of_each_recording(recording_directory):
    audit = all_of(recording_directory).audit
    story = STORIES.get(name_of(recording_directory), {})
    assert {what: audit.of(what) for what in story} == story


def test_zombies_of_3_9_1(recording_directory):
    if name_of(recording_directory) != "3.9.1/zombie":
        return
    terms = all_of(recording_directory).facts.terms
    assert (len(terms), sum(each.refused for each in terms), sum(each.stale for each in terms)) == (17, 405, 0)
    assert sum(each.unowned for each in terms) == 225
    assert (terms[9].epoch, terms[9].unowned) == (10, 185)
    refused = all_of(recording_directory).audit.of(
        "clean -> FENCED or write_state -> FENCED or write_when_asked -> FENCED"
    )
    assert refused[0] == 0x81


def test_zombies_of_1_1_1(recording_directory):
    if name_of(recording_directory) != "1.1.1/zombie":
        return
    terms = all_of(recording_directory).facts.terms
    assert (len(terms), sum(each.refused for each in terms)) == (17, 0)
    assert sum(each.stale for each in terms) > 900


def test_leaders_are_lost_and_elected_in_two_writes_in_3_9_1_and_in_one_in_1_1_1(recording_directory):
    changes = {change.zxid: change for change in all_of(recording_directory).facts.unclean} | {
        each.change.zxid: each.change for each in all_of(recording_directory).streams.partitions
    }
    if name_of(recording_directory) == "3.9.1/controller-failover":
        assert (changes[0x5C].partition, state(changes[0x5C].after)) == (("f1", 3), "-1 [2, 3]")
        assert (changes[0x63].partition, changes[0x63].after.leader) == (("f1", 3), 2)
        assert (changes[0x120].partition, changes[0x120].after.isr) == (("f3", 4), (1, 3))
    if name_of(recording_directory) == "1.1.1/controller-failover":
        assert [changes[zxid].before.leader for zxid in (0x65, 0x66, 0x67)] == [1, 1, 1]
        assert NOBODY not in [changes[zxid].after.leader for zxid in (0x65, 0x66, 0x67)]


def test_no_broker_was_lost_where_each_was_stopped(recording_directory):
    if name_of(recording_directory) == "3.9.1/steady":
        found = all_of(recording_directory).streams.partitions
        assert {each.explanations[0].trigger for each in found if each.explanations[0].strategy != "new_topic"} == {
            "controlled shutdown",
            "AlterPartition",
            "preferred election by request or timer",
        }


def test_five_brokers():
    """The bundled recordings whose story is told nowhere else: what they must show to be worth bundling."""
    for directory, terms, lives in ((FIVE_FENCED, 15, 16), (FIVE_LEGACY, 18, 17)):
        facts = all_of(directory).facts
        assert (len(facts.terms), len({each.broker for each in facts.registrations})) == (terms, 5)
        assert len(facts.registrations) >= lives
        assert any(each.how == "session expired" for each in facts.registrations)
    assert all_of(FIVE_LEGACY).result.violations.found["C4"].count == 2
    assert sum(each.refused for each in all_of(FIVE_FENCED).facts.terms) == 1


@pytest.mark.parametrize("cxid, how", [(0, EXPIRED), (1, ENDED), (9, ENDED), (10, CLOSED)])
def test_a_session_that_another_client_ends_was_not_closed_by_its_broker(cxid, how):
    """A client numbers its requests; one that takes over a session begins anew."""
    found = Registrations("", {})
    found.add(Transaction(1, 7, 9, 0, (Create("/brokers/ids/1", b"{}", True, -1),), False))
    found.add(Transaction(2, 7, cxid, 0, (CloseSession(()),), False))
    assert [each.how for each in found.all] == [how]
