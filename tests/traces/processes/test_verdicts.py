"""What is remembered of properties is what they say when all of them are asked anew."""

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from kafkaproof.spec.language.domains import values
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.plain import new_state, put
from kafkaproof.spec.running.observed_cluster import observed_cluster
from kafkaproof.spec.running.processes import ELECTION, PARTITION
from kafkaproof.traces.processes.state.verdicts import Verdicts, names_in
from kafkaproof.traces.processes.state.watched import before, watched

SIZES = {
    "brokers": 2,
    "replicas": 2,
    "partitions": 2,
    "min_isr": 1,
    "epochs": 3,
    "faults": 1,
    "log": 2,
    "records": 2,
    "leader_epochs": 3,
    "receivers": 2,
}


class Beside:
    """A state whose properties are remembered, and all of them asked anew."""

    def __init__(self, model):
        self.model, self.journal = model, {}
        plain = new_state(model.state, SIZES)
        model.initial(plain)
        self.state = watched(plain, self.journal)
        self.verdicts = Verdicts(model, self.state)
        self.leaves = [leaf for leaf in leaves(model.state, SIZES) if not leaf.spare]

    def write(self, writes, transition, arguments):
        """Write, as if this step did so, and compare what is said of it and of the state."""
        former = self.state.copy()
        for path, value in writes:
            put(self.state, path, value)
        written, changed = dict(self.journal), self.verdicts.forget(self.journal)
        self.journal.clear()
        asked = [p for p in self.model.properties if p.kind == "always" and not p.predicate(self.state)]
        assert list(self.verdicts.broken()) == asked
        of_step = [p for p in self.model.properties if p.kind == "step" and p.concerns(transition)]
        try:
            asked = [p for p in of_step if not p.predicate(former, self.state, *(arguments if p.of else ()))]
        except ValueError:
            reject()  # a strategy cannot be asked about what no step writes
        assert list(self.verdicts.broken_by(transition, arguments, before(self.state, written), changed)) == asked


@pytest.mark.parametrize("part", [ELECTION, PARTITION])
@pytest.mark.parametrize("variant", ["fenced", "legacy"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_they_say_what_all_say_that_are_asked_anew(part, variant, data):
    beside = Beside(observed_cluster(variant).model(part))
    for _ in range(6):
        written = data.draw(st.lists(st.sampled_from(beside.leaves), max_size=4))
        writes = [(leaf.path, data.draw(st.sampled_from(values(leaf.domain, SIZES)))) for leaf in written]
        transition = data.draw(st.sampled_from(beside.model.transitions))
        arguments = [data.draw(st.sampled_from(values(domain, SIZES))) for domain in transition.arguments.values()]
        beside.write(writes, transition, arguments)


def test_a_property_is_asked_again_when_something_that_it_reads_has_changed_and_not_else():
    beside = Beside(observed_cluster("fenced").model(PARTITION))
    list(beside.verdicts.broken())
    put(beside.state, ("planes", 1, "brokers", 0, "hw"), 1)
    changed = {(question.prop.name, question.plane) for question in beside.verdicts.forget(beside.journal)}
    assert {("hw_in_log", 1), ("visible_match", 1), ("leader_hw_never_falls", 1)} <= changed
    assert not changed & {("hw_in_log", 0), ("log_match", 1), ("one_state", None), ("one_controller", None)}


def test_the_names_in_a_property_are_those_of_what_it_calls_too():
    (prop,) = (p for p in observed_cluster("fenced").partition.properties if p.name == "visible_match")
    assert {"planes", "brokers", "hw", "log", "slots", "epoch", "zk", "unclean"} <= names_in(prop)
