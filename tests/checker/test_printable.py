"""Whatever is printed is printable: no name in a file is obeyed by a terminal."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.basics.printable import UNSAFE, Printable, obeyed, only_printable, printable
from kafkaproof.checker.commands.tables import console
from kafkaproof.checker.pictures.page import embedded

NAMES = (
    "\x1b[31mred\x1b[0m",
    "\x07\x08\x7f\x9b2J",
    "\u202egnp.exe",
    "\u2066a\u2069",
    "\ud800",
    "\u200bx",
    "\r",
    "\ufeff",
    "\U000e0041",
)


@given(st.text())
def test_nothing_unsafe_is_left_and_nothing_else_is_changed(text):
    found = printable(text)
    assert all(sign.isprintable() or sign in "\t\n" or sign.isspace() or sign > "\u00a0" for sign in found)
    assert printable(found) == found
    assert found == text or any(not sign.isprintable() for sign in text)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_written_out_on_both_streams_and_in_tables(capsys, name):
    with only_printable():
        print(f"a {name} b")
        print(name, file=sys.stderr)
        console().print(name, markup=False)
    out, err = capsys.readouterr()
    written = printable(name)
    assert out.startswith(f"a {written} b\n") and err == f"{written}\n" and "\\" in written
    assert printable(out) == out


def test_the_streams_are_as_they_were_afterwards(capsys):
    before = sys.stdout
    with pytest.raises(KeyError), only_printable():
        assert obeyed(sys.stdout) is before and not sys.stdout.isatty()
        raise KeyError
    assert sys.stdout is before and obeyed(before) is before


def test_colours_of_tables_reach_the_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with only_printable():
        console().print("[red]diverges[/]: \x1b[32mconforms")
    assert capsys.readouterr().out == "\x1b[31mdiverges\x1b[0m: \\x1b[32mconforms\n"


@pytest.mark.parametrize("name", [*NAMES, "\u00e9\u4e2d\U0001f600 \\u202e \\x1b"])
def test_pages_show_what_is_unsafe_and_keep_the_rest(name):
    assert json.loads(embedded({name: [name]})) == {printable(name): [printable(name)]}


def test_several_lines_at_once(capsys):
    Printable(sys.stdout).writelines(["a\x1b\n", "b\n"])
    assert capsys.readouterr().out == "a\\x1b\nb\n" and "\\x1b" not in UNSAFE
