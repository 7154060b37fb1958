"""Each failure of the migration has a picture of its shortest way, and the page shows all of them."""

import re

import pytest

from kafkaproof.spec.catalogue import all_models
from tests.docs.pictures import DOCS, PICTURES, drawn, file_of

ACCOUNT = (DOCS / "findings" / "migration.md").read_text(encoding="utf-8")
MIGRATION = [model for model in all_models() if model.system == "migration"]


def test_every_variant_that_fails_has_a_picture():
    failing = {model.variant for model in MIGRATION if any(model.expected.values())}
    assert failing == {shown.variant for shown in PICTURES.values()}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_the_recorded_length_and_stands_in_the_account(name):
    shown, text = PICTURES[name], file_of(name).read_text(encoding="utf-8")
    last = max(int(number) for number in re.findall(r">(\d+)</text>", text))
    assert last == shown.states - 1 or f"steps {shown.states} to {last} are repeated" in text
    assert shown.scope in shown.model.expected and shown.prop in text
    row = next(line for line in ACCOUNT.splitlines() if line.startswith("|") and f"migration-{name}.svg" in line)
    assert f"`{shown.variant}`" in row and f"`{shown.prop}` {shown.states}" in row


def test_no_picture_is_left_over():
    assert {file_of(name) for name in PICTURES} == set(DOCS.glob("migration-*.svg"))
    assert {f"migration-{name}.svg" for name in PICTURES} == set(re.findall(r"migration-[\w-]+\.svg", ACCOUNT))


@pytest.mark.parametrize("name", ["never-full", "strays-by-name"])
def test_a_picture_is_that_of_the_present_model(name):
    assert drawn(PICTURES[name]) == file_of(name).read_text(encoding="utf-8")


@pytest.mark.thorough
@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_that_of_the_present_model(name):
    assert drawn(PICTURES[name]) == file_of(name).read_text(encoding="utf-8")
