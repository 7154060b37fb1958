"""What the driver tells of a cluster that changes while it is looked at."""

import json
from types import SimpleNamespace

from kazoo.exceptions import NoNodeError

from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.impl.seams.zookeeper.znodes import TOPICS, State, Topic


class Operator:
    """A client of a ZooKeeper in which there are these znodes, and `gone` was listed right before it was deleted."""

    def __init__(self, nodes, gone):
        self.nodes, self.topics = (
            nodes,
            [gone, *(path.removeprefix(f"{TOPICS}/") for path in nodes if path.count("/") == 3)],
        )

    def get_children(self, path):
        return self.topics if path == TOPICS else []

    def get(self, path):
        if path not in self.nodes:
            raise NoNodeError
        return self.nodes[path], None


def test_a_topic_that_is_deleted_while_it_is_looked_at_is_passed_over(capsys):
    nodes = {Topic.path_of("kept"): Topic(((0,),)).encode(), State.path_of("kept", 0): State(0, (0,), 0, 1).encode()}
    operator = Operator(nodes, "gone")
    cluster = SimpleNamespace(
        operator=operator,
        below=operator.get_children,
        bootstrap=list,
        controller=lambda: None,
        registered=list,
        check=lambda: None,
    )
    Watcher(as_json=True).look(cluster)
    told = [json.loads(line)["what"] for line in capsys.readouterr().out.splitlines()]
    assert "kept-0" in told and not any(each.startswith("gone") for each in told)
