"""Every record of a recording is accounted for, and an independent reading of it agrees."""

import re
from collections import Counter
from pathlib import Path

import pytest

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election.model import MODELS as ELECTION
from kafkaproof.traces.evidence import accounts
from kafkaproof.traces.evidence.accounts import KINDS, is_listed
from kafkaproof.traces.zookeeper.transactions import Create, Delete
from tests.traces.log_writer import write_log
from tests.traces.readmes import records
from tests.traces.replaying import (
    BUNDLED,
    FENCED,
    FIVE_FENCED,
    FIVE_LEGACY,
    LEGACY,
    REASSIGN,
    all_of,
    altered,
    first,
    read,
    run_json,
    told,
)

STEPS = {
    "1.1.1/controller-failover": 278,
    "1.1.1/isr-and-unclean": 140,
    "1.1.1/topic-deletion": 270,
    "1.1.1/zombie": 3336,
    "3.9.1/controller-failover": 275,
    "3.9.1/groups": 123,
    "3.9.1/isr-and-unclean": 145,
    "3.9.1/reassign": 187,
    "3.9.1/steady": 182,
    "3.9.1/topic-deletion": 266,
    "3.9.1/zombie": 3263,
}
"""How many records of each recording are steps of the specification."""
BUNDLED_STEPS = {LEGACY: 3336, FENCED: 275, REASSIGN: 187, FIVE_FENCED: 1253, FIVE_LEGACY: 1082}
NAMES = {
    system: {t.function.__name__ for model in models for t in model.transitions}
    for system, models in (
        ("election", ELECTION),
        ("partition", find("partition")),
        ("topics", find("topics")),
        ("consumer", find("consumer")),
    )
}


def check(directory: Path, steps: int) -> None:
    """Each record is accounted for once, by a transition that there is or by a kind that is listed."""
    found, transactions = all_of(directory).audit, read(directory).transactions
    assert sorted(found.accounts) == [t.zxid for t in transactions]
    assert (found.records, found.unexplained, found.not_followed) == (len(transactions), [], 0)
    assert (found.steps, found.listed) == (steps, len(transactions) - steps)
    for account in set(found.accounts.different):
        if account.system is None:
            assert is_listed(account.name)
        else:
            alternatives = account.name.partition(":")[0].split(" or ")
            assert {each.partition(" ")[0] for each in alternatives} <= NAMES[account.system], account


def test_every_record_of_every_recording(recording_directory):
    check(recording_directory, STEPS["/".join(recording_directory.parts[-2:])])


@pytest.mark.parametrize("directory", BUNDLED_STEPS, ids=lambda directory: directory.name)
def test_every_record_of_the_bundled_recordings(directory):
    check(directory, BUNDLED_STEPS[directory])


EXPECTED = (
    (r"error (\w+)", lambda found: f"refused: {found[1].upper()}"),
    (r"create /config/\w+/.+|setData /config/.+", "configuration"),
    (r"multi\[check /controller; .*", "configuration"),
    (r"setData /latest_producer_id_block", "blocks of producer ids"),
    (
        r"create /(consumers|cluster.*|feature|config\S*|admin\S*|brokers|\w+_notification|latest_producer_id_block"
        r"|brokers/(ids|topics|seqid))",
        "persistent znodes at start",
    ),
    (
        r"(multi\[check /controller_epoch; )?create /brokers/topics/[^/]+/partitions(/\d+)?[;\]]?.*(?<!state\])(?<!state)",
        "znodes of partitions, before their first states",
    ),
    (r"\w+Session", "sessions that never were a broker's"),
)
"""What records are that no transition makes, by the forms of an independent decode; all others are steps."""
EXPLICIT, TOPIC = "topics and partitions with an explicit assignment", r"(create|setData) /brokers/topics/[^/]+"
NOT_LISTED = r"create /admin/(delete_topics/.+|preferred_replica_election|reassign_partitions)"


def form(record: dict) -> str:
    parts = [f"{op['type']} {op.get('path', op.get('err', ''))}".strip() for op in record.get("ops", [record])]
    return f"multi[{'; '.join(parts)}]" if "ops" in record else parts[0]


