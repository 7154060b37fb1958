"""``kafkaproof prove``: what it prints, exit codes, wrong use."""

import json
import os
import re
import subprocess
import sys

import pytest

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands import prove as command
from kafkaproof.checker.commands.parser import CommandParser
from kafkaproof.checker.prove.proof import NOT_DECIDED, PROVED


@pytest.fixture
def run(capsys):
    """Run the command in this process; returns the exit code and what it prints."""
    parser = CommandParser()
    command.add_parser(parser.add_subparsers())

    def running(*arguments):
        capsys.readouterr()
        options = parser.parse_args(["prove", *map(str, arguments)])
        return options.run(options), capsys.readouterr().out

    return running


def test_the_command_tells_what_is_proved(run):
    code, out = run("replication", "--variant", "kip320", "--brokers", 2, "--property", "leader_in_isr", "--json")
    result = json.loads(out)
    assert code == 0 and result["endless"] == ["epochs", "records"] and result["scope"]["brokers"] == 2
    assert {entry["verdict"] for entry in result["properties"]} == {PROVED}


def test_without_the_lemmas_given_a_property_that_needs_one_is_not_inductive(run):
    asked = ("--variant", "kip320", "--brokers", 2, "--property", "leader_in_isr", "--no-lemmas", "--json")
    code, out = run("replication", *asked)
    assert code == 1 and json.loads(out)["lemmas"] == []


def test_the_last_line_tells_how_the_time_divides(run):
    asked = ("async-isr", "--variant", "maximal-isr", "--brokers", 2)
    last = run(*asked)[1].splitlines()[-1]
    total, *parts = map(float, re.findall(r"\d+\.\d", last))
    assert re.search(r" s: relation .*, proof .*, lemmas told ", last) and abs(total - sum(parts)) < 0.25
    result = json.loads(run(*asked, "--json")[1])
    assert 0 < result["relation_seconds"] <= result["induction_seconds"]
    assert result["induction_seconds"] + result["lemmas_seconds"] <= result["seconds"] + 0.02
    assert 0 < result["processor_seconds"]


def test_a_proof_without_search_waits_for_no_package_that_it_does_not_need():
    asked = ["prove", "election", "--variant", "fenced", "--property", "one_owner", "--brokers", "2"]
    code = f"import sys\nfrom kafkaproof.checker.commands.main import main\nmain({asked})\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "one_owner" in out and not {"numpy", "numba", "pyspark"} & set(out.splitlines()[-1].split())


def test_the_command_shows_the_step_that_may_break_a_property(run):
    code, out = run("replication", "--variant", "truncate-to-hw", "--brokers", 2, "--property", "strong_isr")
    assert code == 1
    assert "strong_isr may fail after replication." in out and "->" in out


def test_work_that_is_not_done_is_no_proof(run):
    code, out = run("replication", "--variant", "kip101", "--property", "leader_in_isr", "--work", 0)
    assert code == 3 and "not decided" in out
    code, out = run("replication", "--variant", "kip101", "--depth", 3, "--work", 0)
    assert code == 3 and "not decided" in out and "propagations" in out


@pytest.mark.parametrize(
    "asked, verdicts",
    [
        (("async-isr", "--variant", "maximal-isr", "--brokers", "2", "--work", "0.05"), {PROVED, NOT_DECIDED}),
        (("replication", "--variant", "kip101", "--depth", "9", "--symmetry", "--work", "0.6"), {NOT_DECIDED}),
    ],
)
def test_the_same_work_gives_the_same_verdicts_in_every_process(asked, verdicts):
    command = [
        sys.executable,
        "-c",
        "import sys; from kafkaproof.checker.commands.main import main; sys.exit(main())",
        "prove",
        *asked,
        "--json",
    ]
    running = [
        subprocess.Popen(command, env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE) for seed in "12"
    ]
    one, other = (
        {n: value for n, value in json.loads(process.communicate()[0]).items() if "seconds" not in n}
        for process in running
    )
    assert one == other and {entry["verdict"] for entry in one["properties"]} == verdicts


def test_a_bound_that_is_given_a_size_has_an_end(run):
    none = ("--consumers", 1, "--expiries", 0, "--splits", 0, "--losses", 0)
    code, out = run("consumer", "--variant", "orderly", "--property", "claims_afresh", *none, "--json")
    result = json.loads(out)
    assert code == 0 and result["endless"] == ["changes", "offsets"] and result["scope"]["expiries"] == 0
    assert {"faults.expire_session", "session.reopen"} <= {*result["never_enabled"]}
    code, out = run("consumer", "--variant", "orderly", "--property", "claims_afresh", *none[:2], "--json")
    assert code == 1 and "expiries" in json.loads(out)["endless"]


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["nothing"], "no system 'nothing'"),
        (["election"], "several variants"),
        (["election", "--variant", "fenced", "--property", "nothing"], "no property 'nothing'"),
        (
            ["election", "--variant", "fenced", "--property", "two_controllers"],
            "^two_controllers: .* reached, not proved",
        ),
        (
            ["election", "--variant", "fenced", "--property", "one_owner", "--property", "two_controllers"],
            "^two_controllers: ",
        ),
        (["election", "--variant", "fenced", "--log", 2], "no bound 'log'"),
        (["election", "--variant", "fenced", "--depth", 0], "1 or more, not 0"),
    ],
)
def test_wrong_use_is_told_in_a_line(run, arguments, complaint):
    with pytest.raises(UserError, match=complaint):
        run(*arguments)
