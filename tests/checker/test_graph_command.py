"""`graph`: known graphs of toys, projections that keep exactly the moves there are, and what is refused."""

import os
import re
import shutil
from collections import Counter
from xml.etree import ElementTree

import networkx
import pytest

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.explore.graph import state_graph
from kafkaproof.checker.explore.projection import projected
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.model.fields import fields_of
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.plain import get
from tests.checker.arguments import replication
from tests.checker.models import DIAMOND, FAULTY, ISLANDS
from tests.toys import clock, counter, queue

FENCED = find("election", "fenced")[0]
TWO = {"brokers": 2, "epochs": 1, "faults": 0, "receivers": 1}
ONE = {"brokers": 1, "epochs": 2, "faults": 1, "receivers": 1}
KIP320 = find("replication", "kip320")[0]
TINY = {"brokers": 2, "log": 1, "records": 1, "epochs": 1}
ANY = 10**9
SMALL_GRAPH = ["graph", *replication("kip320", 2, 1, 1, 1)[1:]]
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's program dot is not installed")


def drawn(model, scope=None):
    """The nodes' states and the edges' steps of a model's graph."""
    graph = state_graph(model, model.scope if scope is None else scope, ANY)
    return [node["state"] for _, node in graph.nodes(data=True)], {e[:2]: e[2]["steps"] for e in graph.edges(data=True)}


def test_the_graph_of_a_clock_is_two_initial_states_and_a_step_from_each():
    graph = state_graph(clock(), {}, ANY)
    assert dict(graph.nodes(data=True)) == {
        0: {"state": {"time": False}, "initial": True, "depth": 0},
        1: {"state": {"time": True}, "initial": True, "depth": 0},
    }
    assert list(graph.edges(data="steps")) == [(0, 1, ["toys.tick()"]), (1, 0, ["toys.tock()"])]


def test_a_walk_has_the_edges_that_it_was_given():
    states, edges = drawn(DIAMOND)
    assert [state["node"] for state in states] == [0, 1, 2, 3]
    assert edges == {
        (0, 1): ["toys.follow(to=1)"],
        (0, 2): ["toys.follow(to=2)"],
        (1, 3): ["toys.follow(to=3)"],
        (2, 3): ["toys.follow(to=3)"],
        (3, 0): ["toys.follow(to=0)"],
    }


def test_a_state_that_leads_to_itself_has_a_loop_and_what_is_not_reachable_is_not_there():
    states, edges = drawn(ISLANDS)
    assert [state["node"] for state in states] == [0, 2, 1]
    assert edges == {(0, 2): ["toys.follow(to=1)"], (1, 1): ["toys.follow(to=2)"]}


def test_steps_beyond_a_bound_are_counted_and_not_drawn():
    graph = state_graph(counter(3), {"limit": 3}, ANY)
    assert graph.graph["cuts"] == {"limit": 3}
    assert list(graph.edges) == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    assert max(depth for _, depth in graph.nodes(data="depth")) == 2


def test_steps_of_the_graph_show_their_answers():
    _, edges = drawn(FENCED, {**TWO, "brokers": 1})
    assert edges[0, 1] == ["session.start(b=0) -> OK"]
    assert not any("handle_change" in text and "->" in text for texts in edges.values() for text in texts)


def test_a_queue_seen_through_its_length():
    model = queue()
    graph = projected(model, model.scope, fields_of(model.state, model.scope, ["waiting.length"]), ANY)
    assert dict(graph.nodes(data=True)) == {
        (0,): {"initial": True, "states": 3},
        (1,): {"initial": False, "states": 9},
        (2,): {"initial": False, "states": 27},
    }
    assert {e[:2]: e[2]["transitions"] for e in graph.edges(data=True)} == {
        ((0,), (1,)): {"toys.put": 9},
        ((1,), (2,)): {"toys.put": 27},
        ((1,), (0,)): {"toys.take": 9},
        ((2,), (1,)): {"toys.take": 27},
    }
    assert graph.graph == {"distinct": 39, "cuts": {"room": 81}}


def truth(model, scope, fields):
    """The same by plain Python: (states of each node, initial nodes, steps of each (before, after, name))."""
    run, states, moves = Execution(model, scope), Counter(), Counter()
    frontier = run.initial_states()
    seen = {run.key(state) for state in frontier}
    initial = {values for state in frontier for values in seen_through(fields, state)}
    while frontier:
        following = []
        for state in frontier:
            states.update(seen_through(fields, state))
            for transition, _, after in run.successors(state, Counter()):
                pairs = zip(seen_through(fields, state), seen_through(fields, after))
                moves.update((before, now, transition.name) for before, now in pairs if before != now)
                if run.key(after) not in seen:
                    seen.add(run.key(after))
                    following.append(after)
        frontier = following
    return states, initial, moves


