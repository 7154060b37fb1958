"""The whole state: ZooKeeper, every broker, the network between them."""

from kafkaproof.spec.language.domains import NOBODY, Array, Record
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.requests.context import BROKER, start_process
from kafkaproof.spec.requests.network import NETWORK
from kafkaproof.spec.requests.zookeeper import ZOOKEEPER, register

STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK, "requests on their way"),
)


def initial(s):
    """A cluster that was shut down: every broker has just started and is registered; b0 was the last leader."""
    s.zk.controller = NOBODY
    for b in range(len(s.brokers)):
        register(s.zk, b)
        start_process(s.brokers[b], 1)
        for r in range(len(s.brokers[b].assignment.slots) - 1):
            push(s.brokers[b].assignment, r)
        s.brokers[b].replica.log = 1 if b < s.brokers[b].assignment.length else 0
    for epoch in range(len(s.network.senders) - 1):
        s.network.senders[epoch] = NOBODY
