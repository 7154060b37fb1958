"""The reference has every name of the public package once, and each says what it is."""

from collections import Counter

from kafkaproof import model, testing
from tests.docs.reference import SECTIONS, rows


def test_every_public_name_stands_in_one_section():
    told = Counter(name for names in SECTIONS.values() for name in names)
    assert told == Counter([*model.__all__, *testing.__all__])


def test_every_row_says_something():
    cells = [row.split(" | ") for row in rows() if row.startswith("| `")]
    assert len(cells) > 55 and all(len(text.strip(" |")) > 10 for _, text in cells)
