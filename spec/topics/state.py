"""The whole state: ZooKeeper, every broker, the network between them."""

from kafkaproof.spec.language.domains import NOBODY, Array, Record
from kafkaproof.spec.partition.zookeeper import register
from kafkaproof.spec.topics.context import BROKER, end_process
from kafkaproof.spec.topics.faults import create_topic
from kafkaproof.spec.topics.network import NETWORK
from kafkaproof.spec.topics.znodes import ZOOKEEPER
from kafkaproof.spec.topics.zookeeper import remove_state

STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK, "requests on their way"),
)


def initial(s):
    """Every broker runs and is registered; there is no controller; the topic has just been created."""
    s.zk.controller = NOBODY
    for b in range(len(s.brokers)):
        register(s.zk, b)
        end_process(s.brokers[b])
        s.brokers[b].up = 1
    for p in range(len(s.zk.partitions)):
        remove_state(s.zk, p)
    create_topic(s.zk, 0)
