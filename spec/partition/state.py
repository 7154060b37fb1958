"""The whole state: ZooKeeper, every broker, the network between them."""

from kafkaproof.spec.language.domains import NOBODY, Array, Record
from kafkaproof.spec.partition.context import BROKER, NO_EPOCH, start_process
from kafkaproof.spec.partition.network import NETWORK, fall_silent
from kafkaproof.spec.partition.znodes import ZOOKEEPER, assign
from kafkaproof.spec.partition.zookeeper import register

STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK, "requests on their way"),
)


def initial(s):
    """Every broker runs and is registered; there is no controller; the partitions have no state yet."""
    s.zk.controller = NOBODY
    assign(s.zk)
    for b in range(len(s.brokers)):
        register(s.zk, b)
        start_process(s.brokers[b])
        fall_silent(s.network, b)
    for state in s.zk.partitions:
        state.leader = NOBODY
        state.leader_epoch = NO_EPOCH
    for epoch in range(len(s.network.requests) - 1):
        for p in range(len(s.zk.partitions)):
            s.network.requests[epoch][p].leader = NOBODY
            s.network.requests[epoch][p].leader_epoch = NO_EPOCH
