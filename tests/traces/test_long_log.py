"""The synthesised log of the benchmark: made the same each time, and one that a cluster could have written."""

import subprocess
import sys
from pathlib import Path

import pytest

from kafkaproof.traces.reading.recording import read_recording
from tests.traces.replaying import told

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "long_log.py"
SIZES = ["--transactions", "2500", "--topics", "4", "--partitions", "6", "--brokers", "5"]


def written(directory: Path, *more: str) -> Path:
    subprocess.run([sys.executable, str(SCRIPT), *SIZES, *more, str(directory)], check=True, capture_output=True)
    return directory


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return written(tmp_path_factory.mktemp("long") / "log")


def test_every_record_of_it_is_explained_and_all_kinds_of_work_are_in_it(log):
    found = told(read_recording(log))
    assert found.result.divergence is None and found.result.undecided is None
    assert found.audit.unexplained == [] and found.audit.not_followed == 0
    assert found.audit.records >= 2500
    strategies = {each.explanations[0].strategy for each in found.streams.partitions}
    assert strategies >= {
        "new_topic",
        "offline",
        "preferred",
        "controlled_shutdown",
        "remove_from_isr",
        "isr_expand",
        "isr_shrink",
        "epoch_bump",
    }
    assert len(found.result.controllers.all) >= 3
    assert found.streams.deletions and found.streams.made
    assert {each.outcome for each in found.streams.reassignments} == {"finished"}


def test_the_same_seed_writes_the_same_bytes(log, tmp_path):
    def content(directory: Path) -> list[bytes]:
        return [file.read_bytes() for file in sorted((directory / "version-2").iterdir())]

    assert content(written(tmp_path / "again")) == content(log)
    assert content(written(tmp_path / "other", "--seed", "2")) != content(log)
