"""Finds the recordings of real clusters that the tests of traces/ read."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
RECORDINGS = Path(os.environ.get("KAFKAPROOF_RECORDINGS", REPOSITORY / ".." / "shared" / "kafka-traces"))
DIRECTORIES = sorted(log.parents[2] for log in RECORDINGS.glob("*/*/zookeeper/version-2/log.1"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `recording_directory` once for each recording, or skip it when there is none."""
    if "recording_directory" in metafunc.fixturenames:
        reason = f"no recordings in {RECORDINGS} (set KAFKAPROOF_RECORDINGS)"
        nothing = [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
        names = ["-".join(directory.parts[-2:]) for directory in DIRECTORIES]
        metafunc.parametrize("recording_directory", DIRECTORIES or nothing, ids=names or ["none"])
