"""A group of old consumers and the places where its offset may be. One topic with one partition.

Each place has the last offset that was committed there, or 0 for none: a member then begins at the first record
(auto.offset.reset=smallest). The coordinator and its log are a number here; *group* has them in full. That only one
member reads the partition at a time is taken for granted; *consumer* has the rebalance.
"""

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Budget, Choice, Flag, Id, Number, Record

Member = Id("members")
Storage = Choice(
    "ZOOKEEPER",  # offsets.storage=zookeeper, or a client that sends version 0 of OffsetCommit and OffsetFetch
    "BOTH",  # offsets.storage=kafka, dual.commit.enabled=true
    "KAFKA",  # offsets.storage=kafka, dual.commit.enabled=false
)
ZOOKEEPER, BOTH, KAFKA = Storage
Offset = Number(0, Bound("records"))

MEMBER = Record(
    storage=(Storage, "where it commits and fetches"),
    position=(Offset, "offset of the next record, while it reads the partition"),
    uncommitted=(Flag(), "it has not committed since it began, or has read since its last commit"),
    copying=(Flag(), "Kafka has acknowledged a commit that must still be copied to ZooKeeper"),
    checkpoint=(Offset, "checkpointedZkOffsets: the offset that it believes ZooKeeper has"),
)
GHOSTS = Record(acknowledged=(Offset, "the last offset whose commit has succeeded"))
STATE = Record(
    zookeeper=(Offset, "/consumers/<group>/offsets/<topic>/<partition>"),
    misplaced=(Offset, "/consumers/<group>/offset/<topic>/<partition>, which only brokers of 1.1.0 use"),
    kafka=(Offset, "the offset in __consumer_offsets"),
    owner=(Id("members", nobody=True), "the member that reads the partition"),
    copied=(Flag(), "a commit was made to both places, and none since to the former alone"),
    members=(Array(MEMBER, "members"), "what each member knows"),
    crashes=(Number(0, Budget("crashes")), "members that have crashed so far"),
    expirations=(Number(0, Budget("expirations")), "offsets that have expired in Kafka so far"),
    ghosts=(GHOSTS, "history"),
)


def initial(s, committed: Flag()):
    """Nobody reads. One record was read and the offset behind it `committed` to ZooKeeper, or none."""
    s.owner = NOBODY
    s.zookeeper = committed
    s.ghosts.acknowledged = committed


def initial_in_kafka(s):
    """Nobody reads. One record was read, and the offset behind it committed to Kafka."""
    s.owner = NOBODY
    for member in s.members:
        member.storage = KAFKA
    s.kafka = 1
    s.ghosts.acknowledged = 1


def former():
    """The storage that the group leaves."""
    return ZOOKEEPER


def target():
    """The storage to which the group moves."""
    return KAFKA


def offset_in_zookeeper(s):
    """The offset that a member gets from ZooKeeper."""
    return s.zookeeper


def put_in_zookeeper(s, offset):
    """Set the znode, whatever its version; create it if it is missing."""
    s.zookeeper = offset


def fetched(s, storage):
    """The offset at which a member begins: from its storage, and from both the higher one."""
    if storage == ZOOKEEPER:
        return offset_in_zookeeper(s)
    if storage == KAFKA:
        return s.kafka
    return max(s.kafka, offset_in_zookeeper(s))


def checkpoint_at(s, position):
    """The offset that a member believes ZooKeeper has when it begins: its own position, wherever that came from."""
    return position


def must_copy(member):
    """Whether a commit to Kafka must be copied to ZooKeeper."""
    return member.storage == BOTH and member.position != member.checkpoint


def may_leave_both(s):
    """Whether the second step of the migration may begin: all commit to both places, and one of them has."""
    for member in s.members:
        if member.storage == former():
            return False
    return s.copied == 1


def succeed(s, m, offset):
    """A commit of member `m` has succeeded."""
    s.members[m].uncommitted = 0
    s.members[m].copying = 0
    s.ghosts.acknowledged = offset
    if s.members[m].storage == BOTH:
        s.copied = 1
    elif s.members[m].storage == former():
        s.copied = 0


def leave(s, m):
    """Member `m` reads no more, and forgets how far it had read."""
    s.owner = NOBODY
    s.members[m].position = 0
    s.members[m].uncommitted = 0
    s.members[m].copying = 0
    s.members[m].checkpoint = 0
