"""What a cluster is made of while it migrates: two stores of metadata, a driver in each controller of the quorum, brokers.

There is one topic name, with one partition. A topic that is created again has another id. The quorum is abstract: one
leader with an epoch, and a log that loses nothing. An offset is a number of records; 0 stands for Kafka's -1, before any.
The first record says PRE_MIGRATION, the next is all that is copied from ZooKeeper, in one transaction, and says MIGRATION;
each later one is one change.
"""

from kafkaproof.spec.election.broker_state import BROKER as ELECTION_BROKER
from kafkaproof.spec.election.broker_state import FULL, IDLE, OPEN, state_of
from kafkaproof.spec.kafka.zookeeper import PROCESS
from kafkaproof.spec.kafka.zookeeper import ZOOKEEPER as ELECTION_ZOOKEEPER
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Budget, Choice, Flag, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import only

NO_STATE = -1
FIRST_EPOCH = 1
Topic = Id("topics", nobody=True)
QuorumEpoch = Number(0, Bound("quorum_epochs"))
Offset = Number(0, Bound("records"))

Mode = Choice(
    "ZOOKEEPER_MODE",
    "MIGRATION_MODE",  # zookeeper.metadata.migration.enable: it has registered with the quorum, too
    "KRAFT_MODE",
)
ZOOKEEPER_MODE, MIGRATION_MODE, KRAFT_MODE = Mode
Driving = Choice(
    "UNINITIALIZED",
    "INACTIVE",
    "WAIT_FOR_CONTROLLER_QUORUM",
    "WAIT_FOR_BROKERS",
    "BECOME_CONTROLLER",
    "ZK_MIGRATION",
    "SYNC_KRAFT_TO_ZK",
    "KRAFT_CONTROLLER_TO_BROKER_COMM",
    "DUAL_WRITE",
)
(
    UNINITIALIZED,
    INACTIVE,
    WAIT_FOR_CONTROLLER_QUORUM,
    WAIT_FOR_BROKERS,
    BECOME_CONTROLLER,
    ZK_MIGRATION,
    SYNC_KRAFT_TO_ZK,
    KRAFT_CONTROLLER_TO_BROKER_COMM,
    DUAL_WRITE,
) = Driving
Writing = Choice(
    "WAITING",  # for the next event
    "CLAIMING",  # has read /controller and its epoch
    "CLAIMED",  # must write /migration, whatever its version
    "COPIED",  # has handed all batches to the log, and must end the transaction
    "COMPLETED",  # must write the offset into /migration
    "CREATING",  # must create the topic
    "CREATING_STATE",  # must create the state of its partition
    "DELETING_STATE",  # must delete the state of its partition
    "DELETING",  # must delete the topic
    "UPDATING",  # must write the state of its partition
    "WRITTEN",  # ZooKeeper has the record: must write the offset into /migration
    "STOPPED",  # up to 3.7.0: a request has failed, and it polls no more
)
(
    WAITING,
    CLAIMING,
    CLAIMED,
    COPIED,
    COMPLETED,
    CREATING,
    CREATING_STATE,
    DELETING_STATE,
    DELETING,
    UPDATING,
    WRITTEN,
    STOPPED,
) = Writing
Stage = Choice(
    "IN_ZOOKEEPER",
    "IN_MIGRATION",  # the quorum runs, and brokers are restarted towards it
    "GOING_BACK",  # brokers are restarted out of KRaft mode
    "WITHOUT_QUORUM",  # the quorum is gone: /controller must be deleted
    "WITHOUT_CONTROLLER",  # and /migration
    "LEAVING",  # brokers are restarted out of migration mode
    "FINALIZED",
)
IN_ZOOKEEPER, IN_MIGRATION, GOING_BACK, WITHOUT_QUORUM, WITHOUT_CONTROLLER, LEAVING, FINALIZED = Stage

