"""`--redact`: no name of a cluster is left in any output, and nothing else is changed by it."""

import json
import random
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaproof.checker.commands.main import main
from kafkaproof.traces.reading.recording import read_readable, read_recording
from kafkaproof.traces.redaction import Redactor
from kafkaproof.traces.redaction.words import TREE
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode
from kafkaproof.traces.zookeeper.transactions import (
    Acl,
    CloseSession,
    Create,
    CreateSession,
    Reconfig,
    SetAcl,
    SetData,
    Transaction,
)
from tests.traces.log_writer import write_log
from tests.traces.replaying import FENCED, FIVE_LEGACY, LEGACY, REASSIGN, first, run_json
from tests.traces.transaction_strategies import TRANSACTIONS

NAMES = ("topic", "host", "group", "client", "principal", "consumer", "listener", "rack", "chroot", "secret")
TOOL = 0x77


def rich(names: dict[str, str]) -> list[Transaction]:
    """The beginning of a real log, and what else Kafka keeps in ZooKeeper, with names of each sort."""
    n = names
    acl = (Acl(31, "sasl", n["principal"]),)
    broker = {
        "host": n["host"],
        "rack": n["rack"],
        "listener_security_protocol_map": {n["listener"]: "SASL_SSL"},
        "endpoints": [f"{n['listener']}://{n['host']}:9092"],
        "version": 4,
        "timestamp": "17",
    }
    made = [
        ("/config/users/" + n["principal"], {"version": 1, "config": {"SCRAM-SHA-256": "salt=" + n["secret"]}}),
        (
            f"/config/users/{n['principal']}/clients/{n['client']}",
            {"version": 1, "config": {"request_percentage": "5"}},
        ),
        ("/config/clients/" + n["client"], {"version": 1, "config": {}}),
        ("/config/ips/" + n["host"], {"version": 1}),
        ("/config/changes/config_change_0000000001", {"version": 2, "entity_path": "topics/" + n["topic"]}),
        (
            "/config/changes/config_change_0000000002",
            {"version": 1, "entity_type": "users", "entity_name": n["principal"]},
        ),
        ("/consumers/" + n["group"], None),
        (
            f"/consumers/{n['group']}/ids/{n['consumer']}",
            {"subscription": {n["topic"]: 2}, "pattern": "static", "timestamp": "1"},
        ),
        (f"/consumers/{n['group']}/owners/{n['topic']}/0", n["consumer"]),
        (f"/consumers/{n['group']}/offsets/{n['topic']}/0", "17"),
        (
            "/kafka-acl/Topic/" + n["topic"],
            {
                "acls": [
                    {
                        "principal": "User:" + n["principal"],
                        "host": n["host"],
                        "permissionType": "Allow",
                        "operation": "Read",
                    }
                ]
            },
        ),
        ("/kafka-acl-extended/prefixed/Group/" + n["group"], {"version": 1}),
        ("/kafka-acl-changes/acl_changes_0000000001", "Topic:" + n["topic"]),
        ("/kafka-acl-extended-changes/acl_changes_0000000002", {"name": n["topic"], "resourceType": "TOPIC"}),
        ("/delegation_token/tokens/" + n["secret"], {"owner": n["principal"], "renewers": [n["principal"]]}),
        ("/somebody/" + n["secret"], {n["secret"]: {n["secret"]: [n["secret"], 5, None, {"host": 7}]}}),
        ("/delegation_token/" + n["secret"], [n["secret"]]),
        ("/kafka-acl/Topic/__consumer_offsets", "x"),
        ("/config/brokers/9", {"config": {f"listener.name.{n['listener']}.ssl.keystore.password": n["secret"]}}),
        ("/migration", broker),
        ("/zookeeper/config", n["host"]),
        ("/cluster/ids", {"version": "1", "id": n["secret"]}),
        ("/config/topics/__consumer_offsets", {"config": {}}),
    ]
    setting = {"version": 1, "config": {"min.insync.replicas": "2", n["secret"]: n["secret"]}}
    found = [
        Transaction(0, TOOL, 0, 1, (CreateSession(6000),)),
        Transaction(0, TOOL, 5, 2, (SetData("/config/topics/" + n["topic"], as_data(setting), 1),)),
    ]
    found += [
        Transaction(0, TOOL, 5, 2, (Create(p, as_data(d), p.startswith("/somebody"), -1, "create", acl),))
        for p, d in made
    ]
    found += [
        Transaction(0, TOOL, 5, 2, (SetAcl("/consumers/" + n["group"], 1, acl),)),
        Transaction(0, TOOL, 5, 3, (Reconfig("/zookeeper/config", f"server.1={n['host']}:2888".encode(), -1),)),
        Transaction(0, TOOL, 5, 4, (CloseSession(("/somebody/" + n["secret"],)),)),
    ]
    return found


