"""One Spark for the whole session, run directories, and two ways to run the command line."""

import gc
import json
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, settings

from kafkaproof.checker.commands.main import main
from kafkaproof.checker.explore.explorer import SPREAD_HERE
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.spark import session

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
gc.set_threshold(50_000, 20, 20)  # states in plain Python are many small objects, and have no cycles

COMMAND = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from kafkaproof.checker.explore import explorer; explorer.SPREAD = explorer.SPREAD_HERE = {spread}; "
    "from kafkaproof.checker.commands.main import main; raise SystemExit(main())"
)
"""The command as a terminal starts it: with Ctrl-C, though the tests may run where that is ignored."""
LOCAL = "local[2]"
START = session.start

OLDER = (
    r"(group.(locked|gated|kip|reloading|limited|static|unlocked|never-empty|transactional)"
    r"|partition.(rolling|zkclient|one-thread|kip|unconfigured|legacy|checked|removal-at-start|rebalance-by-isr|failures-told"
    r"|phases-(rewriting|unchecked)|electing-zkclient)"
    r"|requests.(unchecked|legacy|kip380|broker-epochs|kip570|failures-untold|same-epoch)"
    r"|topics.(two-phase|restoring|checked|kip380|removal-at-start|kip455-zk|kip497|kip516|marked-refused)"
    r"|election.(zkclient|fenced-edited|fenced-lagging))"
)
THOROUGH = re.compile(
    "|".join(
        (
            rf"test_(symmetry|three_ways|explorer|group_system|coverage)\.py::.*{OLDER}",
            r"test_coverage\.py::.*(group|replica|consumer)-",
            r"test_group_system\.py::.*\[(locked|static|unlocked) at",
            r"test_requests_system\.py::test_two_brokers_.*\[(unchecked|legacy|kip|broker-epochs|failures-untold|same-epoch)",
            r"test_partition_machine\.py::.*\[legacy",
            r"test_explorer\.py::.*partition/(creating|deleting|reassigning)",
            r"test_reassignment\.py::.*two faults",
            r"test_reassignments\.py::test_(it_goes_on_when|a_mistaken)",
            r"test_mistaken_deletion\.py::.*\[(completed-when-one-is-deleted|answers-not-awaited)",
            r"test_(group_cells|partition_progress|trace_metrics)\.py::",
            r"test_prove_relation\.py::test_merged_.*(requests-current|topics-kip455|election-(zkclient|legacy|fenced-))",
            r"test_prove_protocols\.py::test_a_mutant.*(elect-outside-isr|state-unchecked|epoch-without-version)",
            r"test_prove_protocols\.py::test_with_an_edited",
            r"test_prove_search\.py::test_the_election.*all",
            r"test_rolling\.py::test_partitions_with_old_brokers_alone",
            r"test_consumer_system\.py::test_tiny_scopes.*(checked|unlimited)-",
            r"test_archive\.py::test_(the_archive_is|without_the|a_local_cluster)",
            r"test_standalone\.py::test_a_(larger_scope|slow_executor|standalone_cluster)",
            r"test_killed\.py::test_(a_killed_driver|tables_that_a_killed|a_run_killed_twice)",
            r"test_symmetry\.py::test_every_other_system.*(requests|topics|cluster)/",
            r"test_prove_relation\.py::test_merged_steps.*partition-fenced, without bounds",
            r"test_prove_systems\.py::test_a_mistake_.*(stop-deletes|elect-queued|start-of-epoch|everybody-leads)",
            r"test_prove_systems\.py::test_a_section_.*(group|consumer|replica)",
            r"test_prove_systems\.py::test_(the_lemmas_of_groups|without_a_mistake|lemmas_hold_in_all)",
            r"test_prove_systems\.py::test_lemmas_hold_in_sampled.*group-(unlocked|locked|static|limited)",
            r"test_live_museum\.py::test_a_failure.*\[(foreign-delete|never-led|zombie-epoch)",
            r"test_live_walks\.py::.*election-legacy",
            r"test_prove_bmc\.py::test_exhibits_of_other_systems.*requests-legacy",
            r"test_live_loss\.py::test_(a_zombie|followers)",
            r"test_ended_brokers\.py::test_a_broker_that_fails",
            r"test_killed\.py::test_an_interrupted",
            r"test_mistaken_deletion\.py::.*\[log-kept",
            r"test_prove_systems\.py::test_a_mistake.*partition-state-unchecked",
            r"test_requests_network\.py::test_what_channels.*at1",
            r"test_along\.py::test_they_go_along_an_election_from_before.*legacy",
            r"test_altering\.py::.*two requests",
            r"test_topic_deletion\.py::.*two topics",
            r"test_three_ways\.py::.*topics-kip455",
            r"test_progress\.py::test_a_proof_tells",
            r"test_testing\.py::test_pytest_shows",
            r"test_altering\.py::.*three brokers",
            r"test_prove_bmc\.py::test_exhibits_of_other_systems.*partition-legacy",
            r"test_altered_runs\.py::test_one_process_alone",
            r"test_compared\.py::test_what_clients",
            r"test_topics_system\.py::test_the_smallest.*(kip497|kip516|marked-refused)",
            r"test_conductor\.py::test_(one_of_partition|a_cluster_that_answers_otherwise)",
            r"test_explore_log\.py::test_it_opens_at.*(epoch_not|id_changed|r_left|election_left|unknown_broker|another_req)",
            r"test_expanding\.py::test_the_recorded",
            r"test_liveness\.py::test_every_way.*(settles|after)",
            r"test_control\.py::test_what_is_changed.*(Stop|Update|Alter)\w+ (answer|version|error|sender|sent|leader|live)",
            r"test_explorer\.py::test_on_spark_.*(requests|partition/fenced|kip320|async|offsets|islands|counter)",
            r"test_explorer\.py::test_the_number_of.*(diamond-[13]|kip101-[15])",
            r"test_explorer\.py::test_a_limit.*on spark-limits[023]",
            r"test_three_ways\.py::.*partition-(reassigning|forgetting|altering|creating|deleting|recreating|updating|requ)",
            r"test_prove_relation\.py::test_merged_prop.*partition-fenced",
            r"test_live_walks\.py::.*election-fenced",
            r"test_standalone\.py::test_a_run_directory_that_cannot",
            r"test_altered_runs\.py::test_tasks_of_spark",
            r"test_symmetry\.py::test_(spark_finds.*_1|every_other.*partition/fenced)",
        )
    )
)
"""Tests that do for older variants, or in one more way, what others do: `make thorough` has them, `make test` not."""


