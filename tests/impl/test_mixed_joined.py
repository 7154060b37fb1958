"""Real brokers that join a cluster of both while it runs: our controller leads them, too."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from kafkaproof.impl.commands.size import mixed_size, read_brokers
from kafkaproof.impl.harness.driving.watch import state_in
from kafkaproof.impl.harness.real.mixed import MixedCluster
from tests.impl.test_mixed import begin, conforms, move, size_of

JOINED = 3


class Another(MixedCluster):
    """A real broker that joins a cluster that is there."""

    def require_empty(self):
        """The other brokers are registered."""

    def prepare(self):
        self.ours = set()


@pytest.mark.parametrize("real, ids, others", [(2, (), (3, 4)), (2, (1, 5, 7), (8, 9)), (7, (), (8,)), (8, (), ())])
def test_brokers_with_the_ids_that_follow_may_join(real, ids, others):
    options = SimpleNamespace(
        brokers=read_brokers(f"ours:1,kafka-3.9.1:{real}"), kafka=None, variant="fenced", scenario=None
    )
    assert mixed_size(options, {"brokers": 1 + real, "ids": ids, "session_timeout": 4.0}).others == others


@pytest.mark.real
def test_our_controller_leads_a_real_broker_that_joins_later(kafka, tmp_path, capsys):
    size = replace(size_of(kafka), others=(JOINED, JOINED + 1))
    with MixedCluster(tmp_path / "c", size) as cluster:
        begin(cluster)
        alone = replace(size, brokers=1, replicas=1, ours=0, ids=(JOINED,), others=())
        with Another(tmp_path / "d", alone, cluster.zookeeper) as joining:
            joining.start(JOINED)
            cluster.await_that(lambda: JOINED in cluster.registered() and joining.has_started(JOINED), "it is there")
            move(cluster, [JOINED, 0])
            assert cluster.controller() == 0
            cluster.await_that(lambda: state_in(cluster, 0).leader == JOINED, "it leads")
            move(cluster, [0, 1])
            joining.stop_all()
        cluster.stop_all()
    assert conforms(tmp_path / "c", capsys)
