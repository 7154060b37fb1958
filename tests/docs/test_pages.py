"""The rows of pages that the specification says are as it says them."""

import pytest

from tests.docs.generated import DOCS, PAGES, page_with


@pytest.mark.parametrize("name", PAGES)
def test_the_rows_are_what_the_specification_says(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    assert text == page_with(name, text), "`make pages` writes them anew"