def as_data(value) -> bytes | None:
    return None if value is None else (value if isinstance(value, str) else json.dumps(value)).encode()


def below_chroot(transactions: list[Transaction], chroot: str, topic: str) -> list[Transaction]:
    """The records numbered on, below a chroot, the first topic with another name."""
    found = []
    for zxid, transaction in enumerate(transactions, 1):
        operations = []
        for each in transaction.operations:
            if isinstance(each, CloseSession) and each.paths is not None:
                each = CloseSession(tuple(chroot + path for path in each.paths))
            if hasattr(each, "path"):
                each = replace(each, path=chroot + each.path.replace("/f1", "/" + topic))
            operations.append(each)
        found.append(replace(transaction, zxid=zxid, operations=tuple(operations), trailer=b""))
    return found


def with_parents(transactions: list[Transaction]) -> list[Transaction]:
    """The records, with others that create the parents that are missing."""
    known, found = {""}, []
    for transaction in transactions:
        for path in [each.path for each in transaction.operations if isinstance(each, Create)]:
            for end in [place for place, sign in enumerate(path) if sign == "/" and path[:place] not in known]:
                found.append(Transaction(0, TOOL, 5, transaction.time, (Create(path[:end], b"", False, -1),)))
                known.add(path[:end])
            known.add(path)
        found.append(transaction)
    return found


def cluster(names: dict[str, str]) -> list[Transaction]:
    """A whole log with these names."""
    begun, time = first(FENCED, 0x60), first(FENCED, 1)[0].time
    chroot = "/" + names["chroot"]
    made = Transaction(0, TOOL, 5, time, (Create(chroot, b"", False, -1),))
    tools = [replace(each, time=begun[-1].time + each.time) for each in rich(names)]
    inside = below_chroot(with_parents([*begun, *tools]), chroot, names["topic"])
    return [replace(each, zxid=zxid) for zxid, each in enumerate([inside[0], made, *inside[1:]], 1)]


def outputs(directory, target, capsys, *more) -> tuple[str, dict]:
    """All that `replay --redact` writes: as one text, and the rows of its events."""
    target.mkdir(parents=True)
    options = ["--redact", "--html", target / "r.html", "--history", target / "h.json", *more]
    main(["replay", str(directory), *map(str, options), "--events", str(target / "events")])
    main(["replay", str(directory), "--redact", "--json", *map(str, more)])
    told = capsys.readouterr()
    texts = [told.out, told.err, *(file.read_text() for file in sorted(target.glob("*.*")))]
    rows = [row for file in sorted((target / "events").glob("*.parquet")) for row in pq.read_table(file).to_pylist()]
    raw = [file.read_bytes().decode("latin-1") for file in (target / "events").glob("*.parquet")]
    return "\n".join([*texts, *raw, json.dumps(rows, default=str)]), rows


UNIQUE = {name: f"Qx{place}zebra" for place, name in enumerate(NAMES)}


