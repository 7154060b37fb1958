"""Each kind of tampering with a recorded migration is found at its record."""

from functools import cache

import pytest

from kafkaproof.traces.migration.judge import judge
from kafkaproof.traces.migration.metadata_log import read_metadata
from kafkaproof.traces.migration.timeline import Timeline
from kafkaproof.traces.reading.recording import Recording
from tests.traces.migration.kinds import KINDS, Scene
from tests.traces.replaying import BUNDLED, read
from tests.traces.tampering import renumbered

MIGRATION = BUNDLED / "3.9.1-migration"


@cache
def scene() -> Scene:
    (metadata,) = read_metadata(MIGRATION / "metadata")
    return Scene(list(read(MIGRATION).transactions), metadata)


def divergence(log, metadata):
    recording = Recording(MIGRATION, None, log, [])
    return judge(recording, "", log, [Timeline(metadata)]).divergence


def test_the_original_conforms_also_when_it_is_numbered_anew():
    assert divergence(renumbered(scene().log), scene().metadata) is None


@pytest.mark.parametrize("name", KINDS)
def test_is_found_at_its_record(name):
    tampered = KINDS[name](scene())
    log = renumbered(tampered.log)
    found = divergence(log, tampered.metadata)
    assert found, "nothing is found"
    places = {new.zxid: old.zxid for new, old in zip(log, tampered.log)}
    assert (places[found[0]], found[1]) == (tampered.at, found[1])


def test_there_are_more_than_thirty_kinds():
    assert len(KINDS) > 30
