"""The whole state: ZooKeeper, every broker, the network between them, the clients."""

from kafkaproof.spec.language.domains import Array, Record
from kafkaproof.spec.language.sets import everybody
from kafkaproof.spec.replica.broker import BROKER, FETCHING, LEADER, UNKNOWN_END
from kafkaproof.spec.replica.clients.network import CLIENTS
from kafkaproof.spec.replica.network import NETWORK, send_first
from kafkaproof.spec.replica.zookeeper import ZOOKEEPER

STATE = Record(
    zk=(ZOOKEEPER, "the partition's state in ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker has and knows"),
    network=(NETWORK, "messages in flight"),
    clients=(CLIENTS, "producer and consumer"),
)


def initial(s):
    """All logs are empty, and all replicas are in the ISR. Broker 0 leads in epoch 0, and every broker knows it.

    No broker is special, so nothing is lost by making broker 0 the first leader.
    """
    s.zk.isr = everybody(len(s.brokers))
    for b in range(len(s.brokers)):
        s.brokers[b].state = LEADER if b == 0 else FETCHING
        for f in range(len(s.brokers)):
            s.brokers[b].ends[f] = UNKNOWN_END
        send_first(s.network, b, s.brokers[b])
    s.brokers[0].isr = everybody(len(s.brokers))
