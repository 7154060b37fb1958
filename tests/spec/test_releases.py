"""Releases of Kafka: ranges, and those of the variants."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.catalogue import SYSTEMS, all_models, find, releases_with
from kafkaproof.spec.language.releases import Releases, merged
from kafkaproof.spec.partition import zookeeper
from kafkaproof.spec.partition.rolling.model import set_state_by_version
from kafkaproof.spec.requests.history.stops import is_later, whenever_it_was
from kafkaproof.spec.requests.model import is_never_former

NUMBERS = st.lists(st.integers(0, 20), min_size=2, max_size=3)


def test_a_range_is_compared_by_numbers_and_has_the_patch_releases_of_its_last():
    releases = Releases("0.9", "0.10.2")
    assert all(release in releases for release in ("0.9", "0.9.0.1", "0.10.0", "0.10.2", "0.10.2.2"))
    assert not any(release in releases for release in ("0.8.2.2", "0.11", "1.0", "3.9.1"))
    assert "3.9.1" in Releases("2.7", "3.9") and "3.9.1" not in Releases("2.7", "3.9.0")
    assert "3.9.0" not in Releases("3.9.1", "3.9.1")
    assert not Releases("2.7", "3.9.0").overlaps(Releases("3.9.1", "3.9.1"))
    assert [str(each) for each in (releases, Releases("2.0", "2.0"))] == ["0.9 to 0.10.2", "2.0"]


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_a_range_has_its_ends_and_whatever_is_between(numbers):
    first, between, last = (".".join(map(str, number)) for number in sorted(numbers))
    assert all(release in Releases(first, last) for release in (first, between, last))
    assert all(Releases(first, last).overlaps(other) for other in (Releases(between, last), Releases(between, between)))


@pytest.mark.parametrize(
    "first, last", [("2.0", "1.1"), ("0.10", "0.9"), ("3.9.1", "3.9.0"), ("2", "3.9"), ("2.0", "now")]
)
def test_what_is_no_range_is_refused(first, last):
    with pytest.raises(ValueError, match=r"the last comes before the first|is not a release"):
        Releases(first, last)


@pytest.mark.parametrize("model", all_models(), ids=lambda model: model.name)
def test_a_variant_has_its_releases_or_says_that_it_is_none(model):
    assert (model.releases is None) == ("no release" in model.story.lower())


@pytest.mark.parametrize("system", SYSTEMS)
def test_variants_of_one_release_are_variants_of_the_same_releases(system):
    released = [model for model in find(system) if model.releases]
    assert released
    for one, other in combinations(released, 2):
        assert one.releases == other.releases or not one.releases.overlaps(other.releases), (one.name, other.name)


def test_a_replacement_stands_in_the_releases_of_the_variants_that_have_it():
    assert releases_with("requests", is_never_former) == [Releases("1.1", "2.0"), Releases("2.1", "2.1")]
    assert merged(releases_with("requests", whenever_it_was)) == (Releases("1.1", "2.5"),)
    assert merged(releases_with("requests", is_later)) == (Releases("2.6", "3.3"),)
    assert str(releases_with("partition", zookeeper.set_state)[-1]) == "2.0"
    assert releases_with("partition", set_state_by_version) == []
