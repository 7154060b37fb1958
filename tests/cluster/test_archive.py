"""Workers that have nothing but Python and Spark get the rest as an archive."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafkaproof.checker.pack.archive import pack
from tests.checker.arguments import counts, kept, replication
from tests.cluster.moments import SMALLER, SMALLER_COUNTS, SPREAD, on_spark
from tests.cluster.standalone import Standalone


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The environment of a process that finds a Python in which nothing is installed, a Java, and no home of ours."""
    place = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "python"], check=True)
    java = Path(shutil.which("java")).resolve().parent
    return {"PATH": f"{place}/python/bin:{java}:/usr/bin:/bin", "HOME": str(place)}


@pytest.fixture(scope="module")
def standalone(tmp_path_factory, bare):
    """A cluster of two workers in that environment."""
    with Standalone(tmp_path_factory.mktemp("standalone"), bare) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """What `kafkaproof pack` makes."""
    target = tmp_path_factory.mktemp("packed") / "kafkaproof.tar.gz"
    pack(target)
    return target


@pytest.mark.parametrize("module", ["kafkaproof", "numpy", "pyspark"])
def test_the_workers_have_nothing_installed(bare, module):
    python = shutil.which(f"python3.{sys.version_info.minor}", path=bare["PATH"])
    command = [python, "-c", f"import {module}"]
    answer = subprocess.run(command, env=bare, cwd=bare["HOME"], capture_output=True, text=True)
    assert f"No module named '{module}'" in answer.stderr


def test_the_archive_is_all_that_they_need(begin, answer_of, standalone, bare, archive, tmp_path):
    options = [*kept(tmp_path / "run", standalone.master), "--archive", archive, "--conf", "spark.cores.max=2"]
    check_counts(answer_of(begin(*replication(*SMALLER), *options, spread=SPREAD)))
    assert on_spark(tmp_path / "run") > 0
    assert not list(Path(bare["HOME"]).rglob("*.native")), "numba had to be asked there"


def test_without_the_archive_they_refuse_in_a_line(begin, answer_of, standalone, tmp_path):
    bare_python = {**os.environ, "PYSPARK_PYTHON": f"python3.{sys.version_info.minor}"}
    options = kept(tmp_path / "run", standalone.master)
    answer = answer_of(begin(*replication(*SMALLER), *options, spread=SPREAD, env=bare_python))
    assert "the executors cannot load the model" in answer.err and "No module named" in answer.err
    assert answer.code == 2 and "Traceback" not in answer.err


def test_a_local_cluster_of_two_counts_the_same(begin, answer_of, archive, tmp_path):
    environment = {**os.environ, "SPARK_WORKER_DIR": str(tmp_path / "work"), "SPARK_LOCAL_DIRS": str(tmp_path)}
    options = [*kept(tmp_path / "run", "local-cluster[2,1,1024]"), "--archive", archive]
    check_counts(answer_of(begin(*replication(*SMALLER), *options, spread=SPREAD, env=environment)))


def check_counts(answer):
    """The answer is that of any other master."""
    assert answer.code == 0, answer.err
    assert counts(answer.result) == SMALLER_COUNTS
