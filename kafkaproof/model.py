"""What a model of one's own is written with, checked with and drawn with: see docs/tutorial.md and docs/language.md.

- Domains of fields: `Flag`, `Number`, `Choice`, `Id`, `SetOf`, `Array`, `Sequence`, `Record`; `Bound` and `Budget` name
  what a scope limits; `NOBODY` is no id. `Size` is a scope: ``Size(brokers=2, versions=1)``.
- Sets and sequences, in transitions and properties: `contains`, `is_empty`, `only`, `with_member`, `without_member`,
  `everybody`, `union`, `intersection`, `difference`; `push`, `pop`.
- A `Model` has `Transition`s, whose pictures show `Arrow`s, and properties: `always`, `always_step`, `sometimes`,
  `eventually`, `eventually_always`. What liveness may assume: `weak`, `strong`, `finitely`, `at_last`.
- `gauge` and `counter` make the metrics of a model, which `show`, `explore` and scenarios have over a path.
- `model_of` is a model of kafkaproof's own, of which `rebound` makes a variant.
- `explore_here` explores a model in this process. `history_of` makes a history of a counterexample, which `render`,
  `to_svg` and `to_text` draw.
- `UserError` is raised where a model, a scope or a file is not as it must be; its text is one line.

Names elsewhere in `kafkaproof` may change from release to release.
"""

from kafkaproof.checker.check.local import Explored, explore_here
from kafkaproof.checker.pictures import render, to_svg, to_text
from kafkaproof.checker.pictures.histories import history_of
from kafkaproof.spec.catalogue import model_of
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.language.domains import (
    NOBODY,
    Array,
    Bound,
    Budget,
    Choice,
    Flag,
    Id,
    Number,
    Record,
    Sequence,
    SetOf,
    Size,
)
from kafkaproof.spec.language.fairness import at_last, finitely, strong, weak
from kafkaproof.spec.language.model import (
    Arrow,
    Model,
    Property,
    Transition,
    always,
    always_step,
    eventually,
    eventually_always,
    sometimes,
)
from kafkaproof.spec.language.sequences import pop, push
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    everybody,
    intersection,
    is_empty,
    only,
    union,
    with_member,
    without_member,
)
from kafkaproof.spec.metrics.metric import counter, gauge

__all__ = [
    "NOBODY",
    "Array",
    "Arrow",
    "Bound",
    "Budget",
    "Choice",
    "Explored",
    "Flag",
    "Id",
    "Model",
    "Number",
    "Property",
    "Record",
    "Sequence",
    "SetOf",
    "Size",
    "Transition",
    "UserError",
    "always",
    "always_step",
    "at_last",
    "contains",
    "counter",
    "difference",
    "eventually",
    "eventually_always",
    "everybody",
    "explore_here",
    "finitely",
    "gauge",
    "history_of",
    "intersection",
    "is_empty",
    "model_of",
    "only",
    "pop",
    "push",
    "render",
    "sometimes",
    "strong",
    "to_svg",
    "to_text",
    "union",
    "weak",
    "with_member",
    "without_member",
]
