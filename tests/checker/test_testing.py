"""Helpers for tests of one's own: an assertion about a model, and a state machine that walks beside an implementation."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.testing.beside import differences
from kafkaproof.model import UserError
from kafkaproof.spec.language.model import eventually, sometimes
from kafkaproof.testing import Limits, Refused, assert_holds, machine_of
from tests import toys
from tests.checker.own_lock import CHECKED, MODEL, scope, two_believers


def test_what_holds_is_returned():
    found = assert_holds(CHECKED)
    assert found.outcome.reached == {"two_believers"}
    assert repr(found) == f"<{found.outcome.distinct} states explored; nothing violated>"
    assert assert_holds(MODEL, scope(brokers=1), only="no_stale_write").outcome.finished


def test_what_is_violated_is_told_with_the_command_that_draws_it(kafkaproof):
    with pytest.raises(AssertionError) as raised:
        assert_holds(MODEL, scope(brokers=3))
    told = str(raised.value)
    assert told.startswith("lock/unchecked (brokers 3, versions 2) violates no_stale_write in 5 states\n")
    assert "lock.owner: null -> " in told and "VIOLATED at step 4: no_stale_write" in told
    command = re.search(r"^draw it with: kafkaproof (show \S+)$", told, re.MULTILINE)[1]
    answer = kafkaproof(*command.split())
    assert answer.code == 0 and Path(answer.out.split("open ")[1].strip()).is_file()


def never(s):
    """Nobody is ever there."""
    return s.lock.version > 9


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"properties": (sometimes(never),)}, "never reaches never, in 17 states"),
        ({"properties": (eventually(two_believers, given=(), after=never),)}, "never reaches two_believers"),
    ],
)
def test_what_is_never_reached_is_a_failure(changes, told):
    with pytest.raises(AssertionError, match=told):
        assert_holds(replace(MODEL, expected={}, **changes))


def test_what_is_not_explored_to_the_end_is_a_failure():
    with pytest.raises(AssertionError, match="is not explored to the end: 3 states so far"):
        assert_holds(CHECKED, limits=Limits(depth=2))


TAKEN_ONCE = replace(MODEL, transitions=MODEL.transitions[:1], properties=(), expected={})
"""A lock that never expires: when it is taken, nothing more can happen."""


def test_a_state_without_a_step_is_a_failure_where_it_is_asked():
    assert_holds(TAKEN_ONCE)
    with pytest.raises(AssertionError, match="violates deadlock in 2 states"):
        assert_holds(TAKEN_ONCE, deadlock=True)


def test_what_pytest_shows_is_short():
    assert repr(MODEL) == "<model lock/unchecked>" and repr(MODEL.transitions[0]) == "<transition own_lock.take>"
    assert [repr(p) for p in MODEL.properties[:2]] == ["<always no_stale_write>", "<sometimes two_believers>"]
    assert repr(explore_here(MODEL, MODEL.scope)) == "<17 states explored; no_stale_write violated in 5 states>"


class Lock:
    """An implementation of the lock whose writes are checked, with its adapter in one."""

    brokers = 2

    def __init__(self):
        self.owner, self.version = None, 0
        self.knows = [[False, 0] for _ in range(self.brokers)]

    def take(self, b):
        if self.owner is not None:
            raise Refused("it is held")
        self.owner, self.version = b, self.version + 1
        self.knows[b] = [True, self.version]

    def expire(self, b):
        if self.owner != b:
            raise Refused("it is not the owner")
        self.owner = None

    def checked_write(self, b):
        believes, version = self.knows[b]
        if version != self.version:
            self.knows[b][0] = False

    def observe(self):
        brokers = [{"believes": believes, "version": version} for believes, version in self.knows]
        return {"lock": {"owner": self.owner, "version": self.version}, "brokers": brokers}


class Forgetful(Lock):
    """It does not notice that a write was refused."""

    def checked_write(self, b):
        """Write."""


class Open(Lock):
    """It gives the lock to everybody who asks."""

    def take(self, b):
        self.owner = None
        super().take(b)


class Strict(Lock):
    """It lets nobody take the lock twice."""

    def take(self, b):
        if self.version:
            raise Refused("once is enough")
        super().take(b)


def walked(machine, examples=200):
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=12, database=None))


def test_an_implementation_that_does_what_the_model_does_passes():
    walked(machine_of(CHECKED, Lock, refused=("take", "expire")), 60)


STEP = r"  \d+  \w+\(b=\d\)\n"


@pytest.mark.parametrize(
    ("lock", "last", "why"),
    [
        (Forgetful, r"checked_write\(b=\d\)", r"brokers\[\d\].believes: the model has False, the implementation True"),
        (
            Open,
            r"take\(b=\d\)",
            r"the implementation takes take\(b=\d\), which the model refuses: .*s.lock.owner != NOBODY.*",
        ),
        (Strict, r"take\(b=\d\)", "the implementation refuses the last step: once is enough"),
    ],
)
def test_one_that_does_something_else_is_found_and_told_step_by_step(lock, last, why):
    """Hypothesis makes the way short; how short depends on what it has tried."""
    with pytest.raises(AssertionError) as raised:
        walked(machine_of(CHECKED, lock, refused=("take",)))
    told = str(raised.value)
    differ = rf"lock/checked and {lock.__name__} differ after step (\d+):\n((?:{STEP})*)  \1  {last}\n{why}"
    found = re.fullmatch(differ, told)
    assert found and found[2].count("\n") == int(found[1]) - 1 < 8, told


def test_what_is_observed_may_be_chosen():
    """The owner alone is compared: nothing is missed that cannot be seen."""

    class Owner(Forgetful):
        def observe(self):
            return self.owner

    def owner(s):
        return None if s.lock.owner == -1 else s.lock.owner

    walked(machine_of(CHECKED, Owner, observe=owner), 40)
    with pytest.raises(AssertionError, match="what is seen: the model has 7, the implementation None"):
        walked(machine_of(CHECKED, Owner, observe=lambda s: 7), 5)


def test_an_adapter_begins_where_the_model_does_and_is_closed():
    closed = []

    class Clock:
        def begin(self, state):
            self.time = state["time"]

        def tick(self):
            self.time = True

        def tock(self):
            self.time = False

        def observe(self):
            return {"time": self.time}

        def close(self):
            closed.append(self)

    walked(machine_of(toys.clock(), Clock), 10)
    assert closed


def test_a_model_that_comes_to_an_end_is_walked_to_it():
    walked(machine_of(TAKEN_ONCE, Lock), 5)


def test_what_an_adapter_lacks_is_told():
    class Half:
        def take(self, b):
            """Take."""

        def expires(self, b):
            """Expire."""

    with pytest.raises(UserError, match="Half has no method expire, which lock/checked needs; did you mean expires?"):
        machine_of(CHECKED, Half)
    with pytest.raises(UserError, match="has no transition tak; did you mean take?"):
        machine_of(CHECKED, Lock, refused=("tak",))


def test_the_answer_of_an_implementation_is_held_to_that_of_the_model():
    from kafkaproof.model import model_of

    model = model_of("election", "legacy")
    assert model.seams and model.answers

    class Wrong:
        def observe(self):
            return {}

    for transition in model.transitions:
        setattr(Wrong, transition.function.__name__, lambda self, **arguments: "WRONG")
    with pytest.raises(AssertionError, match="the model is answered .*, the implementation WRONG"):
        walked(machine_of(model, Wrong), 50)


@pytest.mark.parametrize(
    ("ours", "seen", "found"),
    [
        ({"a": 1, "b": [1, 2]}, {"b": (1, 2)}, []),
        ({"a": [0, 2]}, {"a": {2, 0}}, []),
        ({"a": [{"b": None}]}, {"a": [{"b": 0}]}, [("a[0].b", None, 0)]),
        ({"a": [1]}, {"a": [1, 2]}, [("a", [1], [1, 2])]),
        ({"a": 1}, {"c": 1}, [("c", "no such field", 1)]),
        (1, {"c": 1}, [("what is seen", 1, {"c": 1})]),
    ],
)
def test_what_differs_is_named_by_its_place(ours, seen, found):
    assert list(differences(ours, seen)) == found


TESTS = """
from kafkaproof.testing import assert_holds, machine_of
from tests.checker.own_lock import CHECKED, MODEL
from tests.checker.test_testing import Forgetful, Lock


def test_the_model_fails():
    assert_holds(MODEL)


TestLock = machine_of(CHECKED, Lock).TestCase
TestForgetful = machine_of(CHECKED, Forgetful).TestCase
"""


def test_pytest_shows_the_failure_and_nothing_of_the_checker(tmp_path):
    (tmp_path / "test_lock.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path]
    told = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True).stdout
    assert "1 passed" in told and "2 failed" in told
    assert "E       AssertionError: lock/unchecked (brokers 2, versions 2) violates no_stale_write in 5 states" in told
    assert "draw it with: kafkaproof show " in told and "def explore_here" not in told and "Model(system=" not in told
    assert "lock/checked and Forgetful differ after step 4:" in told
