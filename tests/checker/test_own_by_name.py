"""Models of one's own, named on the command line: all that a system of ours has, and errors in one line."""

import json
import shutil
from pathlib import Path

import pytest

from kafkaproof.spec.own import loaded_file
from tests.checker.arguments import counts, kept, resumed

LOCK = Path(__file__).with_name("own_lock.py")
MODEL, CHECKED = "lock.py:MODEL", "lock.py:CHECKED"
STORY = """title  A lock that is lost
variant lock.py:MODEL
lock.take(b=0)
# The broker pauses.
lock.expire(b=0)
lock.take(b=1)
reaches two_believers
expect lock.owner = 1
lock.write(b=0)
violates no_stale_write
variant lock.py:CHECKED
lock.take(b=0)
lock.expire(b=0)
lock.take(b=1)
lock.checked_write(b=0)
expect brokers[0].believes = false
"""
VARIANT = """
from kafkaproof.model import model_of

SAME = model_of("replication", "kip101")
OLDER = model_of("replication", "truncate-to-hw").transition("become_follower").function
MINE = SAME.rebound({SAME.transition("become_follower").function: OLDER}, variant="mine", expected={})
"""

WATCHED = """

from kafkaproof.model import gauge


def believers(s):
    \"\"\"brokers that believe that they hold the lock\"\"\"
    count = 0
    for broker in s.brokers:
        count += broker.believes
    return count


WATCHED = replace(MODEL, metrics=(gauge(believers, "above 1 for long"),))
"""


@pytest.fixture
def lock(kafkaproof, tmp_path):
    """The file lock.py in the working directory."""
    return Path(shutil.copy(LOCK, tmp_path / "lock.py"))


def test_a_model_of_ones_own_is_checked_as_ours_are(kafkaproof, lock, tmp_path):
    answer = kafkaproof("check", MODEL, *kept("run"))
    assert answer.code == 1 and counts(answer.result)[0] == 17
    assert (answer.result["violated"], answer.result["trace_length"], answer.result["expected"]) == (
        "no_stale_write",
        5,
        True,
    )
    assert [entry["verdict"] for entry in answer.result["liveness"]] == ["holds"]
    assert json.loads((tmp_path / "run" / "run.json").read_text())["model"] == f"{lock.resolve()}:MODEL"
    assert answer.result["violations"][0]["trace"][0].startswith("lock.take(b=")
    told = kafkaproof("check", CHECKED, "--run-dir", "told", "--master", "local[2]")
    assert told.code == 0 and "lock.checked_write" in told.out and "properties: 2 asked; 2 hold" in told.out


def test_its_counterexample_is_shown_from_anywhere(kafkaproof, lock, tmp_path, monkeypatch):
    kafkaproof("check", MODEL, *kept("run"))
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    assert "lock.owner: null -> " in kafkaproof("show", tmp_path / "run", "--text").out
    assert kafkaproof("show", tmp_path / "run").code == 0 and (tmp_path / "run" / "counterexample.html").is_file()
    asked = kafkaproof("show", tmp_path / "run", "--property", "is_free").complaint
    assert "is_free is not violated at this scope; violated are no_stale_write" in asked


def test_more_states_than_this_process_explores_are_explored_on_spark(kafkaproof, lock):
    """The executors get compiled text: they cannot import the file."""
    large = ["check", MODEL, "--brokers", "7", "--versions", "7", "--property", "no_stale_write", "--keep-going"]
    result = kafkaproof(*large, *kept("run")).result
    assert (result["distinct"], result["trace_length"]) == (523_587, 5)
    assert list(Path("run").glob("level-*/part-1-*.parquet"))


def test_a_run_is_resumed_by_the_same_text_alone(kafkaproof, lock):
    stopped = kafkaproof("check", MODEL, "--brokers", "3", "--max-depth", "2", *kept("run"))
    assert stopped.code == 3
    text = lock.read_text()
    lock.write_text("# A comment changes nothing.\n" + text)
    whole = kafkaproof("check", MODEL, "--brokers", "3", *kept("whole")).result
    assert counts(kafkaproof(*resumed("run")).result) == counts(whole)
    lock.write_text(text.replace("s.lock.version += 1", "s.lock.version += 2"))
    assert "was made by another version of lock/unchecked; begin a new run" in kafkaproof(*resumed("run")).complaint
    assert "was made by another version of lock/unchecked" in kafkaproof("show", "run", "--text").complaint
    lock.write_text(text.replace("s.lock.owner != b", "s.lock.owner == b"))
    assert "lock.py:MODEL has changed since; check it again" in kafkaproof("show", "run", "--text").complaint
    lock.unlink()
    assert "cannot be resumed: no file " in kafkaproof(*resumed("run")).complaint


