"""Models of one's own, as commands name them: ``FILE.py:MODEL``, or ``package.module:MODEL`` of what can be imported."""

from __future__ import annotations

import linecache
import re
import sys
import traceback
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from kafkaproof.spec.errors import UserError, meant
from kafkaproof.spec.language.declared import require_whole
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.subset import OWN, place_in

USAGE = "a model of your own is FILE.py:MODEL or package.module:MODEL"
ENDING = ".py"


def is_own(name: str | None) -> bool:
    """Whether a name is of a model of one's own, and not of a system."""
    return name is not None and re.fullmatch(rf".+\{ENDING}(:[^/]*)?|[A-Za-z_][\w.]*:\w*", name) is not None


def own_model(name: str) -> Model:
    """The model that `name` says, with where it came from in `origin`; raises UserError."""
    place, attribute = (name, "") if name.endswith(ENDING) else name.rsplit(":", 1)
    module = loaded_file(place) if place.endswith(ENDING) else _imported(place)
    names = [known for known, value in vars(module).items() if isinstance(value, Model)]
    found = getattr(module, attribute, None) if attribute else None
    if not isinstance(found, Model):
        raise UserError(_no_model(place, attribute, found, names))
    require_whole(found)
    return replace(found, origin=absolute(name))


def absolute(name: str) -> str:
    """A name with the whole path of its file, if it is in one."""
    place, colon, attribute = name.rpartition(":")
    return f"{Path(place).resolve()}{colon}{attribute}" if place.endswith(ENDING) else name


def _no_model(place, attribute, found, names):
    """What is wrong with a name that is not of a model, in words."""
    there = f"its models are {', '.join(f'{place}:{name}' for name in names)}" if names else "it has no Model"
    if not attribute:
        return f"{place}: say which model; {there}"
    if found is not None:
        return f"{place}:{attribute} is a {type(found).__name__}, not a Model; {there}"
    return f"{place} has no {attribute!r}; {there}{meant(attribute, names)}"


def shown(origin: str) -> str:
    """Where a model came from as a command may name it: relative to the working directory if its file is below it."""
    place, _, attribute = origin.rpartition(":")
    path = Path(place)
    return f"{path.relative_to(Path.cwd())}:{attribute}" if path.is_relative_to(Path.cwd()) else origin


def beside(name: str, file: Path) -> str:
    """A name as a file says it: the place of another file is seen from there."""
    place, colon, attribute = name.partition(":")
    return f"{file.parent / place}{colon}{attribute}" if place.endswith(ENDING) else name


def loaded_file(path: str, usage: str = USAGE) -> ModuleType:
    """A file of Python as a module, under a name that no other module has; raises UserError with its line."""
    file = Path(path)
    if not file.is_file():
        there = [str(each) for each in file.parent.glob(f"*{ENDING}")] if file.parent.is_dir() else []
        raise UserError(f"no file {path}; {usage}{meant(path, there)}")
    if file.suffix != ENDING:
        raise UserError(f"{path} is not a file of Python; {usage}")
    return _executed(file.resolve(), file.read_bytes())


@cache
def _executed(file: Path, text: bytes) -> ModuleType:
    """The module of a file that has this text. Modules beside it can be imported, and what it prints is no output."""
    module = ModuleType(OWN + re.sub(r"\W", "_", file.stem))
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    linecache.checkcache(str(file))
    _look_in(file.parent)
    try:
        with redirect_stdout(sys.stderr):
            exec(compile(text, str(file), "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:
        raise UserError(_told(error, str(file))) from error
    return module


def _imported(name):
    _look_in(Path.cwd())
    try:
        with redirect_stdout(sys.stderr):
            return import_module(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise UserError(f"no module {name} here or installed; {USAGE}") from error
        raise UserError(_told(error, None)) from error


def _look_in(folder):
    """Let modules of a folder be imported, where no other has their name."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _told(error, file):
    """What somebody's own text has raised: file, line and message."""
    message = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError):
        return f"{place_in(error.filename or file or '', error.lineno or 1)}: {type(error).__name__}: {error.msg}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    theirs = [f for f in frames if f.filename == file] or frames
    return f"{place_in(theirs[-1].filename, theirs[-1].lineno or 1)}: {message}"
