"""The whole state: that of `partition`, and for each partition that of `replica`.

`partition` and `replica` are composed, not written again: their transitions act on the same state, those of `replica`
on the part of it that belongs to one partition. Where `partition` lets a leader propose any ISR, a leader here proposes
what it proposes in `replica`; where `replica` lets any controller move the leader, here only controllers do that are
elected, fail over, and know what they have read. These modules say what a step of one part means for the other:
`control` (a state is written, LeaderAndIsr is obeyed), `faults` (a process ends), `data_plane`.

`planes[p].zk` repeats `zk.partitions[p]` for the functions of `replica`; the property `one_state` says that the two are
equal.
"""

from kafkaproof.spec.cluster.network import NETWORK
from kafkaproof.spec.language.domains import NOBODY, Array, Flag, Record, SetOf, renamed
from kafkaproof.spec.partition.context import BROKER, NO_EPOCH, Leader, LeaderEpoch
from kafkaproof.spec.partition.state import initial as initial_control
from kafkaproof.spec.partition.znodes import ZOOKEEPER
from kafkaproof.spec.replica.broker import BROKER as REPLICA
from kafkaproof.spec.replica.broker import UNKNOWN_END
from kafkaproof.spec.replica.clients.network import CLIENTS
from kafkaproof.spec.replica.network import ALTER, MESSAGE

LEADER_EPOCHS = {"epochs": "leader_epochs"}
PARTITION_STATE = Record(
    leader=(Leader, "leader"),
    leader_epoch=(LeaderEpoch, "leader epoch, -1 while the znode does not exist"),
    isr=(SetOf("brokers"), "in-sync replicas"),
    unclean=(Flag(), "a leader was elected from outside the ISR, or a log was deleted with its topic"),
)
MESSAGES = Record(
    messages=(Array(MESSAGE, "brokers"), "between each follower and its leader"),
    alters=(Array(ALTER, "brokers"), "AlterPartition of each leader"),
)
DATA_PLANE = Record(
    zk=(PARTITION_STATE, "the partition's state in ZooKeeper"),
    brokers=(Array(REPLICA, "brokers"), "each broker's replica"),
    network=(MESSAGES, "messages between replicas"),
    clients=(CLIENTS, "producer and consumer of the partition"),
)
STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK, "requests on their way"),
    planes=(Array(renamed(DATA_PLANE, LEADER_EPOCHS), "partitions"), "the data plane of each partition"),
)


def initial(s):
    """As in `partition`; every log is empty."""
    initial_control(s)
    for data in s.planes:
        data.zk.leader = NOBODY
        data.zk.leader_epoch = NO_EPOCH
        for broker in data.brokers:
            broker.leader = NOBODY
            broker.leader_epoch = NO_EPOCH
            for f in range(len(data.brokers)):
                broker.ends[f] = UNKNOWN_END