def test_it_is_proved_and_explored_up_to_symmetry(kafkaproof, lock):
    proof = kafkaproof("prove", CHECKED, "--brokers", "4", "--json")
    assert proof.code == 0 and {entry["verdict"] for entry in proof.json["properties"]} == {"proved"}
    assert kafkaproof("prove", MODEL, "--depth", "5", "--json").json["properties"][0]["verdict"] == "violated"
    result = kafkaproof("check", CHECKED, "--brokers", "4", "--symmetry", *kept("run")).result
    assert result["symmetry"]["renamings"] == 24 and result["verdict"] == "holds"


def test_a_lemma_of_its_own_helps_to_prove_it(kafkaproof, lock):
    """Versions stay within what was given: without that, a believer may have a version of the future."""
    more = '''

def no_version_of_the_future(s):
    """No broker has a version that the lock has not had."""
    for broker in s.brokers:
        if broker.version > s.lock.version:
            return False
    return True


def of_the_past(s):
    """A version that is not the lock's is an earlier one."""
    for broker in s.brokers:
        if broker.version >= s.lock.version + 1:
            return False
    return True


PAST = replace(CHECKED, variant="past", properties=(always(of_the_past),), expected={})
HELPED = replace(PAST, variant="helped", lemmas=(no_version_of_the_future,))
'''
    lock.write_text(f"from dataclasses import replace\n{lock.read_text()}{more}")
    assert kafkaproof("prove", "lock.py:HELPED", "--json").json["lemmas"][0]["verdict"] == "proved"
    assert kafkaproof("prove", "lock.py:PAST", "--json").json["lemmas"] == []


def test_it_is_drawn_listed_and_played(kafkaproof, lock, tmp_path):
    graph = kafkaproof("graph", MODEL, "--on", "lock.owner", "--json").json
    assert len(graph["nodes"]) == 3 and graph["graph"]["system"] == "lock"
    assert "lock.py:" in kafkaproof("list", MODEL).out
    (listed,) = kafkaproof("list", CHECKED, "--json").json["models"]
    assert listed["variant"] == "checked" and listed["replaced"][0]["by"] == "lock.checked_write"
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "lost.scenario").write_text(STORY.replace("lock.py", "../lock.py"))
    told = kafkaproof("scenario", "away/lost.scenario")
    assert told.code == 0 and "violates no_stale_write" in told.out and "they part at step 4" in told.out
    parts = kafkaproof("scenario", "away/lost.scenario", "--json").json["parts"]
    assert [part["variant"] for part in parts] == ["unchecked", "checked"]
    (tmp_path / "part.json").write_text(json.dumps(parts[0] | {"property": "no_stale_write"}))
    assert kafkaproof("show", "part.json", "--text").code == 0


def test_a_module_that_can_be_imported_is_named_as_well(kafkaproof, lock, tmp_path):
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "__init__.py").write_text("")
    shutil.copy(lock, tmp_path / "house" / "keys_of_the_house.py")
    name = "house.keys_of_the_house:MODEL"
    assert kafkaproof("check", name, *kept("run")).result["model"] == name
    assert kafkaproof("show", "run", "--text").code == 0
    assert "no module house.doors here or installed" in kafkaproof("check", "house.doors:MODEL").complaint


def test_a_file_may_use_those_beside_it_and_have_any_name(kafkaproof, lock, tmp_path):
    (tmp_path / "two-phase.py").write_text("from lock import MODEL as LOCKED\n\nprint('read')\n")
    answer = kafkaproof("check", "two-phase.py:LOCKED", *kept("run"))
    assert answer.result["distinct"] == 17 and "read" in answer.err


