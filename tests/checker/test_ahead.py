"""Of several runs, the kernel of each is made while those before it are explored."""

import threading
import time
from contextlib import closing

import pytest

from kafkaproof.checker.check import ahead
from kafkaproof.checker.check.ahead import Ahead
from kafkaproof.checker.check.run import kernel_of
from kafkaproof.checker.commands import check as command
from kafkaproof.checker.commands.models import _with_parts
from kafkaproof.checker.model.selection import Check, scope_for
from kafkaproof.spec.catalogue import find


@pytest.fixture
def checks():
    return [
        Check(model, scope_for(model, "quick", {}), (), False, False, False) for model in find("replication", None)[:3]
    ]


def test_the_first_kernel_is_there_before_the_others_are_made(checks, monkeypatch):
    is_taken, made = threading.Event(), []

    def when_taken(check):
        assert check is checks[0] or is_taken.wait(60)
        made.append(check)
        return kernel_of(check)

    monkeypatch.setattr(ahead, "kernel_of", when_taken)
    with closing(Ahead(checks)) as kernels:
        coming = iter(kernels)
        first = next(coming)
        assert made == checks[:1]
        is_taken.set()
        found = [first, *coming]
    assert made == checks
    assert [kernel.compiled.entry for kernel in found] == [kernel_of(check).compiled.entry for check in checks]


def test_when_nobody_wants_more_no_more_are_made(checks, monkeypatch):
    made, last = [], []

    def until_closed(check):
        made.append(check)
        while check is not checks[0] and not (last and last[0].cancelled()):
            time.sleep(0.01)
        return kernel_of(check)

    monkeypatch.setattr(ahead, "kernel_of", until_closed)
    kernels = Ahead(checks)
    last.append(kernels._coming[-1])
    next(iter(kernels))
    kernels.close()
    assert made in (checks[:1], checks[:2])


def test_a_kernel_that_cannot_be_made_is_told_when_its_turn_comes(checks, monkeypatch):
    def fail(check):
        if check is checks[1]:
            raise LookupError("no such kernel")
        return kernel_of(check)

    monkeypatch.setattr(ahead, "kernel_of", fail)
    with closing(Ahead(checks)) as kernels:
        coming = iter(kernels)
        assert next(coming).model is checks[0].model
        with pytest.raises(LookupError, match="no such kernel"):
            next(coming)


PREDICATE = "def wrong(s):\n    return [s.next_record]\n"


@pytest.mark.parametrize(
    "asked, told",
    [
        (["replication", "--property", "wrong.py:wrong"], "no list"),
        (["consumer", "--symmetry"], "no ids are declared interchangeable"),
    ],
)
def test_what_is_asked_wrongly_of_several_runs_is_told_before_a_kernel_is_made(
    kafkaproof, monkeypatch, tmp_path, asked, told
):
    (tmp_path / "wrong.py").write_text(PREDICATE)
    monkeypatch.setattr(command, "Ahead", None)
    answer = kafkaproof("check", *asked)
    assert answer.code == 2 and told in answer.err


def test_a_part_of_several_models_is_checked_once():
    models = _with_parts(find("topics", None))
    names = [(model.system, model.variant) for model in models]
    assert len(set(names)) == len(names) > len(find("topics", None))