CONTENT = Record(
    topic=(Topic, "id of the topic, nobody where there is none"),
    leader=(Id("brokers", nobody=True), "leader of its partition"),
    leader_epoch=(Number(NO_STATE, Bound("changes")), "leader epoch, -1 where the partition has no state"),
)
RECORD = CONTENT.extended(epoch=(QuorumEpoch, "epoch of the leader that committed it"))
MIGRATION = Record(
    exists=(Flag(), "the znode is there"),
    offset=(Offset, "kraft_metadata_offset: up to where ZooKeeper has what the log has"),
    metadata_epoch=(QuorumEpoch, "kraft_metadata_epoch: epoch of the record there"),
    controller_epoch=(QuorumEpoch, "kraft_controller_epoch: epoch of the leader that wrote it last"),
    readers=(SetOf("controllers"), "drivers that know its current version"),
)
ZOOKEEPER = (
    ELECTION_ZOOKEEPER.changed(
        controller=(
            Number(NOBODY, Bound("brokers")),
            "the broker named in /controller; as many as there are brokers: the quorum",
        )
    )
    .extended(
        kraft_epoch=(QuorumEpoch, "KRaft epoch in /controller, 0 where a broker created it"),
        topic=(CONTENT, "/brokers/topics, with the state of the partition"),
        deleting=(Flag(), "/admin/delete_topics names the topic"),
        migration=(MIGRATION, "/migration"),
        changes=(Number(0, Budget("changes")), "changes of metadata so far"),
    )
    .extended_at(
        "ghosts",
        topic=(Topic, "the topic as whoever ruled changed it last"),
        leader=(Id("brokers", nobody=True), "leader of its partition, then"),
        leader_epoch=(Number(NO_STATE, Bound("changes")), "leader epoch, then"),
    )
)
BROKER = ELECTION_BROKER.extended(mode=(Mode, "what its process was started with"))
DRIVER = Record(
    driving=(Driving, "state of KRaftMigrationDriver"),
    writing=(Writing, "the event in progress"),
    epoch=(QuorumEpoch, "epoch of the last change of leader that it has handled"),
    image=(Offset, "up to where its image goes"),
    offset=(Offset, "kraft_metadata_offset as it knows it"),
    metadata_epoch=(QuorumEpoch, "kraft_metadata_epoch as it knows it"),
    zk_epoch=(Number(0, Bound("epochs")), "zkControllerEpoch, 0 without a claim"),
    zk_version=(Number(0, Bound("epochs")), "zkControllerEpochZkVersion, or what it is about to claim by"),
    found=(Flag(), "there was a /controller when it was about to claim"),
)
QUORUM = Record(
    leader=(Id("controllers", nobody=True), "leader"),
    epoch=(QuorumEpoch, "its epoch"),
    end=(Offset, "how many records are committed"),
    records=(Array(RECORD, Bound("records")), "the cluster's metadata as of each record"),
    migrated=(Offset, "offset of the record that says MIGRATION, 0 before"),
    finalized=(Offset, "offset of the record that says POST_MIGRATION, 0 before"),
    copying=(Flag(), "the transaction of the copy is open"),
    copied=(CONTENT, "what is in it"),
)
FOLLOWER = Record(image=(Offset, "as a broker in KRaft mode: up to which record it has loaded the log"))
STATE = state_of(BROKER, ZOOKEEPER).extended(
    quorum=(QUORUM, "the quorum of KRaft controllers"),
    drivers=(Array(DRIVER, "controllers"), "what the driver in each controller knows"),
    followers=(Array(FOLLOWER, Bound("receivers")), "what brokers in KRaft mode have of the log"),
    stage=(Stage, "how far the operator is"),
    given=(SetOf("topics"), "ids that topics were given"),
    attempts=(Number(0, Budget("attempts")), "quorums that were provisioned so far"),
    elections=(Number(0, Budget("elections")), "elections of the quorum so far"),
    unwanted=(SetOf("topics"), "topics whose deletion was asked for"),
)


def put(content, topic, leader, leader_epoch):
    """Write the metadata of the topic."""
    content.topic = topic
    content.leader = leader
    content.leader_epoch = leader_epoch


def copy(source, content):
    """Make the metadata of the topic the same as elsewhere."""
    put(content, source.topic, source.leader, source.leader_epoch)


def is_same(one, other):
    """Whether the metadata of the topic is the same in two places."""
    return one.topic == other.topic and one.leader == other.leader and one.leader_epoch == other.leader_epoch


def clear(content):
    """There is no topic."""
    put(content, NOBODY, NOBODY, NO_STATE)


def initial(s, empty: Flag()):
    """A cluster in ZooKeeper mode: all brokers run, the first is the controller; it leads the partition of the topic, unless
    the cluster is `empty`.
    """
    for b in range(len(s.brokers)):
        s.brokers[b].session = OPEN
        s.zk.clients[b].session = 1
        s.zk.clients[b].registered = PROCESS
        s.zk.clients[b].watch = 1
    ruler = s.brokers[0]
    ruler.doing = IDLE
    ruler.active = 1
    ruler.ruling = FULL
    ruler.epoch = FIRST_EPOCH
    ruler.epoch_version = FIRST_EPOCH
    s.zk.epoch = FIRST_EPOCH
    s.zk.epoch_version = FIRST_EPOCH
    clear(s.zk.topic)
    s.zk.ghosts.topic = NOBODY
    s.zk.ghosts.leader = NOBODY
    s.zk.ghosts.leader_epoch = NO_STATE
    if not empty:
        s.zk.state_epoch = FIRST_EPOCH
        s.zk.state_readers = only(0)
        put(s.zk.topic, 0, 0, 0)
        s.zk.ghosts.topic = 0
        s.zk.ghosts.leader = 0
        s.zk.ghosts.leader_epoch = 0
        s.given = only(0)
    forget_quorum(s.quorum)


def forget_quorum(quorum):
    """There is no quorum, or one whose log is empty."""
    quorum.leader = NOBODY
    quorum.epoch = 0
    quorum.end = 0
    quorum.migrated = 0
    quorum.finalized = 0
    for i in range(len(quorum.records) - 1):
        clear(quorum.records[i])
        quorum.records[i].epoch = 0
    forget_copy(quorum)


def forget_copy(quorum):
    """The transaction of the copy is over."""
    quorum.copying = 0
    clear(quorum.copied)
