"""`replay --at` shows the cluster at a moment of a log, and `--dump` its records."""

import pytest

from kafkaproof.traces.zookeeper.tree import Tree
from tests.traces.log_writer import write_log
from tests.traces.replaying import FENCED, LEGACY, REASSIGN, first, read


@pytest.fixture
def at(kafkaproof):
    """What `--at --json` prints."""

    def ask(directory, moment, *more):
        return kafkaproof("replay", directory, "--at", moment, "--json", *more).json

    return ask


def test_the_controller_the_epoch_and_the_brokers_are_those_of_the_moment(at):
    before, after = at(LEGACY, "0x99"), at(LEGACY, "0x9a")
    assert (before["controller"], before["controller_epoch"]) == (3, 1), "elected, and the epoch not raised"
    assert (after["controller"], after["controller_epoch"]) == (3, 2) and after["brokers"] == [1, 2, 3]
    assert at(LEGACY, "0x4cb")["brokers"] == [2, 3] and at(LEGACY, "2026-11-21T03:25:09")["controller"] == 2
    assert at(LEGACY, "2026-11-21T04:25:09+01:00") == at(LEGACY, "2026-11-21T03:25:09")
    assert at(LEGACY, "0x61")["controller"] is None


def test_every_partition_is_there_with_its_state_and_its_trouble(at):
    found = at(FENCED, hex(read(FENCED).transactions[-1].zxid))
    tree = Tree(read(FENCED).start)
    for transaction in read(FENCED).transactions:
        tree.apply(transaction)
    states = [path for path in tree.nodes if path.endswith("/state") and path.startswith("/brokers/topics/")]
    assert len([each for each in found["partitions"] if each["state"]]) == len(states)
    for each in found["partitions"]:
        state = each["state"]
        assert (each["trouble"] == "offline") == (state["leader"] not in found["brokers"])
    narrowed = at(FENCED, "0x99", "--topic", found["partitions"][0]["topic"])["partitions"]
    assert {each["topic"] for each in narrowed} == {found["partitions"][0]["topic"]}
    assert all(1 in each["replicas"] for each in at(FENCED, "0x99", "--broker", "1")["partitions"])


def test_a_reassignment_that_is_under_way_shows_what_is_added_and_removed(at, kafkaproof):
    moments = [at(REASSIGN, hex(zxid)) for zxid in range(0x50, 0x90, 4)]
    moving = [each for one in moments for each in one["partitions"] if each["adding"] or each["removing"]]
    assert moving and all({*each["adding"], *each["removing"]} <= {*each["replicas"]} for each in moving)
    told = kafkaproof("replay", REASSIGN, "--at", "0x90").out
    assert "after 0x90, 2026-11-21 03:38:09 UTC: broker 1 is the controller, controller epoch 1" in told


def test_records_are_dumped_one_a_line_with_who_wrote_them(kafkaproof):
    told = kafkaproof("replay", LEGACY, "--dump", "--from", "0x99", "--to", "0x9b").out.splitlines()
    assert [line.split()[0] for line in told] == ["0x99", "0x9a", "0x9b"]
    assert told[1] == "0x9a 03:24:44.386 broker 3: setData /controller_epoch 2"
    assert '"controller_epoch":1,"leader":2' in told[2] and "broker 1: create /brokers/topics/za0/" in told[2]
    every = kafkaproof("replay", LEGACY, "--dump", "--to", "0x40").out.splitlines()
    assert [line.split()[0] for line in every] == [hex(zxid) for zxid in range(1, 0x41)]
    own = kafkaproof("replay", LEGACY, "--dump", "--broker", "3", "--topic", "za0").out.splitlines()
    assert own and all(" broker 3: " in line and "za0" in line for line in own)


@pytest.mark.parametrize("options", [["--at", "0x30"], ["--dump", "--to", "0x30"]])
def test_what_is_missing_in_the_files_is_told(kafkaproof, tmp_path, options):
    write_log(tmp_path / "log.1", [each for each in first(LEGACY, 0x40) if each.zxid != 0x20])
    answer = kafkaproof("replay", tmp_path, *options)
    assert answer.code == 0 and "problem: " in answer.err and "gap: records 0x20 to 0x20 are missing" in answer.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--at", "2020-01-01"], "--at: the log begins later, at 0x1, 2026-11-21 03:24:33 UTC"),
        (["--topic", "t"], "--topic: of what --at or --dump prints"),
        (["--at", "0x9", "--dump"], "give one of them"),
        (["--dump", "--html", "x.html"], "--html: not with --at or --dump"),
    ],
)
def test_what_does_not_fit_is_told(kafkaproof, options, told):
    answer = kafkaproof("replay", LEGACY, *options)
    assert answer.code == 2 and told in answer.complaint


def test_a_moment_that_is_none_is_told(kafkaproof, capsys):
    with pytest.raises(SystemExit):
        kafkaproof("replay", LEGACY, "--at", "noon")
    assert "'noon' is neither a zxid, such as 0x9b, nor a time" in capsys.readouterr().err
