"""What replay asks of a log follows from the releases that may have written it, by the facts of the specification."""

import pytest

from kafkaproof.traces.evidence.features import Features

OLDEST, OLD, NEW, NEWEST = ("zkclient", False), ("legacy", False), ("fenced", False), ("fenced", True)


@pytest.mark.parametrize(
    ("log", "releases"), [(OLDEST, "0.9 to 1.0"), (OLD, "1.1 to 2.0"), (NEW, "2.1 to 2.3"), (NEWEST, "2.4 to 3.9")]
)
def test_the_releases_of_a_log(log, releases):
    assert str(Features(*log).releases) == releases


@pytest.mark.parametrize(
    ("rule", "logs"),
    [
        ("elects_what_is_deleted", [OLDEST, OLD]),
        ("empties_isrs", [OLDEST]),
        ("elects_whom_it_has", [OLD, NEW]),
        ("takes_the_dead_offline_at_first", [NEWEST]),
    ],
)
def test_the_logs_whose_releases_have_a_rule(rule, logs):
    assert [log for log in (OLDEST, OLD, NEW, NEWEST) if getattr(Features(*log), rule)] == logs
