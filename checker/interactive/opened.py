"""States that `explore` opens at and that are no initial states, such as those of a recording.

Who can read such a thing tells of it by an entry point of the group `GROUP`: a function of a directory and a variant
(None: the one that was recorded), which gives an `Opened`, or None where the directory is nothing that it can read.
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import Plain

GROUP = "kafkaproof.opened"


@dataclass(frozen=True)
class Opened:
    """States of a model, each of which may be the one, the likeliest first; they count as initial states.

    `told`: what they are, a paragraph each; `command`: the words after `kafkaproof explore`; `paths`: the steps behind
    which each is opened; `labels`: what distinguishes each of several.
    """

    model: Model
    scope: Scope
    states: tuple[Plain, ...]
    told: tuple[str, ...]
    command: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...] = ((),)
    labels: tuple[str, ...] = ()


def opened_in(directory: Path, variant: str | None) -> Opened | None:
    """The state that a directory leads to; None where nobody reads it. Raises UserError."""
    found = (point.load()(directory, variant) for point in importlib.metadata.entry_points(group=GROUP))
    return next(filter(None, found), None)