@pytest.mark.parametrize("more", [(), ("--variant", "legacy")], ids=["conforms", "diverges"])
def test_no_name_is_left_in_any_output(tmp_path, capsys, more):
    write_log(tmp_path / "log.1", cluster(UNIQUE))
    text, rows = outputs(tmp_path, tmp_path / "out", capsys, *more)
    assert len(rows) > 100 and f'"verdict": "{"diverges" if more else "conforms"}"' in text
    for name in UNIQUE.values():
        assert name.lower() not in text.lower(), name
    hosts = {
        each.split('"')[0]
        for t in first(FENCED, 0x60)
        for o in t.operations
        for each in (getattr(o, "data", None) or b"").decode(errors="replace").split('"host":"')[1:]
    }
    assert hosts and not [host for host in hosts if f'"{host}"' in text or f"//{host}:" in text]
    assert "topic-1" in text and "host-1" in text and "/kafka-acl/Topic/__consumer_offsets" in text


def test_a_damaged_log_a_snapshot_and_two_that_differ_tell_no_name(tmp_path):
    names, redacted = UNIQUE, Redactor()
    whole = cluster(names)
    write_log(tmp_path / "log.1", whole)
    log = tmp_path / "log.1"
    log.write_bytes(log.read_bytes()[:-40] + b"\1" + log.read_bytes()[-39:])
    found, error = read_readable(tmp_path, redacted)
    assert error is not None and found.transactions and "zebra" not in f"{error}{found}"
    for folder, last in (
        ("a", whole),
        ("b", [*whole[:-2], replace(whole[-2], time=9, operations=whole[3].operations)]),
    ):
        (tmp_path / "two" / folder / "version-2").mkdir(parents=True)
        write_log(tmp_path / "two" / folder / "version-2" / "log.1", last)
    found, error = read_readable(tmp_path / "two", redacted)
    assert "another record of this zxid" in str(error) and "zebra" not in f"{error}{found}"
    nodes = {
        f"/{names['chroot']}/brokers/topics/{names['topic']}": Znode(b'{"partitions":{"0":[1]},"topic_id":"zebra"}')
    }
    assert "zebra" not in str(redacted.snapshot(Snapshot(1, 1, {}, nodes)))


@pytest.mark.parametrize("directory", [LEGACY, FENCED, REASSIGN, FIVE_LEGACY], ids=lambda directory: directory.name)
def test_everything_but_names_is_as_without_it(directory, capsys):
    plain, redacted = run_json(capsys, directory), run_json(capsys, directory, "--redact")
    assert plain[0] == redacted[0]
    same = (
        "variant",
        "verdict",
        "first_divergence",
        "violations",
        "controllers",
        "records",
        "explained",
        "skipped",
        "audit",
        "fenced",
        "metrics",
        "notifications",
    )
    assert [plain[1][name] for name in same] == [redacted[1][name] for name in same]
    for name in ("topics", "reassignments", "partitions"):
        counts = [
            {key: value for key, value in found[1][name].items() if isinstance(value, int) or key in ("by", "outcomes")}
            for found in (plain, redacted)
        ]
        assert counts[0] == counts[1]
    topics = [[each["topic"] for each in found[1]["topics"]["created"]] for found in (plain, redacted)]
    pairs = set(zip(*topics))
    assert len({new for _, new in pairs}) == len({old for old, _ in pairs}) == len(pairs)
    assert all(new.startswith("topic-") or new == old == "__consumer_offsets" for old, new in pairs)


LETTERS = st.characters(exclude_characters="/\0", exclude_categories=("Cs",))
WORD = st.text(LETTERS, min_size=1, max_size=8).map(lambda word: "q" + word).filter(lambda word: word not in TREE)


@given(st.lists(WORD, min_size=2 * len(NAMES), max_size=2 * len(NAMES), unique=True))
@settings(max_examples=30)
def test_two_clusters_that_differ_in_names_alone_are_told_alike(words):
    """Stronger than that no name is found: what is told depends on none."""
    one, other = (dict(zip(NAMES, part)) for part in (words[: len(NAMES)], words[len(NAMES) :]))
    assert Redactor().transactions(rich(one)) == Redactor().transactions(rich(other))
    found = [Redactor().transactions(below_chroot(rich(names), "/" + names["chroot"], "")) for names in (one, other)]
    assert found[0] == found[1]