def seen_through(fields, state):
    """The fields' values in a plain state, for each choice of the indices."""
    return [tuple(get(state, path) for path in paths) for paths in fields.places]


@pytest.mark.parametrize(
    ("model", "scope", "names"),
    [
        (queue(), {"room": 2}, ["taken"]),
        (queue(), {"room": 2}, ["waiting.slots[*]"]),
        (DIAMOND, DIAMOND.scope, ["node"]),
        (DIAMOND, DIAMOND.scope, ["successors[*]"]),
        (FENCED, TWO, ["brokers[*].doing"]),
        (FENCED, TWO, ["brokers[1].doing"]),
        (FENCED, TWO, ["zk.controller", "zk.epoch"]),
        (FENCED, ONE, ["brokers[*].doing", "zk.clients[*].session"]),
        (KIP320, TINY, ["replicas[*].log.length"]),
        (KIP320, TINY, ["replicas[*].log.slots[0].id"]),
        (KIP320, TINY, ["quorum.isr", "quorum.leader", "quorum.leader_epoch"]),
    ],
    ids=lambda part: "+".join(part) if isinstance(part, list) else "",
)
def test_a_projection_has_an_edge_for_every_step_that_changes_it_and_no_other(model, scope, names):
    fields = fields_of(model.state, scope, names)
    graph = projected(model, scope, fields, ANY)
    states, initial, moves = truth(model, scope, fields)
    assert {values: node["states"] for values, node in graph.nodes(data=True)} == states
    assert {values for values, node in graph.nodes(data=True) if node["initial"]} == initial
    found = {(*edge[:2], name): n for edge in graph.edges(data=True) for name, n in edge[2]["transitions"].items()}
    assert found == moves


def test_a_projection_is_the_quotient_of_the_graph_of_states():
    model, scope = queue(), queue().scope
    whole = state_graph(model, scope, ANY)
    taken = dict(whole.nodes(data="state"))
    quotient = networkx.quotient_graph(whole, lambda one, other: taken[one]["taken"] == taken[other]["taken"])
    ends = {tuple(taken[next(iter(block))]["taken"] for block in edge) for edge in quotient.edges}
    graph = projected(model, scope, fields_of(model.state, scope, ["taken"]), ANY)
    assert {(before[0], after[0]) for before, after in graph.edges} == {(a, b) for a, b in ends if a != b}


def test_the_command_names_codes_and_marks_what_is_initial(kafkaproof):
    answer = kafkaproof(
        "graph", "election", "--variant", "fenced", "--brokers", 1, "--faults", 0, "--on", "brokers[*].doing", "--json"
    ).json
    assert answer["format"] == 1
    assert answer["graph"] == {
        "system": "election",
        "variant": "fenced",
        "scope": {"brokers": 1, "epochs": 2, "faults": 0, "receivers": 1},
        "on": ["brokers[*].doing"],
        "distinct": 33,
        "cuts": answer["graph"]["cuts"],
    }
    nodes = {node["id"]: node for node in answer["nodes"]}
    assert nodes[0] == {"id": 0, "initial": True, "states": 17, "values": {"brokers[*].doing": "IDLE"}}
    graph = networkx.node_link_graph(answer, edges="edges")
    start = graph.edges[0, 1]
    assert nodes[1]["values"] == {"brokers[*].doing": "REGISTERING"} and start == {"transitions": {"session.start": 1}}


def test_a_machine_with_a_name_is_that_of_the_newest_variant_that_has_it(kafkaproof):
    sizes = {"--brokers": 1, "--generations": 1, "--epochs": 1, "--log": 1, "--periods": 0}
    given = [text for size in sizes.items() for text in size]
    answer = kafkaproof("graph", "group", "--project", "state", *given, "--json")
    facts = answer.json["graph"]
    assert facts["variant"] == "current" and facts["on"] == ["brokers[*].group.state"]
    assert facts["scope"]["clients"] == 1 and facts["scope"]["brokers"] == 1
    assert [node["values"]["brokers[*].group.state"] for node in answer.json["nodes"] if node["initial"]] == ["Absent"]


def test_the_table_reads_without_a_picture(kafkaproof):
    answer = kafkaproof("graph", "election", "--variant", "fenced", "--brokers", 1, "--on", "zk.controller", "zk.epoch")
    assert "zk.controller, zk.epoch in election, variant fenced" in answer.out and "nobody" in answer.out
    assert re.search(r"│ nobody, 0 +│ 0, 1 +│ election.register +│ +3 │", answer.out)
    assert "replication.leader_write(" in kafkaproof(*SMALL_GRAPH).out


