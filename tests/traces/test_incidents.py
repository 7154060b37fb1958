"""What somebody on call asks first: incidents, their severity, and the exit code that alerts."""

import re

import pytest

from kafkaproof.traces.basics.times import lasting
from kafkaproof.traces.report.incidents import KINDS
from tests.traces.conftest import RECORDINGS, REPOSITORY

BUNDLED = REPOSITORY / "traces" / "recordings"
ZOMBIE, FAILOVER, LOST = (BUNDLED / n for n in ("1.1.1-zombie", "3.9.1-controller-failover", "3.9.1-lost-records"))
UNCLEAN = RECORDINGS / "3.9.1" / "isr-and-unclean"


def test_a_split_brain_comes_first_and_conforms_all_the_same(kafkaproof):
    told = kafkaproof("replay", ZOMBIE, "--expect", "C4")
    first = told.out.splitlines()[0]
    assert told.code == 0 and first.startswith(
        "critical split-brain: a deposed controller has written (C4): 951 records"
    )
    assert "2026-11-21 03:24:44 UTC, 0x9b)" in first and "but these went wrong: split-brain (see the top)" in told.out
    found = kafkaproof("replay", ZOMBIE, "--json").json["incidents"]
    kinds = [each["kind"] for each in found]
    assert kinds == sorted(kinds, key=KINDS.index) and found[0]["zxid"] == "0x9b" and found[0]["way_out"]


@pytest.mark.skipif(not UNCLEAN.is_dir(), reason="the shared recordings are not here")
def test_unclean_elections_name_their_partitions_and_fail_on_demand(kafkaproof):
    told = kafkaproof("replay", UNCLEAN)
    assert told.code == 0 and re.match(r"critical unclean: 12 unclean elections: u3-0, .* and 3 more \(2026-", told.out)
    assert "serious offline: 9 partitions without a leader (2026-11-21 03:10:17 UTC, 28 s, 0x65)" in told.out
    assert kafkaproof("replay", UNCLEAN, "--fail-on", "split-brain,unclean").code == 1
    assert kafkaproof("replay", UNCLEAN, "--fail-on", "split-brain,stuck").code == 0
    found = kafkaproof("replay", UNCLEAN, "--json").json["incidents"]
    spell = next(each for each in found if each["kind"] == "offline")
    assert (spell["zxid"], spell["lasts"], round(spell["ms"] / 1000)) == ("0x65", False, 28)


def test_a_quiet_log_has_no_critical_incident(kafkaproof):
    found = kafkaproof("replay", FAILOVER, "--json").json["incidents"]
    assert {each["severity"] for each in found} <= {"serious", "warning"}


def test_what_brokers_logs_tell_of_lost_records_is_critical_with_the_way_out(kafkaproof):
    found = kafkaproof("replay", LOST, "--logs", LOST, "--json").json["incidents"]
    lost = [each for each in found if each["kind"] == "lost-records"]
    assert lost and lost == found[: len(lost)] and all(each["severity"] == "critical" for each in lost)
    assert "t-0" in lost[0]["what"] and all(each["way_out"] for each in lost)
    assert kafkaproof("replay", LOST, "--logs", LOST, "--fail-on", "lost-records").code == 1


def test_wrong_kinds_and_commands_are_told(kafkaproof, capsys):
    with pytest.raises(SystemExit) as ended:
        kafkaproof("replay", ZOMBIE, "--fail-on", "unclean,clean")
    assert ended.value.code == 2 and "no kind of incident 'clean'; there are lost-records" in capsys.readouterr().err
    assert "give --follow, too" in kafkaproof("replay", ZOMBIE, "--on-event", "true").complaint


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (800, "0.8 s"),
        (9_400, "9.4 s"),
        (45_000, "45 s"),
        (200_000, "3 min 20 s"),
        (120_000, "2 min"),
        (7_500_000, "2 h 5 min"),
    ],
)
def test_a_duration_is_said_as_people_say_it(ms, text):
    assert lasting(ms) == text
