"""Links, ZooKeeper and disks fail, one after the other; the recording conforms, and nothing acknowledged is lost.

Run by hand: ``pytest benchmarks/test_faults.py``. On a machine with far more load than processors the ISR once did not
shrink within the limit.
"""

import json

from kafkaproof.checker.commands.main import main
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, wait_until
from kafkaproof.impl.harness.driving.load import Load


def state(cluster):
    path = f"/brokers/topics/{TOPIC}/partitions/0/state"
    return json.loads(cluster.operator.get(path)[0]) if cluster.operator.exists(path) else {"isr": [], "leader": -1}


def grows(cluster, load):
    """Wait until the cluster is whole, and more is acknowledged."""
    assert wait_until(lambda: cluster.is_whole() and len(state(cluster)["isr"]) == 3)
    known = load.acknowledged
    assert wait_until(lambda: load.acknowledged > known + 3)


def follower(cluster):
    """A broker that neither leads nor rules."""
    return next(b for b in range(3) if b not in (state(cluster)["leader"], cluster.controller()))


def test_links_zookeeper_and_disks_fail(tmp_path, capsys):
    with Cluster(tmp_path, Size(partitions=1, min_isr=2, session_timeout=60.0)) as cluster:
        cluster.start_all()
        assert wait_until(cluster.is_whole)
        load = Load(cluster.bootstrap, TOPIC, 1)
        grows(cluster, load)
        apart = follower(cluster)
        cluster.cut_links(apart)
        assert wait_until(lambda: apart not in state(cluster)["isr"])
        cluster.mend_links(apart)
        cluster.slow_links(apart, 0.01)
        grows(cluster, load)
        cluster.cut_zookeeper(cluster.controller())
        cluster.restart_zookeeper()
        cluster.slow_zookeeper(apart, 0.01)
        for broker in range(3):
            cluster.mend_zookeeper(broker)
        grows(cluster, load)
        torn = follower(cluster)
        cluster.tear(torn, 0)
        assert wait_until(lambda: not cluster.children[torn].running)
        cluster.expire(torn)
        cluster.start(torn)
        grows(cluster, load)
        full = follower(cluster)
        cluster.fill_disk(full, 0)
        assert wait_until(lambda: full not in state(cluster)["isr"])
        load.stop()
        verdict = load.read_all(cluster.check)
        assert verdict.lost == [] and verdict.acknowledged > 15
        cluster.stop_all()
    found = json.loads((tmp_path / "recording" / f"broker-{torn}.2.jsonl").read_text().splitlines()[0])["found"]
    assert found[0]["dropped"] == 40
    assert main(["replay", "--json", str(tmp_path)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"], report["violations"]) == ("conforms", [])