def test_graphviz_text_is_the_same_every_time(begin, answer_of, tmp_path):
    texts = []
    for seed in "12":
        process = begin(*SMALL_GRAPH, "--dot", f"{seed}.dot", env={**os.environ, "PYTHONHASHSEED": seed})
        assert answer_of(process).code == 0
        texts.append((tmp_path / f"{seed}.dot").read_text())
    assert texts[0] == texts[1] and texts[0].count(" -> ") == 1 + 464


@needs_dot
def test_a_picture_shows_every_value_and_every_move(kafkaproof, tmp_path):
    answer = kafkaproof(
        "graph",
        "election",
        "--variant",
        "fenced",
        "--brokers",
        1,
        "--on",
        "brokers[0].doing",
        "--svg",
        "doing.svg",
        "--dot",
        "doing.dot",
    )
    assert answer.code == 0 and answer.out.endswith("in doing.dot and doing.svg\n")
    picture = ElementTree.parse(tmp_path / "doing.svg")
    texts = [text.text.strip() for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"IDLE", "REGISTERING", "CREATING", "CLEANING"} <= set(texts)
    assert any(text.startswith("register ×") for text in texts)
    dashed = [line for line in (tmp_path / "doing.dot").read_text().splitlines() if " -> " in line and "dashed" in line]
    assert dashed and all("crash ×" in line or "stop ×" in line or "fail_batch ×" in line for line in dashed)
    assert sum("crash ×" in line for line in dashed) == 1, "ten states crash to IDLE: one edge from their list"


def test_without_the_program_dot_a_picture_is_refused_and_nothing_is_lost(kafkaproof, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    complaint = kafkaproof(*SMALL_GRAPH, "--svg", "g.svg").complaint
    assert "the program dot of Graphviz (Debian: apt-get install graphviz)" in complaint and "--dot FILE" in complaint
    assert kafkaproof(*SMALL_GRAPH, "--dot", "g.dot").out == "277 nodes, 464 edges in g.dot\n"
    assert (tmp_path / "g.dot").read_text().startswith("digraph {")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nosuch"], "no system 'nosuch'"),
        (["election"], "choose one with --variant: rolling, zkclient, legacy, fenced"),
        (["election", "--variant", "fenced", "--log", 2], "election has no bound 'log'"),
        (["election", "--project", "state"], "election has no machine 'state'; it names none; name fields with --on"),
        (["group", "--project", "nosuch"], "group has no machine 'nosuch'; it has state"),
        (["group", "--variant", "static", "--project", "state"], "group has no machine 'state'; it names none"),
        (["election", "--variant", "fenced", "--brokers", 9], "brokers goes from 1 to 7, not 9"),
        (["election", "--variant", "fenced", "--on", "zk.nosuch"], "no field zk.nosuch; zk has clients, controller, "),
        (
            ["election", "--variant", "fenced", "--on", "brokers[3].doing"],
            "brokers has the indices 0 to 2, and brokers[*]",
        ),
        (
            ["election", "--variant", "fenced", "--on", "brokers.doing"],
            "no field brokers.doing; brokers has the indices",
        ),
        (
            ["election", "--variant", "fenced", "--on", "brokers[*]"],
            "brokers[*] is more than one value; brokers[*] has session",
        ),
        (["election", "--variant", "fenced", "--on", "zk.epoch.x"], "no field zk.epoch.x; zk.epoch has no parts"),
        (
            ["election", "--variant", "fenced", "--on", "zk controller"],
            "'zk controller' is not a field; a field reads like",
        ),
        (
            ["election", "--variant", "fenced", "--on", "brokers[*].doing", "network.requests[*].kind"],
            "no field network",
        ),
        (
            [
                "replication",
                "--variant",
                "kip320",
                "--brokers",
                2,
                "--on",
                "replicas[*].hw",
                "requests.slots[*].leader",
            ],
            "does not count the same",
        ),
        (
            [*SMALL_GRAPH[1:], "--max-states", 276],
            "replication/kip320 has more than 276 states at this scope; take a smal",
        ),
        ([*SMALL_GRAPH[1:], "--on", "quorum.isr", "--max-states", 276], "has more than 276 states at this scope"),
    ],
)
def test_wrong_use_is_told_in_a_line(kafkaproof, arguments, complaint):
    assert complaint in kafkaproof("graph", *arguments).complaint


def test_a_value_out_of_its_range_is_told():
    with pytest.raises(UserError, match=r"faulty/overflow: models.overflow\(\) puts a value out of its declared range"):
        projected(FAULTY, {}, fields_of(FAULTY.state, {}, ["number"]), ANY)


def test_help_has_examples(capsys, kafkaproof):
    with pytest.raises(SystemExit):
        kafkaproof("graph", "--help")
    text = capsys.readouterr().out
    assert "kafkaproof graph election --variant fenced --on 'brokers[*].doing' --svg doing.svg" in text
    assert "change none of the fields are left out" in " ".join(text.split())
