"""What was found or generated of the catalogue's models, kept on this machine until the text of kafkaproof changes."""

from __future__ import annotations

import hashlib
import pickle
import platform
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import TypeVar

from kafkaproof.checker.basics.cache import cache_directory, keep, kept
from kafkaproof.checker.basics.source import modules, source
from kafkaproof.spec.catalogue import SYSTEMS, models_of
from kafkaproof.spec.language.accepted import require_accepted
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model, Property

Made = TypeVar("Made")
MARGIN = 30.0
"""Text that changed later than so many seconds before this process began may not be what it has imported."""
_BEGAN = time.time()


def kept_for(model: Model, properties: tuple[Property, ...], key: tuple, make: Callable[[], Made]) -> Made:
    """What `make` makes of a model and these properties, or what it made before; `key` says what else it depends on.

    Only what is the catalogue's own, and whose text is surely that of the files, is kept.
    """
    text = _text() if _is_listed(model, properties) else None
    if text is None:
        return make()
    parts = (text, platform.python_version(), version("numpy"), model.name, [p.name for p in properties], key)
    path = cache_directory() / f"{hashlib.sha256(repr(parts).encode()).hexdigest()}.made"
    content = kept(path)
    if content is None:
        made = make()
        keep(path, pickle.dumps(made))
        return made
    return pickle.loads(content)


def require_accepted_once(model: Model, scope: Scope, properties: tuple[Property, ...] | None = None) -> None:
    """As `require_accepted`, with these properties in place of the model's; what was accepted before is not looked at."""
    asked = model if properties is None else replace(model, properties=properties)
    kept_for(model, asked.properties, ("accepted", sorted(scope.items())), lambda: require_accepted(asked, scope))


def _is_listed(model, properties):
    """Whether a model is one of the catalogue, with properties of its own: a changed copy has the same name."""
    own = {id(prop) for prop in model.properties}
    listed = model.system in SYSTEMS and any(model is other for other in models_of(model.system))
    return listed and all(id(prop) in own for prop in properties)


@cache
def _text():
    """A hash of the text of kafkaproof, None where this process may have imported another one."""
    changed = max(path.stat().st_mtime for path in modules().values())
    return source() if changed < _BEGAN - MARGIN else None
