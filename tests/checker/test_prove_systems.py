"""Proofs of the larger systems: lemmas hold where they are sampled, mistakes are named, the table is complete."""

import inspect
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.mutation.by_hand import catalogue
from kafkaproof.checker.prove import explored
from kafkaproof.checker.prove.proof import NOT_INDUCTIVE, PROVED, prove
from kafkaproof.checker.prove.sampler import Sampler
from kafkaproof.checker.prove.table import ONLY, SECTIONS, failing, main, proved_scope, section, sections_of, violated
from kafkaproof.checker.prove.variables import sorts_of
from kafkaproof.spec.catalogue import all_models, find
from kafkaproof.spec.consumer import model as consumer
from kafkaproof.spec.group import scopes as group
from kafkaproof.spec.group.lemmas.group import cached_is_owned, loads_into_nothing
from kafkaproof.spec.language.domains import values
from kafkaproof.spec.language.model import SAFETY, always
from kafkaproof.spec.language.text import function_from
from kafkaproof.spec.proofs import PROOFS, plan_of
from kafkaproof.spec.replica import model as replica
from kafkaproof.spec.replica.lemmas.replica import (
    leader_was_told,
    newest_names_leader,
    older_with_newest,
    request_was_written,
)

TOLD = (request_was_written, newest_names_leader, leader_was_told, older_with_newest)
TABLE = Path(__file__).parents[2] / "docs" / "proved.md"


def proof_of(model, *names, lemmas=None, **sizes):
    """The proof of some properties of a model, with the lemmas of the variant; bounds that are given a size keep it."""
    asked = tuple(p for p in model.properties if p.name in names)
    given = plan_of(model).lemmas if lemmas is None else lemmas
    return prove(model, {**proved_scope(model), **sizes}, asked, given, 1000.0, kept=frozenset(sizes) - sorts_of(model))


@pytest.mark.parametrize("system, variant", PROOFS, ids=lambda name: name)
def test_lemmas_hold_in_sampled_states(system, variant):
    (model,) = find(system, variant)
    scope = {**model.scope, **({"brokers": 2} if "brokers" in model.scope else {})}
    sampler, execution = Sampler(model, scope), Execution(model, scope)
    unpack = sampler.kernel.packing.unpack
    states = [execution.from_values(unpack(words)) for words in sampler.states(sampler.initial, 300, 8)]
    for lemma in PROOFS[system, variant].lemmas:
        domains = [values(d, scope) for name, d in lemma.__annotations__.items() if name != "return"]
        assert all(lemma(state, *chosen) for state in states for chosen in product(*domains)), lemma.__name__


ALONE = {"consumers": 1, "partitions": 1, **PROOFS["consumer", "orderly"].undisturbed}
SMALL = {"brokers": 1, "clients": 1, "ids": 1, "log": 1}
FEWER = {title: {"brokers": 1, "clients": 2, "ids": 2, "log": 2} for title in SECTIONS if title.startswith("group/")}


