"""One topic name with one partition: what the log has, what brokers were told of, and what each broker makes of it.

A topic that is created again has the next id. Brokers are told in one step, since what is sent to one broker arrives in
order; that a request of a deposed controller is refused is in `election`.
"""

from kafkaproof.spec.kafka.declarations import lanes as lanes_of
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Budget, Flag, Id, Number, Record, SetOf
from kafkaproof.spec.language.sets import only, with_member
from kafkaproof.spec.partition.context import NO_EPOCH

QUORUM = "quorum"
Topic = Number(0, Bound("topics"))
LeaderEpoch = Number(NO_EPOCH, Bound("changes"))

CONTENT = Record(
    topic=(Topic, "id of the topic, 0 where there is none"),
    replicas=(SetOf("brokers"), "its assignment"),
    leader=(Id("brokers", nobody=True), "its leader"),
    leader_epoch=(LeaderEpoch, "its leader epoch, -1 where there is no topic"),
    isr=(SetOf("brokers"), "its ISR"),
)
HOST = CONTENT.changed(
    topic=(Topic, "id of the topic whose log it has, 0 without a log"),
    replicas=(SetOf("brokers"), "as a leader: the assignment that it knows"),
    leader=(Id("brokers", nobody=True), "whom it follows, or itself"),
    leader_epoch=(LeaderEpoch, "the leader epoch that it knows, -1 for none"),
    isr=(SetOf("brokers"), "as a leader: the ISR that it knows"),
).extended(
    up=(Flag(), "its process runs"),
    new=(Flag(), "it has registered, and was told nothing since"),
    stopped=(Flag(), "StopReplica without delete: it fetches no more"),
    cached=(Topic, "id of the topic in its metadata cache, 0 for none"),
)
STATE = Record(
    log=(CONTENT, "the partition as of the last record"),
    told=(CONTENT, "the partition as the leader of the quorum has told it last"),
    tells=(Flag(), "the leader of the quorum has told everything, and tells what changes from now on"),
    hosts=(Array(HOST, "brokers"), "what each broker has"),
    created=(Number(0, Budget("topics", -1)), "topics that were created again so far"),
    changes=(Number(0, Budget("changes")), "changes so far"),
    failovers=(Number(0, Budget("failovers")), "failovers of the quorum so far"),
    restarts=(Number(0, Budget("restarts")), "brokers that were shut down so far"),
)


def lanes(scope):
    """One lane for the quorum, one for each broker."""
    return [QUORUM, *lanes_of(scope)[1:]]


def put(content, topic, replicas, leader, leader_epoch, isr):
    """Write the partition."""
    content.topic = topic
    content.replicas = replicas
    content.leader = leader
    content.leader_epoch = leader_epoch
    content.isr = isr


def copy(source, content):
    """Make the partition the same as elsewhere."""
    put(content, source.topic, source.replicas, source.leader, source.leader_epoch, source.isr)


def is_same(one, other):
    """Whether the partition is the same in two places."""
    placed = one.topic == other.topic and one.replicas == other.replicas
    return placed and one.leader == other.leader and one.leader_epoch == other.leader_epoch and one.isr == other.isr


def clear(content):
    """There is no topic, or no replica."""
    put(content, 0, 0, NOBODY, NO_EPOCH, 0)


def initial(s, alone: Flag()):
    """The copy is committed, and the quorum has told nobody yet. Broker 0 leads the partition. All brokers are in sync, or
    it stands `alone`.
    """
    replicas = only(0)
    for b in range(len(s.hosts)):
        if not alone:
            replicas = with_member(replicas, b)
    put(s.log, 1, replicas, 0, 0, replicas)
    clear(s.told)
    for b in range(len(s.hosts)):
        host = s.hosts[b]
        clear(host)
        host.up = 1
        host.cached = 1
        if b == 0:
            put(host, 1, replicas, 0, 0, replicas)
        elif not alone:
            put(host, 1, 0, 0, 0, 0)