@given(st.lists(TRANSACTIONS, max_size=6))
def test_any_record_can_be_rewritten_and_keeps_its_form(transactions):
    redactor = Redactor()
    found = redactor.transactions(transactions)
    assert redactor.transactions(transactions) == found
    for old, new in zip(transactions, found, strict=True):
        assert (old.zxid, old.session, old.time, old.cxid) == (new.zxid, new.session, new.time, new.cxid)
        assert [type(each) for each in old.operations] == [type(each) for each in new.operations]
        for one, other in zip(old.operations, new.operations):
            assert getattr(one, "path", "").count("/") == getattr(other, "path", "").count("/")
            assert bool(getattr(one, "data", None)) == bool(getattr(other, "data", None))


@given(st.lists(WORD, min_size=2, max_size=30, unique=True))
def test_different_names_stay_different_and_the_same_the_same(words):
    redactor = Redactor()
    paths = [f"/brokers/topics/{word}" for word in words]
    assert len({redactor.path(path) for path in paths}) == len(words)
    random.shuffle(paths)
    again = {path: redactor.path(path) for path in paths}
    assert all(redactor.path(path) == again[path] for path in paths)


def test_what_json_says_below_each_key():
    redactor = Redactor()

    def told(path: str, found: dict) -> dict:
        return json.loads(redactor.data(path, json.dumps(found).encode()))

    assert told(
        "/brokers/ids/1",
        {
            "endpoints": ["SSL://a:9092", "IN://b:9"],
            "host": "a",
            "listener_security_protocol_map": {"SSL": "SSL", "IN": "PLAINTEXT"},
            "port": 9092,
            "timestamp": "12",
        },
    ) == {
        "endpoints": ["SSL://host-1:9092", "listener-1://host-2:9"],
        "host": "host-1",
        "listener_security_protocol_map": {"SSL": "SSL", "listener-1": "PLAINTEXT"},
        "port": 9092,
        "timestamp": "12",
    }
    assert told(
        "/admin/reassign_partitions", {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]}
    ) == {"version": 1, "partitions": [{"topic": "topic-1", "partition": 0, "replicas": [1]}]}
    assert redactor.path("/config/topics/t") == "/config/topics/topic-1"
    assert (
        redactor.path("/prod/eu/brokers/topics/t/partitions/0/state")
        == "/chroot-1/chroot-2/brokers/topics/topic-1/partitions/0/state"
    )
    assert told("/config/changes/x", {"entity_path": "users/u/clients/c"}) == {
        "entity_path": "users/principal-1/clients/client-1"
    }
    assert told("/config/changes/x", {"entity_type": "users", "entity_name": "u"}) == {
        "entity_type": "users",
        "entity_name": "principal-1",
    }
    assert redactor.data("/controller_epoch", b"7") == b"7" and redactor.data("/x", b"7") == b"data-1"


def test_a_chroot_that_is_given_is_found_by_its_pseudonym(tmp_path, capsys):
    write_log(tmp_path / "log.1", cluster(UNIQUE))
    for chroot in ((), ("--chroot", "/" + UNIQUE["chroot"])):
        assert run_json(capsys, tmp_path, "--redact", *chroot)[1]["verdict"] == "conforms"
    recording = read_recording(tmp_path, Redactor())
    assert recording.transactions[1].operations[0].path.startswith("/chroot-1")


def test_a_recording_of_run_is_refused_in_one_line(capsys):
    assert main(["replay", str(LEGACY.parent / "run-fenced-failover"), "--redact"]) == 2
    assert "--redact: for the log of a ZooKeeper only" in capsys.readouterr().err


def test_for_several_recordings_it_is_refused_in_one_line(capsys):
    assert main(["replay", str(LEGACY), str(FENCED), "--redact"]) == 2
    told = capsys.readouterr().err
    assert "--redact" in told and told.count("\n") == 1
