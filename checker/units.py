"""Compiling specification functions with numba, one generated module for each function.

numba's own cache keys on a function's code and not on its globals, so that a rebound copy would get the
machine code of the original. Here each function becomes a module of its own whose name is a hash of its
text, of all that it calls, and of the versions of numba and Python.
Nothing is shared between two kernels: numba tells two compilations of one function apart, in the names by
which machine code is linked, by numbers that it gives out as a process goes on. Code from the disk and code
compiled now could bear the same name and work on records of different shape. So `seal` puts a hash of the
whole kernel, its scope included, into every name.
The modules live in the user's cache directory, and are sent as text to Spark's executors.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import importlib
import inspect
import os
import sys
import tempfile
import textwrap
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType

import numba
from numba.core import config

from checker.errors import UserError
from spec.language.rebind import globals_used

HEADER = "from numba import njit\n"
PREFIX = "kafkaproof_unit_"


class UnitError(UserError):
    """A function uses something that cannot be compiled; the message names it and where it stands."""


def cache_directory() -> Path:
    """Where generated modules and machine code are kept: ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kafkaproof" / "kernels"


@contextmanager
def compile_lock(entry: str):
    """Let one process at a time compile `entry`: numba's cache of a module does not bear two at once.

    That is why only the entry is kept on disk, with all that it calls linked into it; a process compiles
    each other function once.
    """
    cache_directory().mkdir(parents=True, exist_ok=True)
    with open(cache_directory() / f"{entry}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Sources:
    """Generated modules by name, each written once; functions with the same text share one."""

    def __init__(self):
        self.texts: dict[str, str] = {}
        self._done: dict[FunctionType, str] = {}

    def add_text(self, text: str) -> str:
        """Add a module with this text; returns its name."""
        versions = f"{numba.__version__} {sys.version_info[:2]} {config.BOUNDSCHECK}"
        digest = hashlib.sha256(f"{versions}\n{text}".encode()).hexdigest()
        name = f"{PREFIX}{digest[:20]}"
        self.texts[name] = text
        return name

    def add(self, function: FunctionType, decorator: str = "@njit") -> str:
        """Add `function`, with the numba decorator given, and all that it calls; returns the module's name.

        Raises UnitError.
        """
        if function not in self._done:
            lines = [HEADER, *(self._binding(function, *item) for item in globals_used(function).items())]
            self._done[function] = self.add_text("\n".join([*lines, "", decorator, bare_source(function), ""]))
        return self._done[function]

    def seal(self, entry: str) -> tuple[dict[str, str], str]:
        """All modules and the entry's name, under names that no other entry's modules have."""
        digest = entry.removeprefix(PREFIX)
        sealed = f"{PREFIX}{digest[:10]}_"
        texts = {name.replace(PREFIX, sealed): text.replace(PREFIX, sealed) for name, text in self.texts.items()}
        return texts, entry.replace(PREFIX, sealed)

    def _binding(self, function, name, value):
        if isinstance(value, FunctionType):
            return f"from {self.add(value)} import {value.__code__.co_name} as {name}"
        if isinstance(value, int):
            return f"{name} = {int(value)}"
        raise UnitError(
            f"{function.__module__}.{function.__name__} uses {name}, which is neither a function nor a number"
        )


def bare_source(function: FunctionType) -> str:
    """The function's text without docstring and annotations, ready to be compiled."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise UnitError(f"{function.__module__}: {function.__name__} is not a plain function")
    if ast.get_docstring(definition) is not None:
        definition.body = definition.body[1:] or [ast.Pass()]
    for argument in definition.args.args:
        argument.annotation = None
    definition.returns = None
    definition.decorator_list = []
    return ast.unparse(tree)


def load(texts: dict[str, str], name: str) -> ModuleType:
    """Write the generated modules where they are missing, and import the one called `name`."""
    directory = cache_directory()
    written = [_write_once(directory / f"{module}.py", text) for module, text in texts.items()]
    if str(directory) not in sys.path:
        sys.path.append(str(directory))
    if any(written):
        importlib.invalidate_caches()
    return importlib.import_module(name)


def _write_once(path, text):
    if path.exists():
        return False
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)
    return True
