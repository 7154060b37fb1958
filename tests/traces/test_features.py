"""What replay asks of a log follows from the releases that may have written it, by the facts of the specification."""

import pytest

from kafkaproof.spec.catalogue import find
from kafkaproof.traces.evidence.features import RANGES, of_release

OLDEST, OLD, NEW, NEWEST = RANGES


def test_the_ranges_follow_one_another_without_a_gap():
    known = [release for each in RANGES for release in each.releases.known]
    assert known == sorted(set(known), key=known.index)
    assert (known[0], known[-1]) == ("0.9.0.0", "3.9.1")


@pytest.mark.parametrize("features", RANGES, ids=lambda each: str(each.releases))
def test_the_election_of_a_range_has_its_releases(features):
    model = find("election", features.variant)[0]
    assert all(release in model.releases for release in features.releases.known)


@pytest.mark.parametrize(
    ("rule", "logs"),
    [
        ("guarded", [NEW, NEWEST]),
        ("kip455", [NEWEST]),
        ("numbers_partitions", [NEWEST]),
        ("has_one_thread", [OLD, NEW, NEWEST]),
        ("keeps_to_its_session", [OLD, NEW, NEWEST]),
        ("elects_uncleanly_unless_told", [OLDEST]),
    ],
)
def test_the_ranges_that_have_a_rule(rule, logs):
    assert [log for log in RANGES if getattr(log, rule)] == logs


@pytest.mark.parametrize(
    ("release", "features"),
    [("0.10.2", OLDEST), ("1.1.1", OLD), ("2.0", OLD), ("2.3.1", NEW), ("2.8", NEWEST), ("3.9.1", NEWEST)],
)
def test_a_release_is_held_to_the_variants_of_its_range(release, features):
    own = of_release(release)
    assert own[1:] == features[1:] and own.releases.first == own.releases.last == release


def test_of_one_release_a_rule_is_certain():
    assert not OLDEST.has_one_thread and of_release("1.0").has_one_thread
    assert OLDEST.elects_uncleanly_unless_told and not of_release("1.0").elects_uncleanly_unless_told


@pytest.mark.parametrize(
    ("release", "variants"),
    [("0.9", ("zkclient",)), ("1.1.1", ("unconfigured",)), ("2.8.2", ("kip497",)), ("3.9.1", ("fenced",))],
)
def test_changes_of_one_release_are_explained_by_its_own_variant(release, variants):
    assert of_release(release).explaining == variants


def test_changes_of_a_range_are_explained_by_each_of_its_variants():
    assert OLDEST.explaining == ("kip112", "one-thread", "zkclient")
    assert NEW.explaining == ("removal-at-start", "kip380", "checked")
    assert NEWEST.explaining[0] == "fenced" and NEWEST.explaining[-1] == "kip460"


@pytest.mark.parametrize("release", ["4.0", "0.8.2", "2.9", "x", "2.8.9"])
def test_an_unknown_release_is_refused(release):
    with pytest.raises(ValueError):
        of_release(release)
