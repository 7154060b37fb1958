"""What a variant consists of: `kafkaproof list SYSTEM --variant V`."""

import pytest

from kafkaproof.checker.commands.describe import described
from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.layout import leaves


@pytest.mark.parametrize("model", all_models(), ids=lambda model: model.name)
def test_every_leaf_of_the_state_is_a_field_that_is_listed(model):
    fields = {row["field"] for row in described(model)["state"]}
    for leaf in leaves(model.state, model.scope):
        name = "".join("[*]" if isinstance(part, int) else f".{part}" for part in leaf.path).removeprefix(".")
        assert name in fields
    assert all(row["values"] and row["meaning"] for row in described(model)["state"])


def test_a_variant_that_was_made_by_replacing_functions_says_which(kafkaproof):
    listed = kafkaproof("list", "partition", "--variant", "legacy", "--json").json["models"]
    assert [model["variant"] for model in listed] == ["legacy"]
    by = {row["function"].rpartition(".")[2]: row["by"].rpartition(".")[2] for row in listed[0]["replaced"]}
    assert by["checked_set_state"] == "set_state" and by["list_brokers"] == "list_broker_ids"
    assert listed[0]["releases"] == {"first": "2.0", "last": "2.0"}
    releases = {row["by"].rpartition(".")[2]: row["releases"] for row in listed[0]["replaced"]}
    assert releases["nobody"] == [{"first": "0.8", "last": "2.2"}]
    assert {"first": "2.0", "last": "2.0"} in releases["list_broker_ids"]
    text = kafkaproof("list", "partition", "--variant", "legacy").out
    assert "machines.write_leader" in text and "highest controller epoch in an accepted request" in text
    assert "releases: 2.0" in text


def test_what_is_no_release_is_listed_as_none(kafkaproof):
    listed = kafkaproof("list", "election", "--json").json["models"]
    releases = {model["variant"]: model["releases"] for model in listed}
    assert releases["fenced-standing"] is None and releases["fenced"] == {"first": "2.1", "last": "3.9"}
    assert "releases: none" in kafkaproof("list", "election", "--variant", "fenced-standing").out


def test_a_variant_is_of_a_system(kafkaproof):
    assert "list SYSTEM --variant V" in kafkaproof("list", "--variant", "legacy").complaint
    assert "election has no variant 'newest'" in kafkaproof("list", "election", "--variant", "newest").complaint
