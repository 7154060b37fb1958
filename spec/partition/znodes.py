"""What ZooKeeper holds of partitions: registrations, /controller, states, requests of operators, notifications.

The election is one multi, which `election` checks, so the epoch is also the version of its znode. A broker is
registered exactly while its session is open. Every partition belongs to the one topic.

For values that only grow, only the set of brokers that know the current one is kept: `readers` for a state's version,
`seen` for the registrations (in Kafka the czxid of /brokers/ids/b, 2.2+). A leader's version needs no record: each
write of the controller raises the leader epoch, and the leader learns the version of its own writes, so a leader in the
current epoch knows it. (Up to 2.6 it may not after a restart; it then writes less.)
"""

from kafkaproof.spec.language.domains import Array, Bound, Budget, Choice, Flag, Id, Number, Record, SetOf
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.partition.context import Assignment, Leader, LeaderEpoch

Watch = Choice("NONE", "ARMED", "FIRED")
NONE, ARMED, FIRED = Watch
Request = Choice(
    "PREFERRED_REQUEST",  # /admin/preferred_replica_election
    "REASSIGN_REQUEST",  # /admin/reassign_partitions
    "LOG_DIR_EVENTS",  # the children of /log_dir_event_notification that a controller has read
)
PREFERRED_REQUEST, REASSIGN_REQUEST, LOG_DIR_EVENTS = Request

CLIENT = Record(
    watch=(Watch, "the controller's watch on the children of /brokers/ids"),
    seen=(SetOf("brokers"), "brokers whose current registration it has read"),
)
STATE = Record(
    leader=(Leader, "leader"),
    isr=(SetOf("brokers"), "in-sync replicas"),
    leader_epoch=(LeaderEpoch, "leader epoch, -1 while the znode does not exist"),
    controller_epoch=(Number(0, Bound("epochs")), "epoch of the controller that wrote it"),
    readers=(SetOf("brokers"), "controllers that know the current version"),
)
GHOSTS = Record(
    lost=(Flag(), "a write of a state was applied, and its answer lost"),
    forced=(Flag(), "an administrator has asked for an unclean election"),
)
ZOOKEEPER = Record(
    registered=(SetOf("brokers"), "children of /brokers/ids"),
    controller=(Id("brokers", nobody=True), "owner of /controller"),
    epoch=(Number(0, Bound("epochs")), "value of /controller_epoch, 0 before the first election"),
    clients=(Array(CLIENT, "brokers"), "what ZooKeeper holds for each broker's controller"),
    assignments=(Array(Assignment, "partitions"), "the topic's assignment: each partition's replicas, constant"),
    partitions=(Array(STATE, "partitions"), "state of each partition"),
    unclean=(Flag(), "unclean.leader.election.enable of the topic"),
    deleting=(SetOf("partitions"), "partitions whose topic /admin/delete_topics names"),
    preferred=(Flag(), "/admin/preferred_replica_election exists, and lists every partition"),
    targets=(
        Array(Assignment, "partitions"),
        "/admin/reassign_partitions: the target of each partition that it lists, else empty; without any there is none",
    ),
    isr_changed=(SetOf("partitions"), "partitions with a child of /isr_change_notification (up to 2.6)"),
    log_dir_events=(SetOf("brokers"), "brokers with a child of /log_dir_event_notification that nobody has read"),
    log_dir_read=(SetOf("brokers"), "brokers with one that a controller has read"),
    faults=(Number(0, Budget("faults")), "faults so far"),
    ghosts=(GHOSTS, "history, for properties only"),
)


def count_request(zk):
    """An operator has asked for something: that counts as a fault."""
    zk.faults += 1


def assign(zk):
    """The topic: partitions 0 and 1 prefer broker 0, later ones broker 1; the brokers that follow hold the other
    replicas.
    """
    brokers = len(zk.clients)
    for p in range(len(zk.assignments)):
        for i in range(len(zk.assignments[p].slots) - 1):
            replica = i + 1 if p > 1 else i
            push(zk.assignments[p], replica if replica < brokers else replica - brokers)
