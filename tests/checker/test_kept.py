"""What is kept of the catalogue's models: it is used again only for the same model, properties, scope and text."""

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from kafkaproof.checker.basics import source
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model import kept
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.model import always

MODEL = find("replication", "kip320")[0]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, of a process that began when all files had long been as they are."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kept, "_BEGAN", time.time() + 2 * kept.MARGIN)
    kept._text.cache_clear()
    yield tmp_path
    kept._text.cache_clear()


def asked(model=MODEL, properties=MODEL.properties, key=()):
    """Whether something is made anew."""
    made = []
    kept.kept_for(model, properties, key, lambda: made.append(1))
    return bool(made)


def test_what_was_made_is_used_again():
    assert asked() and not asked()
    assert asked(key=("other",)) and asked(properties=MODEL.properties[:1])
    assert not asked()


def true(s):
    return True


def test_of_a_changed_copy_nothing_is_kept():
    copy = replace(MODEL, transitions=MODEL.transitions[:1])
    asked()
    for _ in range(2):
        assert asked(copy) and asked(MODEL, (*MODEL.properties, always(true)))


def test_of_text_that_changed_after_the_process_began_nothing_is_kept(tmp_path, monkeypatch):
    file = tmp_path / "changed.py"
    file.write_text("")
    monkeypatch.setattr(kept, "modules", lambda: {**source.modules(), "changed.py": file})
    os.utime(file, (kept._BEGAN, kept._BEGAN))
    assert asked() and asked()


def test_a_damaged_file_is_made_again(cache):
    asked()
    (path,) = cache.rglob("*.made")
    path.write_bytes(path.read_bytes()[:-1])
    assert asked() and not asked()


def test_a_kernel_is_the_same_from_the_cache():
    one, other = (Kernel(MODEL, MODEL.scope, MODEL.properties) for _ in range(2))
    assert one.compiled == other.compiled and one.compiled is not other.compiled
    assert Kernel(MODEL, MODEL.scope, MODEL.properties, symmetric=True).compiled != one.compiled
    assert Kernel(MODEL, MODEL.others["quick"], MODEL.properties).compiled != one.compiled


ALONE = """
import sys
from kafkaproof.checker.commands.main import main
code = main(["check", "replication", "--variant", "kip101", "--scope", "quick", "--run-dir", sys.argv[1]])
print(code, sorted({"numba", "z3", "pyspark"} & set(sys.modules)))
"""


def test_a_small_check_loads_no_library_that_only_larger_ones_need(cache):
    told = subprocess.run([sys.executable, "-c", ALONE, cache / "run"], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "1 []"
