"""A transition is named by its function: its name stands as text only in the folder of its own system, and in tests."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from kafkaproof.spec.catalogue import all_models

ROOT = Path(__file__).parents[1]
OTHER_WORDS = {
    "impl/harness/driving/catalogue.py": "what may be done to a cluster, as files of faults say it",
    "impl/broker/orders.py": "what a driver tells a broker to do",
    "traces/zookeeper/znodes/topics.py": "kinds of znodes",
    "traces/explain/partitions/strategies.py": "Kafka's election strategies",
}
"""Where other vocabularies are declared that share words with transitions."""


def systems_by_name() -> dict[str, set[str]]:
    """The folders of the systems that have a transition of a name, or where it is written: with its module, or of several
    words, since one is a word.
    """
    found = defaultdict(set)
    for model in all_models():
        for transition in model.transitions:
            for name in (transition.name, transition.function.__name__):
                if name == transition.name or "_" in name:
                    written = transition.function.__module__.split(".")[2]
                    found[name] |= {model.system.replace("-", "_"), written}
    return found


def texts(path: Path) -> list[tuple[int, str]]:
    """The string constants of a file, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [(n.lineno, n.value) for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def is_at_home(path: Path, systems: set[str]) -> bool:
    """Whether a file is of one of the systems."""
    return path.parts[0] == "spec" and path.parts[1] in systems


@pytest.mark.parametrize("package", ("spec", "checker", "impl", "traces"))
def test_no_name_of_a_transition_is_a_text_outside_its_system(package):
    known, found = systems_by_name(), []
    for path in sorted((ROOT / package).rglob("*.py")):
        place = path.relative_to(ROOT)
        if str(place) not in OTHER_WORDS:
            named = (each for each in texts(path) if each[1] in known and not is_at_home(place, known[each[1]]))
            found += [f"{place}:{line}: {text}" for line, text in named]
    assert not found, "name it by its function: function.__name__"


def test_the_files_of_other_words_are_there_and_need_to_be_listed():
    known = systems_by_name()
    for place in OTHER_WORDS:
        assert any(text in known for _, text in texts(ROOT / place)), place