def test_options_are_those_of_its_own_scope(kafkaproof, lock, capsys):
    with pytest.raises(SystemExit):
        kafkaproof("check", MODEL, "--help")
    told = capsys.readouterr().out
    assert "--versions N" in told and "how often it is taken" in told and "  --epochs" not in told
    assert (
        "lock.py:MODEL has no bound 'epochs'; it has brokers, versions"
        in kafkaproof("check", MODEL, "--epochs", 1).complaint
    )
    assert "brokers goes from 1 to 7, not 9" in kafkaproof("check", "--brokers", "9", MODEL).complaint
    text = lock.read_text().replace("versions", "depth")
    lock.write_text(text)
    assert "--depth is an option of kafkaproof prove" in kafkaproof("prove", MODEL).complaint
    assert "leave out --variant" in kafkaproof("check", MODEL, "--variant", "checked").complaint


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "lok.py:MODEL",
            "no file lok.py; a model of your own is FILE.py:MODEL or package.module:MODEL; did you mean lock.py?",
        ),
        ("lock.py", "lock.py: say which model; its models are lock.py:MODEL, lock.py:CHECKED"),
        ("lock.py:", "lock.py: say which model; its models are lock.py:MODEL, lock.py:CHECKED"),
        ("lock.py:MODL", "lock.py has no 'MODL'; its models are lock.py:MODEL, lock.py:CHECKED; did you mean MODEL?"),
        ("lock.py:take", "lock.py:take is a function, not a Model; its models are"),
        ("nowhere:MODEL", "no module nowhere here or installed"),
        ("replicaton", "did you mean replication?"),
    ],
)
@pytest.mark.parametrize("command", ["check", "prove", "graph", "list"])
def test_a_name_of_nothing_is_told(kafkaproof, lock, command, name, complaint):
    assert complaint in kafkaproof(command, name).complaint


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("def initial(s):", "def initial(s:", "lock.py:{}: SyntaxError: "),
        ("LANE = ", "LANE = 1 / 0, ", "lock.py:{}: ZeroDivisionError: division by zero"),
        ("LANE = ", "raise SystemExit(3)\nLANE = ", "lock.py:{}: SystemExit: 3"),
        ("LANE = ", "import nosuch\nLANE = ", "lock.py:{}: ModuleNotFoundError: No module named 'nosuch'"),
        ("expected={scope():", "expected={(2, 2):", "lock/unchecked: a verdict is recorded at (2, 2); write Size("),
        (
            "def take(s, b: Broker)",
            "def take(s, b: int)",
            "b of take, lock.py:{} is declared as int, a class; write a domain",
        ),
        ("def take(s, b: Broker)", "def take(s, b: Id)", "is declared as Id, a class; write Id(...)"),
        (
            "def take(s, b: Broker)",
            "def take(s, b)",
            "write the values of b as its annotation, b: Id('brokers'): take,",
        ),
        ("def take(s, b: Broker)", "def take(s, b: STATE)", "b is annotated with many values"),
        ("def take(s, b: Broker)", "def take(s: STATE, b: Broker)", "s, the state, has no annotation: take,"),
        (
            '"""A model',
            'from __future__ import annotations\n\n"""A model',
            "the text 'Broker'; leave out `from __future__",
        ),
        (
            "Size(brokers=brokers, versions=versions)",
            "Size(brokers=brokers)",
            "asks for the size versions, which its scope",
        ),
        ('Bound("versions")), "how', 'Bound("version")), "how', "it gives brokers, versions; did you mean versions?"),
        ("largest=scope(brokers=7, versions=9)", "largest=Size(brokers=7)", "its largest scope has no versions"),
        (
            "largest=scope(brokers=7, versions=9)",
            "largest=scope(versions=1)",
            "standard scope has versions 2, and the largest 1",
        ),
        ("Transition(take, LANE)", "take", "`transitions` has take, which is no Transition; write Transition(take)"),
        (
            "always(no_stale_write)",
            "no_stale_write",
            "`properties` has no_stale_write, which is no Property; write always(",
        ),
        ('LANE = "broker {b}"', 'LANE = "broker {b"', "'broker {b' of lock.take is no format string"),
        (
            'LANE = "broker {b}"',
            'LANE = "broken {b}"',
            "lock.take is in the lane 'broken 0', which `lanes` does not have",
        ),
        ("lanes=lambda scope:", "lanes=lambda scope: {0} or", "`lanes` is a function of the scope that returns a list"),
        ("initial=initial", "initial=None", "lock/unchecked: `initial` is a plain function, not None"),
        ("Transition(take, LANE)", "Transition(LOCK, LANE)", "a transition is a plain function, not"),
        ("scope=scope(),", "scope=(2, 2),", "lock/unchecked: its standard scope is (2, 2); write Size(brokers=2)"),
        ("largest=scope(brokers=7, versions=9)", "largest=7", "its largest scope is 7; write Size(brokers=2)"),
        (
            'given=(weak("expire"),)',
            'given=weak("expire")',
            "is_free: `given` is a tuple; of a single one, write a comma",
        ),
        ('given=(weak("expire"),)', 'given=("expire",)', "has 'expire', which is no Assumption; write weak('expire')"),
        ('system="lock"', 'system="a/lock"', "`system` is 'a/lock'; a name has letters"),
        ('story="A write', 'story=3 or "A write', "`story` is a text, not 3"),
        (
            "stale=(Flag(), ",
            "stale=Flag() or (",
            "lock.py:29: the field stale is declared as a domain and its meaning: stale=",
        ),
        ('LANE = "broker {b}"', 'LANE = "broker {c}"', "names 'c', which is no argument of it"),
        ('{"no_stale_write": 5}', '{"no_stale_writes": 5}', "which is no property; did you mean no_stale_write?"),
        ('interchangeable={"brokers"', 'interchangeable={"broker"', "which is no size; did you mean brokers?"),
        ('system="lock"', 'system="group"', "group is a system of kafkaproof, with another state; rename yours"),
        ("s.lock.owner = b\n", "s.lock.owned = b\n", "there is no field owned"),
    ],
)
def test_a_faulty_model_is_told_in_a_line(kafkaproof, lock, old, new, complaint):
    text = lock.read_text()
    assert old in text
    lock.write_text(text.replace(old, new, 1))
    changed = next(n for n, line in enumerate(lock.read_text().splitlines(), 1) if new.splitlines()[0] in line)
    told = kafkaproof("check", MODEL, "--run-dir", "run").complaint
    assert complaint.replace("{}", str(changed)) in told and "defect" not in told
    assert not Path("run").exists()


