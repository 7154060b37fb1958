"""A log that grows is followed: each event is told once, and a divergence ends it."""

from argparse import Namespace
from functools import partial

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.traces.commands import follow as following
from kafkaproof.traces.commands.follow import PATIENCE, Watch
from kafkaproof.traces.commands.log import report_of_growing
from kafkaproof.traces.report.log import CONFORMS, UNDECIDED
from kafkaproof.traces.zookeeper.log import read_more
from tests.traces.log_writer import file_header, record
from tests.traces.replaying import FENCED, LEGACY, REASSIGN, altered, first, read
from tests.traces.test_replay_alterations import ALTERATIONS

PADDING = bytes(4096)


class Growing:
    """A log file of ZooKeeper that grows: zeros stand behind the last record, as ZooKeeper preallocates."""

    def __init__(self, directory, name: str = "log.1"):
        self.path, self.written = directory / name, file_header()
        self.path.write_bytes(self.written + PADDING)

    def append(self, transactions, torn: int = 0) -> None:
        """Write records, without the last bytes of the last one where it is `torn`."""
        self.written += b"".join(record(t) for t in transactions)
        self.path.write_bytes(self.written[: len(self.written) - torn] + PADDING)


def watch(directory, variant: str | None = None) -> Watch:
    asked = dict.fromkeys(("chroot", "release", "logs", "events", "master", "metadata_log", "redact"))
    options = Namespace(directory=directory, variant=variant, **asked)
    return Watch(directory, partial(report_of_growing, options))


def test_only_whole_records_are_read(tmp_path):
    log = Growing(tmp_path)
    assert read_more(log.path, 0) == ((), 16)
    log.append(first(FENCED, 3), torn=5)
    found, offset = read_more(log.path, 16)
    assert [t.zxid for t in found] == [1, 2]
    log.append([])
    assert [t.zxid for t in read_more(log.path, offset)[0]] == [3]
    log.path.write_bytes(log.written[:7])
    assert read_more(log.path, 0) == ((), 0)


def test_each_event_is_told_once_in_whatever_pieces_it_comes(tmp_path):
    log, whole = Growing(tmp_path), read(FENCED).transactions
    log.append(whole[:0x60])
    watched, lines = watch(tmp_path), []
    for begin in range(0x60, len(whole), 90):
        log.append(whole[begin : begin + 90])
        lines += watched.round()
    assert watched.round() == []
    assert (watched.report.verdict, watched.over) == (CONFORMS, False)
    elected = [line for line in lines if "is controller of epoch" in line]
    assert [line.split()[-1] for line in elected] == ["3", "4", "5", "6", "7", "8"]
    assert len(set(lines)) == len(lines)
    assert sum("is over" in line for line in lines) == 7
    assert any("offline: f1-" in line for line in lines)


def test_a_new_file_goes_on(tmp_path):
    whole = read(FENCED).transactions
    Growing(tmp_path).append(whole[:0x70])
    watched = watch(tmp_path)
    Growing(tmp_path, "log.71").append(whole[0x70:0x90])
    assert any("0x80 broker 1 is controller of epoch 3" in line for line in watched.round())


def test_missing_records_are_told_and_nothing_is_judged_by_them(tmp_path):
    whole = read(FENCED).transactions
    Growing(tmp_path).append(whole[:0x58])
    watched = watch(tmp_path)
    Growing(tmp_path, "log.5b").append(whole[0x5A:0x90])
    lines = watched.round()
    assert "records 0x59 to 0x5a are missing before this one" in lines[0]
    assert (watched.report.verdict, watched.over) == (UNDECIDED, False)


def test_the_first_divergence_ends_it_once_later_records_have_come(tmp_path):
    directory, zxid, caught, change, text = ALTERATIONS["an epoch that skips"]
    wrong = altered(first(directory, 0x130), zxid, change).transactions
    log = Growing(tmp_path)
    log.append(wrong[:0x90])
    watched = watch(tmp_path)
    log.append(wrong[0x90:caught])
    assert (watched.round(), watched.over) == ([], False)
    log.append(wrong[caught : caught + 1])
    lines = watched.round()
    assert watched.over and hex(caught) in lines[-1] and "diverges from fenced" in lines[-1] and text in lines[-1]


