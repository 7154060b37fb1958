"""What ``kafkaproof pack`` refuses, where an archive is refused, and how a driver knows its executors."""

import pytest

from kafkaproof.checker.basics import cache
from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.compile import machine
from kafkaproof.checker.compile.machine import SPEED, made_here, take
from kafkaproof.checker.pack import archive
from kafkaproof.checker.spark.cluster import Given, LevelTask
from kafkaproof.checker.spark.session import Place
from tests.checker.arguments import replication
from tests.checker.models import kernel_of
from tests.toys import queue

SMALL = replication("kip320", 2, 1, 1, 1)
KERNEL = kernel_of(queue())


def test_a_name_that_spark_does_not_unpack_is_refused(kafkaproof):
    assert "give it a name that ends in .tar.gz" in kafkaproof("pack", "kafkaproof.pex").complaint


def test_it_says_what_to_install(kafkaproof, monkeypatch):
    monkeypatch.setattr(archive.importlib.util, "find_spec", lambda name: None)
    assert "pip install 'kafkaproof[pack]'" in kafkaproof("pack").complaint


def test_what_pex_says_is_told_in_a_line(kafkaproof, monkeypatch, tmp_path):
    monkeypatch.setattr(archive, "LIBRARIES", ())
    monkeypatch.setattr(
        archive, "_building", lambda sources, tree: ["sh", "-c", "echo no room >&2; echo left >&2; exit 1"]
    )
    assert "PEX cannot make the archive: no room left" in kafkaproof("pack", "here.tar.gz").complaint
    assert not list(tmp_path.glob("*.tar.gz*"))


@pytest.mark.parametrize(
    "options, told",
    [
        (("--archive", "nosuch.tar.gz", "--master", "local-cluster[1,1,1024]"), "there is no archive nosuch.tar.gz"),
        (("--archive", "a.pex", "--master", "local-cluster[1,1,1024]"), "its name must end in .tar.gz"),
        (("--archive", "a.tar.gz"), "--archive is for executors of a cluster"),
        (("--conf", "executor.memory=4g"), "is not a setting of Spark"),
        (("--conf", "spark.executor.memory"), "is not a setting of Spark"),
    ],
)
def test_what_cannot_be_used_is_refused(kafkaproof, capsys, options, told):
    try:
        assert told in kafkaproof(*SMALL, *options).complaint
    except SystemExit as refused:  # what argparse refuses
        assert refused.code == 2 and told in capsys.readouterr().err


def test_an_archive_elsewhere_is_left_to_spark():
    Place("yarn", "hdfs:///shared/kafkaproof.tar.gz").require_possible()


def test_an_executor_of_another_version_is_refused(run_directory):
    task = LevelTask(run_directory.uri, KERNEL.compiled, 2, None, None)
    with pytest.raises(UserError, match="another version of kafkaproof"):
        list(task.probe(0, Given("another", made_here(KERNEL.compiled.text))))


def test_machine_code_is_taken_from_a_machine_of_the_same_kind_alone(monkeypatch, tmp_path):
    text = KERNEL.compiled.text
    key, code = made_here(text)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    take(text, ("0" * 64, code))
    assert not list(tmp_path.rglob("*.o"))
    take(text, (key, code))
    monkeypatch.setattr(machine, "compiled", lambda text, speed: pytest.fail("compiled again"))
    assert machine._object_of(text, SPEED) == code


def test_without_a_home_machine_code_is_kept_among_temporary_files(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(cache.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    assert cache.cache_directory() == tmp_path / "kafkaproof" / "kernels"
