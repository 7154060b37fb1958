"""Each kind of tampering is reported at the right record of a bundled recording; the whole table is made by hand."""

from functools import cache

import pytest

from tests.traces.replaying import FENCED, FIVE_FENCED, FIVE_LEGACY, REASSIGN, read, settled
from tests.traces.tamperings import KINDS, Scene
from tests.traces.tamperings.apply import outcome, places
from tests.traces.tamperings.table import page

SMALLEST_FIRST = (REASSIGN, FENCED, FIVE_LEGACY, FIVE_FENCED)
OF_OTHERS = {
    "isr_of_one_that_is_gone",
    "directory_failure_of_another",
    "notification_of_one_that_never_registered",
    "unclean_while_the_leader_lives",
    "election_past_a_live_replica",
}
"""Kinds that apply to none of these."""


@cache
def known(directory):
    scene = Scene(read(directory))
    return scene, places(scene), settled(read(directory))


def one(name: str):
    """What replay says of a kind at the first place of the smallest recording where it applies."""
    for directory in SMALLEST_FIRST:
        scene, found, result = known(directory)
        if name in found:
            return outcome(scene, directory.name, KINDS[name], found[name][0], result)
    return None


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if not kind.unseen])
def test_is_reported_where_it_is(name):
    said = one(name)
    assert (said is None) == (name in OF_OTHERS)
    assert said is None or said.found, said


@pytest.mark.parametrize("end, shown", [(0x32E, 0x322), (0x381, 0x368), (0x4C4, 0x4C4)])
def test_a_shutdown_without_an_end_is_reported_where_it_begins(end, shown):
    scene, _, result = known(FIVE_LEGACY)
    record = next(record for record in scene.records() if record.zxid == end)
    tampered = KINDS["session_end_lost"].function(record)
    said = outcome(scene, "", KINDS["session_end_lost"], tampered, result)
    assert (said.found, said.at_once, tampered.at) == (True, True, shown)


def test_there_are_many_kinds_and_all_are_described():
    assert len(KINDS) > 100
    assert all(20 < len(kind.text) < 130 and "\n" not in kind.text for kind in KINDS.values())


def test_a_report_that_comes_too_late_does_not_count():
    scene, found, result = known(REASSIGN)
    real = found["version_skipped"][0]
    early = outcome(scene, "", KINDS["version_skipped"], real._replace(at=real.at - 2, until=real.at - 1), result)
    assert not early.found and early.text.startswith(hex(real.at))


def test_the_table_counts():
    said = [one("version_skipped"), one("version_skipped")._replace(found=False)]
    row = next(line for line in page(said, 2, 1).splitlines() if line.startswith("| `version_skipped`"))
    assert "| 1/2 | 1/2 | 2 |" in row
    assert "1 of 2 found" in page(said, 2, 1)