def kind_of(record: dict, brokers: set[str]) -> str | None:
    """The kind of a record, None for a step."""
    text = form(record)
    if re.fullmatch(NOT_LISTED, text) or record["sid"] in brokers and re.fullmatch(r"\w+Session", text):
        return None
    for pattern, kind in EXPECTED:
        if found := re.fullmatch(pattern, text):
            return kind if isinstance(kind, str) else kind(found)
    return None


def test_an_independent_reading_agrees(recording_directory):
    lines, found = records(recording_directory), all_of(recording_directory).audit.accounts
    brokers = {
        line["sid"]
        for line in lines
        for op in line.get("ops", [line])
        if re.match("/(brokers/ids/|controller$)", op.get("path", "")) and op["type"] == "create"
    }
    for line in lines:
        account = found[int(line["zxid"], 16)]
        ours = None if account.system else account.name.removeprefix(accounts.TOOLS)
        if ours == EXPLICIT:
            assert re.fullmatch(TOPIC, form(line))
            continue
        assert ours == kind_of(line, brokers), (line["zxid"], form(line))
    states = [line for line in lines if "state" in form(line) and "error" not in form(line)]
    systems = Counter(found[int(line["zxid"], 16)].system for line in states)
    assert systems.keys() <= {"partition", "topics"} and systems.total() == len(states)


def test_a_divergence_is_unexplained_and_what_comes_after_it_not_followed():
    recording = altered(first(FENCED, 0x130), 0xF6, lambda t: None)
    found = told(recording, "fenced").audit
    assert found.unexplained == [0xF7]
    assert found.not_followed == 0x130 - 0xF7
    assert len(found.accounts) + 1 + found.not_followed == found.records == 0x12F


def test_a_record_of_no_listed_kind_leaves_it_undecided(capsys, monkeypatch):
    monkeypatch.setattr(accounts, "KINDS", {kind: why for kind, why in KINDS.items() if kind != "configuration"})
    code, found = run_json(capsys, FENCED)
    assert (code, found["verdict"], found["audit"]["unexplained"]) == (3, "undecided", 6)
    assert found["reason"] == "6 records are no step of the specification, and of no listed kind: the first is 0x3f"


def test_what_is_withdrawn_by_hand_is_told(tmp_path):
    before = first(FENCED, 0x58)
    path = "/admin/delete_topics/f1"
    session = before[0].session
    more = [dict(zxid=0x59, operations=(Create(path, b"", False, 1),)), dict(zxid=0x5A, operations=(Delete(path),))]
    transactions = [*before, *(type(before[0])(session=session, cxid=0, time=before[-1].time, **each) for each in more)]
    write_log(tmp_path / "log.1", transactions)
    found = told(read(tmp_path), "fenced").audit
    assert (found.accounts[0x59], found.accounts[0x5A]) == (
        ("partition", "ask_for_deletion"),
        (None, "requests withdrawn by hand"),
    )


def test_the_report_prints_it(capsys, kafkaproof):
    text = " ".join(kafkaproof("replay", FENCED).out.split())
    assert "471 of 471 records accounted for: 275 steps of the specification, 196 of 6 listed kinds; none left" in text
    code, found = run_json(capsys, FENCED)
    rows = found["audit"].pop("by")
    assert found["audit"] == {"records": 471, "steps": 275, "listed": 196, "unexplained": 0, "not_followed": 0}
    assert sum(row["count"] for row in rows) == 471
    assert {"system": "election", "what": "register -> OK", "count": 8, "first": "0x2c"} in rows
    assert {"system": None, "what": "refused: NONODE", "count": 4, "first": "0x5"} in rows


def test_the_page_lists_the_kinds():
    page = (BUNDLED.parents[1] / "docs" / "replay-judging.md").read_text(encoding="utf-8")
    listed = page.partition("## Records that are no step")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", listed, re.MULTILINE)
    assert dict(rows[1:]) == KINDS