def test_a_tuple_of_one_without_its_comma_is_told(kafkaproof, lock):
    text = lock.read_text()
    lock.write_text(
        text + "\n\nfrom dataclasses import replace\nONE = replace(MODEL, transitions=(Transition(take)))\n"
    )
    assert "`transitions` is a tuple; of a single one, write a comma" in kafkaproof("list", "lock.py:ONE").complaint


def test_a_file_that_is_read_twice_is_the_same_until_it_changes(lock):
    one = loaded_file(str(lock))
    assert loaded_file(str(lock)) is one
    lock.write_text(lock.read_text() + "\n")
    assert loaded_file(str(lock)) is not one


SEAMS = """
from dataclasses import replace


def ask(s, b):
    if s.lock.owner != NOBODY:
        return 1
    s.lock.owner = b
    s.lock.version += 1
    return 0


def try_to_take(s, b: Broker):
    if s.brokers[b].believes:
        return False

    if ask(s, b) == 0:
        s.brokers[b].believes = 1
        s.brokers[b].version = s.lock.version
    return True


TAKES = (Transition(try_to_take, LANE), *MODEL.transitions[1:])
ASKED = replace(MODEL, variant="asked", transitions=TAKES, seams=(ask,), answers=("OK", "HELD"), abstract=False)
UNNAMED = replace(ASKED, answers=())
"""


def test_the_answers_of_its_seams_stand_in_its_steps(kafkaproof, lock):
    lock.write_text(lock.read_text() + SEAMS)
    result = kafkaproof("check", "lock.py:ASKED", *kept("run")).result
    assert result["violations"][0]["trace"][0] == "lock.try_to_take(b=0) -> OK"
    assert "try_to_take(b=0) -> OK" in kafkaproof("show", "run", "--text").out
    assert "`seams` return codes; name these in `answers`" in kafkaproof("check", "lock.py:UNNAMED").complaint


def test_a_property_of_ones_own_is_shown_and_asked_again_from_anywhere(kafkaproof, lock, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        'def once(s):\n    """The lock is taken once."""\n    return s.lock.version < 2\n'
    )
    stopped = kafkaproof("check", "--property", "mine.py:once", MODEL, "--max-depth", "2", *kept("run"))
    assert stopped.code == 3
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    assert kafkaproof(*resumed("../run")).result["violated"] == "once"
    told = kafkaproof("show", "../run", "--text").out
    assert "property once: The lock is taken once." in told and "VIOLATED at step 3: once" in told


def test_what_is_no_run_is_told(kafkaproof, lock):
    assert "made by: kafkaproof check lock.py:MODEL" in kafkaproof("show", MODEL).complaint
    assert "lock.py:MODEL is a model; write what happens" in kafkaproof("scenario", MODEL).complaint


def test_a_variant_of_a_system_is_checked_as_that_is(kafkaproof, tmp_path):
    (tmp_path / "mine.py").write_text(VARIANT)
    size = ["--brokers", "2", "--log", "1", "--records", "1", "--epochs", "1"]
    ours = kafkaproof("check", "replication", "--variant", "truncate-to-hw", *size, *kept("ours")).result
    mine = kafkaproof("check", "mine.py:MINE", *size, *kept("mine")).result
    assert counts(mine) == counts(ours) and (mine["system"], mine["variant"]) == ("replication", "mine")
    assert (
        "there is a replication/kip101 already; write another variant in yours"
        in kafkaproof("list", "mine.py:SAME").complaint
    )


def test_sizes_properties_and_metrics_of_a_model_of_ones_own_are_listed(kafkaproof, lock):
    lock.write_text(f"from dataclasses import replace\n{lock.read_text()}{WATCHED}")
    told = kafkaproof("list", "lock.py:WATCHED").out
    for row in ("--versions", "no_stale_write", "gauge", "brokers that believe", "above 1 for long"):
        assert row in told
    assert "worry when" in told and "Kafka" not in told and "replaced" not in told
    assert "worry when" not in kafkaproof("list", MODEL).out