@pytest.mark.parametrize(
    "system, mistake, lemmas, transition, sizes",
    [
        ("partition", "state-unchecked", (), "machines.write_leader", {}),
        ("replica", "request-lost", TOLD, "faults.lose_request", {}),
        ("replica", "start-of-epoch", None, "leader.serve_fetch", {}),
        ("consumer", "begin-at-smallest", (), "rebalance.read_offset", {}),
        ("consumer", "id-adopted", None, "consumer_variants.register_when_free", ALONE),
        ("group", "stable-to-completing", (loads_into_nothing, cached_is_owned), "join.join", SMALL),
        ("group", "everybody-leads", None, "join.complete_join", {**SMALL, "clients": 2, "ids": 2}),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_mistake_is_not_proved_and_the_transition_is_named(system, mistake, lemmas, transition, sizes):
    model, mutant = next((m, mutant) for m, mutant in catalogue() if (m.system, mutant.name) == (system, mistake))
    proof = proof_of(mutant.mutate(model), mutant.kills, lemmas=lemmas, **sizes)
    verdicts = {v.name: v.verdict for v in proof.verdicts}
    assert verdicts[mutant.kills] == NOT_INDUCTIVE
    assert transition in {v.where.split("(")[0] for v in proof.verdicts + proof.lemmas if v.verdict == NOT_INDUCTIVE}


LOOPS = {
    "Broker": "s.brokers",
    "Client": "s.clients",
    "Consumer": "s.consumers",
    "Partition": "s.zk.partitions",
    "KnownId": "s.brokers[0].group.members",
    "Place": "s.storage.log.slots",
    "Epoch": "s.network.requests",
}
"""What has an element for each value of an argument; the last three have one more."""


def for_all(lemma):
    """The property that a lemma holds in every state for all its arguments."""
    named = [text.split(": ") for text in inspect.getsource(lemma).split("(", 1)[1].split(")", 1)[0].split(", ")[1:]]
    lines = [f"def every_{lemma.__name__}(s):"]
    for depth, (name, domain) in enumerate(named, start=1):
        spare = " - 1" if domain in ("KnownId", "Place", "Epoch") else ""
        lines.append("    " * depth + f"for {name} in range(len({LOOPS[domain]}){spare}):")
    inner = "    " * (len(named) + 1)
    lines += [
        f"{inner}if not {lemma.__name__}(s{''.join(f', {name}' for name, _ in named)}):",
        f"{inner}    return False",
        "    return True",
    ]
    return always(function_from(f"every_{lemma.__name__}", "\n".join(lines) + "\n", {lemma.__name__: lemma}))


@pytest.mark.parametrize(
    "system, variant, scope, states",
    [
        ("group", "current", group.scope(brokers=2, epochs=2, faults=1), 54_917),
        ("consumer", "orderly", consumer.scope(offsets=2, expiries=1), 50_167),
        ("replica", "current", replica.scope(epochs=2, faults=1, min_isr=2, unclean=1), 100_269),
        ("replica", "current", replica.scope(log=2, records=2, epochs=2, faults=1), 888_756),
    ],
)
def test_lemmas_hold_in_all_states_of_a_recorded_scope(system, variant, scope, states):
    (model,) = find(system, variant)
    lemmas = replace(model, properties=tuple(map(for_all, PROOFS[system, variant].lemmas)))
    found = explore_here(lemmas, scope)
    assert (found.outcome.distinct, found.traces) == (states, {})


def test_without_a_mistake_the_same_is_proved():
    (group,), (consumer,) = find("group", "current"), find("consumer", "orderly")
    proofs = [
        proof_of(group, "legal_moves", lemmas=(loads_into_nothing, cached_is_owned), **SMALL),
        proof_of(consumer, "claims_afresh", **ALONE),
    ]
    assert [proof.verdicts[-1].verdict for proof in proofs] == [PROVED, PROVED]


def test_the_lemmas_of_groups_need_no_more_than_themselves():
    proof = proof_of(find("group", "current")[0], **SMALL)
    assert {lemma.verdict for lemma in proof.lemmas} == {PROVED}


def rows(title):
    """The rows of a section of the table, by their first cells."""
    lines = sections_of(TABLE.read_text(encoding="utf-8"))[title].splitlines()
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}


def test_every_property_of_the_catalogue_is_in_the_table():
    sections = sections_of(TABLE.read_text(encoding="utf-8"))
    told = {(title.split("/")[0], name) for title in sections if title != ONLY for name in rows(title)}
    told |= {tuple(line.strip("| ").split(" | ")[:2]) for line in sections[ONLY].splitlines() if line.startswith("| ")}
    assert {(m.system, p.name) for m in all_models() for p in m.properties} <= told


@pytest.mark.parametrize(
    "title",
    [
        "async-isr/maximal-isr",
        "replica/current",
        "group/unlocked",
        "group/locked",
        "group/gated",
        "group/current",
        "group/static",
        "group/limited",
        "group/transactional",
        "consumer/orderly",
        "consumer/orderly, undisturbed",
    ],
)
def test_a_section_of_the_table_is_what_a_proof_says(title):
    system, variant, kept, _ = SECTIONS[title]
    (model,) = find(system, variant)
    proof = proof_of(model, *(p.name for p in model.properties if p.kind in SAFETY), **kept, **FEWER.get(title, {}))
    found = {v.name: v.verdict == PROVED for v in proof.verdicts}
    told = rows(title)
    assert found == {name: "| proved |" in told[name] for name in found}
    assert section(model, proof, "(2,2) 5").startswith("Any ")


def test_what_is_false_beyond_a_scope_is_told_of_by_no_recorded_scope_of_the_same_sizes():
    sections = sections_of(TABLE.read_text(encoding="utf-8"))
    for model, name in [(find(*of)[0], name) for of, plan in PROOFS.items() for name in plan.false_beyond]:
        first = sections[model.name].splitlines()[0]
        ends = {bound: size for bound, size in proved_scope(model).items() if f" {bound} {size}" in first}
        assert ends and name in {p.name for p in model.properties} and violated(model, name, ends) is None


def test_what_a_variant_violates_itself_is_false_at_the_sizes_of_a_recorded_scope_alone():
    (model,) = find("partition", "recreating")
    assert violated(model, "own_logs_deleted", {"brokers": 2, "replicas": 1, "partitions": 1}).startswith(
        "false: 24 states"
    )
    assert violated(model, "own_logs_deleted", {"brokers": 2, "replicas": 2, "partitions": 1}) is None
    assert violated(model, "configured", {}) is None


def test_the_older_variants_that_fail_are_told():
    (model,) = find("partition", "fenced")
    assert "legacy 7" in failing(model, "no_stale_write") and "fenced" not in failing(model, "no_stale_write")


def test_only_what_is_named_is_made_anew(tmp_path):
    file = tmp_path / "proved.md"
    file.write_text("## election/fenced\n\nas it was\n", encoding="utf-8")
    assert main([str(file), "async-isr/maximal-isr"]) == 0
    made = sections_of(file.read_text(encoding="utf-8"))
    assert made["election/fenced"] == "as it was\n" and "valid_high_watermark" in made["async-isr/maximal-isr"]
    assert re.search(r"million steps of z3, [0-9.]+ seconds\.\n", made["async-isr/maximal-isr"])
    assert "Explored: (2,1,1) 24, (2,1,2) 42, (3,2,2) 4,088, (3,2,3) 22,456, " in made["async-isr/maximal-isr"]


def test_of_large_scopes_is_told_that_they_are_large(monkeypatch):
    (model,) = find("async-isr", "maximal-isr")
    monkeypatch.setattr(explored, "MOST", 4_000)
    assert explored.explored_scopes(model).endswith(
        "42, (3,2,2) more than 4,000, (3,2,3) more than 4,000, (3,2,4) more than 4,000"
    )


@pytest.mark.parametrize("names", [(), ("proved.md", "election/nope"), ("proved.md", "async-isr/maximal-isr", "x")])
def test_a_section_that_there_is_not_is_wrong_use(tmp_path, monkeypatch, capsys, names):
    monkeypatch.chdir(tmp_path)
    assert main(list(names)) == 2 and not list(tmp_path.iterdir())
    usage = capsys.readouterr().err
    assert usage.startswith("usage: python -m kafkaproof.checker.prove.table FILE [") and "election/fenced" in usage
