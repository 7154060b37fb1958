"""What people read in a narrow terminal: no name is cut, and counts are in words."""

import pytest
from rich.table import Table

from kafkaproof.checker.basics import terminal
from kafkaproof.checker.basics.words import counted, times
from kafkaproof.checker.commands import summary
from kafkaproof.checker.commands.tables import _Console, _shared, console


def table():
    """A table of what does not fit into 60 columns."""
    found = Table()
    for name in ("epoch", "session", "/controller_epoch", "how it ended", "nothing"):
        found.add_column(name)
    found.add_row(
        "1", "0x1a1fc225ec20001", "0x38", "[bold]deleted[/] by an operator at 0x60, which is long enough to wrap", ""
    )
    return found


def test_a_table_that_does_not_fit_is_printed_in_rows(capsys):
    _Console(width=44, highlight=False).print(table())
    told = capsys.readouterr().out
    assert told.startswith("epoch 1; session 0x1a1fc225ec20001;\n    /controller_epoch 0x38; how it ended")
    assert "nothing" not in told and "\u2026" not in told and max(map(len, told.splitlines())) <= 44
    _Console(width=80, highlight=False).print(table())
    assert "\u2503" in capsys.readouterr().out


def test_a_pipe_has_room_for_tables(capsys):
    console().print(table())
    assert "0x1a1fc225ec20001 \u2502" in capsys.readouterr().out


def test_the_rows_of_many_runs_fit(capsys, monkeypatch):
    monkeypatch.setattr(summary, "console", lambda: _Console(width=60, highlight=False))
    summary.Summary(["group"])._out.print("x")
    assert "system" not in capsys.readouterr().out.splitlines()[1]
    assert (
        summary._named(("group", 7, "1,204", 2, 0, 4, 1, 0))
        == "system group; variants 7; states 1,204; hold 2; known 4; open 1"
    )


@pytest.mark.parametrize(
    ("count", "name", "told"), [(1, "step", "1 step"), (2_000, "step", "2,000 steps"), (2, "process", "2 processes")]
)
def test_counts_are_in_words(count, name, told):
    assert counted(count, name) == told and (times(1), times(2)) == ("once", "2 times")


def test_a_table_that_just_fits_cuts_no_word(capsys):
    found = Table()
    for name in ("system", "eventually", "what it says"):
        found.add_column(name)
    found.add_row("semaphore", "is_free", "a text of many words, which may wrap as often as it must")
    _Console(width=46, highlight=False).print(found)
    told = capsys.readouterr().out
    assert "eventually" in told and "semaphore" in told and "\u2503" in told and "\u2026" not in told
    assert {len(line) for line in told.splitlines()} == {46}


@pytest.mark.parametrize(
    ("room", "widths"), [(0, [2, 3, 4]), (3, [3, 3, 6]), (4, [3, 3, 7]), (9, [3, 3, 9]), (1, [3, 3, 4])]
)
def test_room_is_shared_as_far_as_columns_use_it(room, widths):
    assert _shared([2, 3, 4], [3, 3, 9], room) == widths


def test_a_text_has_as_many_columns_as_the_terminal(monkeypatch):
    assert terminal.columns(100) == 100
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for own, of in (("72", 72), ("300", 100), ("10", 40)):
        monkeypatch.setenv("COLUMNS", own)
        assert terminal.columns(100) == of
