"""Pictures of the failures of the migration. ``python -m tests.docs.pictures [NAME ...]`` (`make pictures`) draws them anew."""

import sys
from pathlib import Path
from typing import NamedTuple

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.pictures.histories import history_of
from kafkaproof.checker.pictures.svg import to_svg
from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.domains import Size
from kafkaproof.spec.language.model import Model

DOCS = Path(__file__).parents[2] / "docs"


class Shown(NamedTuple):
    """What a picture shows: a variant, a property that it violates, and how many states that takes at the scope."""

    variant: str
    prop: str
    states: int

    @property
    def model(self) -> Model:
        return next(each for each in all_models() if (each.system, each.variant) == ("migration", self.variant))

    @property
    def scope(self) -> Size:
        """The first recorded scope at which that is so."""
        return next(size for size, found in self.model.expected.items() if found.get(self.prop) == self.states)


PICTURES = {
    "failover": Shown("fenced", "migration_ends", 22),
    "lost-answer": Shown("fenced", "ruler_is_heard", 19),
    "late-write": Shown("fenced", "ruler_is_heard", 21),
    "epochs": Shown("fenced", "may_write", 27),
    "unsynchronised": Shown("unsynchronised", "agree_at_rest", 21),
    "deletions-copied": Shown("deletions-copied", "no_deletion_is_left", 20),
    "version-of-before": Shown("version-of-before", "ruler_is_heard", 23),
    "version-read-late": Shown("version-read-late", "ruler_is_heard", 23),
    "polls-once": Shown("polls-once", "migration_ends", 9),
    "heard-early": Shown("heard-early", "migration_ends", 10),
    "created-anew": Shown("created-anew", "agree_at_rest", 26),
    "half-created": Shown("half-created", "migration_ends", 30),
    "left": Shown("migration-left", "deleted_as_asked", 37),
    "hasty": Shown("hasty", "nothing_lost", 22),
    "hybrid": Shown("hybrid", "replica_is_told", 8),
    "hybrid-together": Shown("hybrid-together", "replica_is_told", 5),
    "epochs-kept": Shown("epochs-kept", "leader_knows_isr", 3),
    "removed-kept": Shown("removed-kept", "no_log_is_left", 4),
    "added-ignored": Shown("added-ignored", "leader_knows_replicas", 3),
    "strays-by-name": Shown("strays-by-name", "replica_is_told", 4),
    "never-full": Shown("never-full", "cache_has_topics", 3),
}


def file_of(name: str) -> Path:
    """Where a picture is."""
    return DOCS / f"migration-{name}.svg"


def drawn(shown: Shown) -> str:
    """The picture: the shortest way to the violation."""
    explored = explore_here(shown.model, shown.scope, only=shown.prop, keep_going=False)
    violated = next(prop for prop in shown.model.properties if prop.name == shown.prop)
    return to_svg(history_of(explored.traces[shown.prop], violated))


if __name__ == "__main__":
    for each in sys.argv[1:] or PICTURES:
        file_of(each).write_text(drawn(PICTURES[each]), encoding="utf-8")
        print(file_of(each))
