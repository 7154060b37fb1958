"""The catalogue: it has the models of every folder, and reads only the folder of the system that is asked for."""

import subprocess
import sys

from kafkaproof.spec.catalogue import ROOT, SYSTEMS, all_models, composed_of, find, refinements

ASKED = """
import sys
from kafkaproof.spec.catalogue import find
find("replication")
print({name.split(".")[2] for name in sys.modules if name.startswith("kafkaproof.spec.")} & {SYSTEMS})
"""


def folders(name):
    return {file.relative_to(ROOT).parts[0] for file in ROOT.glob(f"*/**/{name}")} - {"language"}


def test_every_folder_with_models_is_listed():
    assert folders("model.py") == {system.replace("-", "_") for system in SYSTEMS}
    assert [*dict.fromkeys(model.system for model in all_models())] == [*SYSTEMS]


def test_a_system_is_found_without_the_others():
    others = {system.replace("-", "_") for system in SYSTEMS} - {"replication"}
    asked = ASKED.replace("{SYSTEMS}", repr(others))
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"


def test_every_refinement_is_found():
    assert sorted(r.name for r in refinements()) == ["electing", "group", "replica"]
    assert folders("refinement.py") == {"replica", "partition", "group"}


def test_a_part_names_the_systems_that_are_composed_of_it():
    for model in all_models():
        for part in model.parts:
            assert model.system in composed_of(*part) and find(*part)
    assert composed_of("election", "fenced") == ["cluster"] and composed_of("consumer", "checked") == []