def test_a_divergence_after_which_nothing_comes_is_told_too(tmp_path):
    directory, zxid, caught, change, _ = ALTERATIONS["an epoch that skips"]
    wrong = altered(first(directory, 0x130), zxid, change).transactions
    log = Growing(tmp_path)
    log.append(wrong[:0x90])
    watched = watch(tmp_path)
    log.append(wrong[0x90:caught])
    said = [watched.round() for _ in range(PATIENCE + 1)]
    assert said[:-1] == [[]] * PATIENCE and watched.over and "diverges" in said[-1][-1]


def test_what_the_next_record_explains_is_no_divergence(tmp_path):
    log, whole = Growing(tmp_path), read(REASSIGN).transactions
    log.append(whole[:0x84])
    watched = watch(tmp_path)
    for end in range(0x84, 0x90):
        log.append(whole[end : end + 1])
        watched.round()
        assert not watched.over, watched.report.result.divergence
    assert watched.report.verdict == CONFORMS


def test_a_long_log_is_replayed_from_its_middle_on(tmp_path, monkeypatch):
    monkeypatch.setattr(following, "MOST", 200)
    log, whole = Growing(tmp_path), read(FENCED).transactions
    log.append(whole[:0x60])
    watched, lines, longest = watch(tmp_path), [], 0
    for begin in range(0x60, len(whole), 50):
        log.append(whole[begin : begin + 50])
        lines += watched.round()
        longest = max(longest, len(watched.report.recording.transactions))
    assert longest <= 200 and not watched.over
    assert sum("is controller of epoch" in line for line in lines) == 6


def test_a_part_without_an_election_is_held_to_the_releases_of_what_was_before(tmp_path, monkeypatch):
    monkeypatch.setattr(following, "MOST", 40)
    log, whole, silent = Growing(tmp_path), read(FENCED).transactions, 0
    log.append(whole[:0x60])
    watched = watch(tmp_path)
    releases = watched.report.streams.features.releases
    for begin in range(0x60, len(whole), 20):
        log.append(whole[begin : begin + 20])
        watched.round()
        silent += not watched.report.recording.survey.elected
        assert (watched.over, watched.report.streams.features.releases) == (False, releases)
    assert str(releases) == "3.4 to 3.9" and silent


@pytest.fixture
def grows_to_a_violation(tmp_path, monkeypatch):
    """A log that grows, once it is followed, by the first record that violates C4; then somebody presses Ctrl-C."""
    log, whole, rounds = Growing(tmp_path), first(LEGACY, 0x9B), []
    log.append(whole[:0x95])

    def grow(seconds: float) -> None:
        if rounds:
            raise KeyboardInterrupt
        rounds.append(seconds)
        log.append(whole[0x95:])

    monkeypatch.setattr("kafkaproof.traces.commands.log.sleep", grow)


def test_the_command_stays_until_it_is_stopped(capsys, tmp_path, grows_to_a_violation):
    (tmp_path / "consumer-offsets" / "__consumer_offsets-0").mkdir(parents=True)
    assert main(["replay", str(tmp_path), "--follow"]) == 1
    told = capsys.readouterr()
    assert "conforms to legacy" in told.out and "0x9b violates C4" in told.out
    assert "--follow: groups are not followed" in told.err


@pytest.mark.parametrize("other", [["--json"], ["--history", "x"], ["--master", "local[1]"]])
def test_what_needs_a_whole_log_is_wrong_use(capsys, other):
    assert main(["replay", str(FENCED), "--follow", *other]) == 2
    assert other[0] in capsys.readouterr().err


def test_a_command_is_run_for_each_event(capfd, tmp_path, grows_to_a_violation):
    assert main(["replay", str(tmp_path), "--follow", "--on-event", "echo told"]) == 1
    assert "told 2026-11-21 03:24:44 0x9b violates C4" in capfd.readouterr().out


def test_a_command_that_cannot_be_run_is_told_and_ends_nothing(capfd, tmp_path, grows_to_a_violation):
    assert main(["replay", str(tmp_path), "--follow", "--on-event", "no-such-command"]) == 1
    told = capfd.readouterr()
    assert "0x9b violates C4" in told.out and "--on-event no-such-command: " in told.err