def pytest_collection_modifyitems(items):
    """Mark the thorough ones."""
    for item in items:
        if THOROUGH.search(item.nodeid):
            item.add_marker("thorough")


@pytest.fixture(autouse=True, scope="module")
def former_modules_are_frozen():
    """What the tests before have left alive is not looked at by each collection of garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def spark_files(tmp_path_factory):
    """Where Spark keeps its blocks."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark(spark_files):
    """A SparkContext on two cores of this machine, shared by all tests."""
    context = START(session.Place(LOCAL, settings={"spark.local.dir": str(spark_files)}))
    yield context
    context.stop()


@pytest.fixture
def run_directory(tmp_path) -> RunDirectory:
    """An empty place for a run."""
    return RunDirectory(str(tmp_path / "run"))


class _Borrowed:
    """The shared SparkContext as a command sees it: stopping it does nothing."""

    def __init__(self, context):
        self._context = context

    def __getattr__(self, name):
        return getattr(self._context, name)

    def stop(self):
        """Leave it to the session."""


@dataclass
class Answer:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        """Standard output as JSON."""
        return json.loads(self.out)

    @property
    def result(self) -> dict:
        """The only run of ``check --json``."""
        (result,) = self.json["runs"]
        return result

    @property
    def complaint(self) -> str:
        """The one line on standard error with which a command refuses."""
        lines = self.err.strip().splitlines()
        assert self.code == 2 and len(lines) == 1 and lines[0].startswith("kafkaproof: "), self
        return lines[0]


@pytest.fixture
def kafkaproof(monkeypatch, capsys, tmp_path, request):
    """Run a command in this process, in a directory of its own; on ``local[2]`` it uses the shared Spark."""

    def borrowed(place):
        return _Borrowed(request.getfixturevalue("spark")) if place == session.Place(LOCAL) else START(place)

    def command(*arguments) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Answer(code, *capsys.readouterr())

    monkeypatch.setattr(session, "start", borrowed)
    monkeypatch.chdir(tmp_path)
    return command


@pytest.fixture
def begin(tmp_path):
    """Start a command as a process of its own, in its own directory; it is killed when the test ends.

    It explores levels of `spread` states or more on Spark.
    """
    processes = []

    def command(*arguments, spread=SPREAD_HERE, **options) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND.format(spread=spread), *map(str, arguments)],
            cwd=tmp_path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        processes.append(process)
        return process

    yield command
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def answer_of():
    """Wait for a process that `begin` started."""

    def wait(process) -> Answer:
        out, err = process.communicate()
        return Answer(process.returncode, out, err)

    return wait
