"""Which part of a broker's process a step belongs to."""

import pytest

from kafkaproof.spec.group import join
from kafkaproof.spec.language.model import FAULT
from kafkaproof.spec.running.processes import ELECTION, PARTITION, VARIANTS, cluster, part_of


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("part", (ELECTION, PARTITION))
def test_the_folder_of_a_function_tells_its_part(variant, part):
    functions = [t.function for t in cluster(variant).model(part).transitions if t.kind != FAULT]
    assert {part_of(function) for function in functions} == {part}


def test_a_function_of_another_system_is_refused():
    with pytest.raises(ValueError, match="group.join.join is no step of a broker's process"):
        part_of(join.join)
