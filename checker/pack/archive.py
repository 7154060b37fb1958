"""Makes the archive: a PEX, which any Python of this minor version runs, with the machine code that all models need."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import kafkaproof
from kafkaproof.checker.basics.cache import BROUGHT, NAME
from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.source import modules
from kafkaproof.checker.spark.session import ARCHIVE

LIBRARIES = ("llvmlite", "numba", "numpy", "pyarrow")
"""What executors import besides; PySpark they have from Spark itself."""
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
WARM_UP = "from kafkaproof.checker.spark.partition import warm_up; warm_up(1, 2); warm_up(9, 2)"
"""Short states are held whole, long ones in a tree."""
FAST = 1
"""The level of compression: higher ones take a minute for a tenth less."""


def pack(target: Path) -> None:
    """Write the archive `target`; raises UserError when its name is not one that Spark unpacks, or when PEX fails."""
    if not target.name.endswith(ARCHIVE):
        raise UserError(f"Spark unpacks no archive called {target}; give it a name that ends in {ARCHIVE}")
    if importlib.util.find_spec("pex") is None:
        raise UserError("pack needs PEX; install it: pip install 'kafkaproof[pack]'")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kafkaproof-pack-") as work:
        sources, tree = Path(work, "sources"), Path(work, "tree")
        _copy_sources(sources)
        _run(_building(sources, tree), Path(work))
        _round_times(tree)
        _run([str(tree / "pex"), "-c", WARM_UP], Path(work))
        shutil.copytree(Path(work) / NAME, tree / "kafkaproof" / BROUGHT.name)
        _write(tree, target)


def _copy_sources(folder: Path) -> None:
    files = {"kafkaproof/__init__.py": Path(kafkaproof.__path__[0], "__init__.py"), **modules()}
    for name, path in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)


def _building(sources: Path, tree: Path) -> list[str]:
    """The command of PEX. The libraries are those of this environment; outside any, PEX fetches the same versions."""
    libraries = [f"{name}=={importlib.metadata.version(name)}" for name in LIBRARIES]
    environment = ["--venv-repository", sys.prefix] if sys.prefix != sys.base_prefix else []
    return [
        *(sys.executable, "-m", "pex", *libraries, *environment),
        *("--sources-directory", str(sources), "--layout", "loose", "--output-file", str(tree)),
        *("--python-shebang", f"/usr/bin/env python{PYTHON}"),
        "--inherit-path=fallback",  # PySpark is on the path that Spark gives
    ]


def _run(command: list[str], work: Path) -> None:
    """Run a part of the work in the folder `work`, where PEX has its caches."""
    environment = {**os.environ, "PEX_ROOT": str(work / "pex"), "XDG_CACHE_HOME": str(work)}
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
    if done.returncode:
        reason = " ".join(done.stderr.split())[-300:] or "no reason given"
        raise UserError(f"PEX cannot make the archive: {reason}")


def _round_times(tree: Path) -> None:
    """Give files whole seconds, as the archive keeps them: by them Python knows what was compiled before."""
    for path in tree.rglob("*"):
        seconds = int(path.stat().st_mtime)
        os.utime(path, (seconds, seconds))


def _write(tree: Path, target: Path) -> None:
    """Write the archive at once or not at all."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with tarfile.open(partial, "w:gz", compresslevel=FAST) as archive:
            for path in sorted(tree.iterdir()):
                archive.add(path, path.name)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
