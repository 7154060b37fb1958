"""Every finding in the tables of documents has the releases that have it, and its place in Kafka's source."""

import re

import pytest

from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.releases import KNOWN
from tests.sources.findings import COLUMNS, NO_RELEASE, PAGES, findings, tables

FINDINGS = [finding for page in PAGES for finding in findings(page)]
RELEASES = {model.name: model.releases for model in all_models() if model.releases}
OVERVIEW, *ACCOUNTS = PAGES
ALL_IN_THE_OVERVIEW = {"migration.md", "placement.md", "upgrade.md"}


def name(finding):
    return f"{finding.page}: {re.sub(r'[^A-Za-z]+', '-', finding.cells[0])[:60]}"


@pytest.mark.parametrize("finding", FINDINGS, ids=name)
def test_its_source_is_of_one_of_its_releases(finding):
    assert bool(finding.declared) == (finding.cells[-2:] != NO_RELEASE)
    assert [each.tag for each in finding.declared if each.tag not in KNOWN] == []
    assert [each.tag for each in finding.declared if not any(each.tag in range for range in finding.releases)] == []


@pytest.mark.parametrize("finding", FINDINGS, ids=name)
def test_the_variants_that_violate_it_are_of_its_releases(finding):
    system = re.search(r"`([\w-]+)/", finding.cells[1])
    variants = re.findall(r"`(?:[\w-]+/)?([\w-]+)`", finding.cells[1]) if system else []
    shown = [RELEASES[name] for variant in variants if (name := f"{system[1]}/{variant}") in RELEASES]
    assert [each for each in shown if not any(each.overlaps(range) for range in finding.releases)] == []


def test_the_tables_of_findings_have_these_columns():
    text = OVERVIEW.read_text(encoding="utf-8")
    found = [head for head, _ in tables(text[: text.index("## On real brokers")])]
    assert len(found) == 3 and all(head[-2:] == COLUMNS for head in found)


def test_the_accounts_have_them_but_for_those_whose_findings_are_all_in_the_overview():
    assert {page.name for page in ACCOUNTS} - {finding.page for finding in FINDINGS} == ALL_IN_THE_OVERVIEW


def test_a_row_that_cannot_be_read_is_told(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"| Finding | {' | '.join(COLUMNS)} |\n|---|---|---|\n| it fails | some | `A.b` 2.8.2:1 |\n")
    with pytest.raises(ValueError, match="page.md: it fails: 'some' and"):
        list(findings(page))
