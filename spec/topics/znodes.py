"""What ZooKeeper holds of the topic: registrations, /controller, the topic's tree, configuration, markers, requests.

The election is one multi, which `election` checks, so the epoch is also the version of its znode. A broker is
registered exactly while its session is open. `/brokers/topics/t/partitions` and its children exist exactly while the
states do. `seen` is the set of brokers whose current registration a controller knows (in Kafka by its czxid, 2.2+).
"""

from kafkaproof.spec.language.domains import Array, Bound, Budget, Choice, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.partition import znodes
from kafkaproof.spec.topics.context import Incarnation, Leader, LeaderEpoch, Partition, Replicas

Wanted = Choice("NOTHING", "REASSIGNMENT", "CANCELLATION")
NOTHING, REASSIGNMENT, CANCELLATION = Wanted

CLIENT = znodes.CLIENT.extended(
    topic_watch=(znodes.Watch, "the controller's watch on the data of the topic, for writes of others")
)
STATE = Record(
    leader=(Leader, "leader"),
    isr=(SetOf("brokers"), "in-sync replicas"),
    leader_epoch=(LeaderEpoch, "leader epoch, -1 while the znode does not exist"),
    controller_epoch=(Number(0, Bound("epochs")), "epoch of the controller that wrote it"),
)
REQUEST = Record(
    wanted=(Wanted, "what is asked for"),
    partition=(Partition, "of which partition"),
    target=(Sequence(Id("brokers"), Bound("replicas")), "the target of a reassignment"),
)
GHOSTS = Record(
    cancelled=(Flag(), "a reassignment has been cancelled"),
    replaced=(Flag(), "a reassignment has replaced another"),
    undone=(Flag(), "the controller has written the topic znode over partitions that it did not know"),
)
ZOOKEEPER = Record(
    registered=(SetOf("brokers"), "children of /brokers/ids"),
    controller=(Id("brokers", nobody=True), "owner of /controller"),
    epoch=(Number(0, Bound("epochs")), "value of /controller_epoch, 0 before the first election"),
    clients=(Array(CLIENT, "brokers"), "what ZooKeeper holds for each broker's controller"),
    topic=(Incarnation, "the topic that exists, 0 for none"),
    created=(Incarnation, "how often it was created"),
    assignments=(Array(Replicas, "partitions"), "the topic znode: replicas of each partition, empty if there is none"),
    adding=(Array(SetOf("brokers"), "partitions"), "adding_replicas of each partition (in the znode from 2.4 on)"),
    removing=(Array(SetOf("brokers"), "partitions"), "removing_replicas of each partition (in the znode from 2.4 on)"),
    partitions=(Array(STATE, "partitions"), "state of each partition"),
    config=(Flag(), "/config/topics/t exists"),
    marker=(Flag(), "/admin/delete_topics/t exists"),
    request=(REQUEST, "/admin/reassign_partitions (two-phase)"),
    requests=(Number(0, Budget("requests")), "what operators have asked for so far"),
    faults=(Number(0, Budget("faults")), "faults so far"),
    ghosts=(GHOSTS, "history, for properties only"),
)
