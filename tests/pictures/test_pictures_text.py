"""Histories as plain text."""

import pytest
from picture_examples import election, fixed_replication, recording, replication

from kafkaproof.checker.pictures import HistoryError, beside_text, to_text
from kafkaproof.checker.pictures.changes import ABSENT
from kafkaproof.checker.pictures.show import LIMIT, show, show_change


def test_every_step_has_its_number_words_arrows_and_changes():
    text = to_text(replication())
    assert "   2  replication.become_leader(broker=0, request=0)  [broker 0]\n" in text
    assert "      Broker 0 takes the lead in epoch 0.\n" in text
    assert "      request controller -> broker 0: LeaderAndIsr epoch 0\n" in text
    assert "        replicas[0].role: offline -> leader\n" in text
    assert text.endswith("VIOLATED at step 12: strong_isr\n")


def test_recorded_marks_are_shown():
    assert "[broker 0, 0x9c, 03:24:44.566]" in to_text(election())


def test_no_line_is_wider_than_a_terminal():
    assert max(map(len, to_text(election()).splitlines())) <= 100
    assert max(map(len, beside_text(replication(), election()).splitlines())) <= 120


def test_beside_lists_what_is_shared_once_and_then_two_columns():
    text = beside_text(replication(), fixed_replication())
    before, after = text.split(" here they part ")
    assert before.count("replication.commit(broker=0)") == 1
    assert "   9  replication.restart(broker=1)  [broker 1]           |    9  replication.restart_keeping_log" in after
    assert "VIOLATED at step 12: strong_isr" in text and "no step violates anything" in text


def test_beside_of_the_same_history_never_parts():
    assert "here they part" not in beside_text(replication(), replication())


def test_a_history_that_goes_on_parts_where_the_other_ends():
    shorter = recording(3)
    text = beside_text(shorter, recording(5))
    assert text.index("   3  ") < text.index("here they part") < text.index("   4  ")


def test_control_signs_do_not_reach_the_terminal():
    history = replication()
    history["steps"][0]["words"] = "one\x1b[31m\ntwo"
    assert "\x1b" not in to_text(history)


def test_text_refuses_what_is_not_a_history():
    with pytest.raises(HistoryError):
        to_text({"format": 1})


@pytest.mark.parametrize(
    "value, text",
    [
        ({"leader": None, "isr": [0, 1]}, "{leader: null, isr: [0, 1]}"),
        ("null", '"null"'),
        ("", '""'),
        ("12", '"12"'),
        ("0x9b", "0x9b"),
        ("a\nb", '"a\\nb"'),
        (ABSENT, "—"),
        (True, "true"),
    ],
)
def test_values_read_well_and_are_not_mistaken(value, text):
    assert show(value) == text


def test_long_lists_show_where_they_differ():
    log = [f"m{i}@0" for i in range(30)]
    assert show_change(log, [*log, "m30@1"]) == ("[… 30 alike]", "[… 30 alike, m30@1]")
    assert all(len(text) == LIMIT for text in show_change("a" * 99, "b" * 99))


def numbered(first, *steps):
    """A history of these steps, whose two brokers are called `first` and the next number."""
    history = replication()
    history["steps"] = [
        {**step, "text": text.format(a=first, b=first + 1), "violates": []}
        for step, text in zip(history["steps"], steps)
    ]
    return history


def test_histories_whose_ids_are_called_differently_are_the_same():
    """A model counts from 0, and a cluster from 1."""
    steps = "session.start(b={a}) -> OK", "session.start(b={b}) -> OK", "election.register(b={a}) -> OK"
    text = beside_text(numbered(0, *steps), numbered(1, *steps))
    assert "left and right: b=0 is b=1, b=1 is b=2" in text and "here they part" not in text
    assert text.count("both:") == 1 and "   3  election.register(b=0) -> OK\n" in text
    other = beside_text(numbered(0, *steps), numbered(1, *steps[:2], "election.register(b={b}) -> OK"))
    assert "   2  session.start(b=1) -> OK\n" in other and other.count("election.register(b=") == 2
