"""Variants run the rules of their releases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec import facts
from kafkaproof.spec.catalogue import SYSTEMS, all_models, find
from kafkaproof.spec.language.releases import KNOWN, Releases, merged
from kafkaproof.spec.partition.history.strategies import may_rebalance_if_online

RANGES = st.lists(st.tuples(st.sampled_from(KNOWN), st.sampled_from(KNOWN)), min_size=1, max_size=4)


@pytest.mark.parametrize("model", all_models(), ids=lambda model: model.name)
def test_a_variant_runs_the_rules_of_its_releases_or_it_is_listed(model):
    assert [f.name for f in facts.outside(model) if (model.system, f.name) not in facts.exceptions()] == []


def test_what_is_listed_is_still_so():
    there = {(model.system, fact.name) for model in all_models() for fact in facts.outside(model)}
    assert set(facts.exceptions()) - there == set()


def test_a_variant_with_the_rule_of_another_release_is_found():
    (fenced,) = find("partition", "fenced")
    (pair,) = [pair for model in find("partition") for pair in model.replaced if pair[1] is may_rebalance_if_online][:1]
    wrong = fenced.rebound(dict([pair]))
    assert [fact.function.__name__ for fact in facts.outside(wrong)] == [may_rebalance_if_online.__name__]


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_releases_of_variants_are_known(system):
    assert all(model.releases.known for model in find(system) if model.releases)


@given(RANGES)
def test_merged_ranges_have_the_same_releases_and_gaps_between_them(ends):
    ranges = [Releases(*sorted(each, key=KNOWN.index)) for each in ends]
    found = merged(ranges)
    assert {r for each in found for r in each.known} == {r for each in ranges for r in each.known}
    assert all(KNOWN.index(a.known[-1]) + 1 < KNOWN.index(b.known[0]) for a, b in zip(found, found[1:]))


def test_a_changed_rule_has_its_facts_by_release():
    (rule,) = [rule for rule in facts.rules("partition") if rule.present.__name__ == "may_rebalance"]
    assert [(fact.name, [*map(str, fact.releases)]) for fact in rule.facts] == [
        ("strategies.may_rebalance_if_online", ["0.8.1 to 2.5"]),
        ("strategies.may_rebalance", ["2.6 to 3.9"]),
    ]
