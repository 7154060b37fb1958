"""The network between clients and coordinators, and the group's member ids.

A client waits for at most one request. As soon as it may send one, the request is in `requests` and may arrive at any
broker: FindCoordinator answers from cached metadata, which may be stale, so a client may take any broker for the
coordinator. It makes no difference whether the request was sent just before it arrives or long before, because the
client does nothing else meanwhile. A client that gives up closes its connection: the request may still arrive (`late`
keeps the latest one of each client), but its answer is lost. LeaveGroup is a late request from the beginning: nobody
waits for its answer. `answers` holds the answers that clients have not yet received.

Member ids: the request of a client that joins without one has the id that the coordinator would draw for it, and
`known` is 0. It is the least id that no client, message, cache or record holds.

`epoch` in an answer is the leader epoch of the coordinator that gave it. Kafka's answers do not contain it; only
properties read it.
"""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, SYNC_PARKED, unpark
from kafkaproof.spec.group.sorts import Epoch, Generation, MemberId
from kafkaproof.spec.language.domains import NOBODY, Array, Choice, Flag, Record
from kafkaproof.spec.language.sets import contains, only

Verdict = Choice(
    "UNANSWERED",
    "NONE",
    "PARKED",  # answered when the rebalance goes on
    "STORED",  # answered when the append is acknowledged or has failed
    "UNKNOWN_MEMBER_ID",
    "ILLEGAL_GENERATION",
    "REBALANCE_IN_PROGRESS",
    "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR",
    "REQUEST_TIMED_OUT",
    "MEMBER_ID_REQUIRED",
    "FENCED_INSTANCE_ID",
    "INCONSISTENT_GROUP_PROTOCOL",
    "NON_EMPTY_GROUP",
    "GROUP_ID_NOT_FOUND",
    "GROUP_MAX_SIZE_REACHED",
    "UNKNOWN_SERVER_ERROR",
    "INVALID_COMMIT_OFFSET_SIZE",
    "UNSTABLE_OFFSET_COMMIT",
    "GROUP_SUBSCRIBED_TO_TOPIC",
    "INVALID_GROUP_ID",
    "INVALID_SESSION_TIMEOUT",
    "OFFSET_METADATA_TOO_LARGE",
    "GROUP_AUTHORIZATION_FAILED",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "DISCONNECTED",  # no answer: the connection broke
)
(
    UNANSWERED,
    NONE,
    PARKED,
    STORED,
    UNKNOWN_MEMBER_ID,
    ILLEGAL_GENERATION,
    REBALANCE_IN_PROGRESS,
    COORDINATOR_LOAD_IN_PROGRESS,
    COORDINATOR_NOT_AVAILABLE,
    NOT_COORDINATOR,
    REQUEST_TIMED_OUT,
    MEMBER_ID_REQUIRED,
    FENCED_INSTANCE_ID,
    INCONSISTENT_GROUP_PROTOCOL,
    NON_EMPTY_GROUP,
    GROUP_ID_NOT_FOUND,
    GROUP_MAX_SIZE_REACHED,
    UNKNOWN_SERVER_ERROR,
    INVALID_COMMIT_OFFSET_SIZE,
    UNSTABLE_OFFSET_COMMIT,
    GROUP_SUBSCRIBED_TO_TOPIC,
    INVALID_GROUP_ID,
    INVALID_SESSION_TIMEOUT,
    OFFSET_METADATA_TOO_LARGE,
    GROUP_AUTHORIZATION_FAILED,
    UNKNOWN_TOPIC_OR_PARTITION,
    DISCONNECTED,
) = Verdict
Request = Choice(
    "NOTHING",
    "JOIN",
    "SYNC",
    "WORK",  # heartbeats and commits, whenever it likes
    "COMMIT",
    "LEAVE",
    "WAIT",  # it has sent a request, and waits for the answer
)
NOTHING, JOIN, SYNC, WORK, COMMIT, LEAVE, WAIT = Request

REQUEST = Record(
    kind=(Request, "the kind of request"),
    id=(MemberId, "member id, or the id to be drawn"),
    known=(Flag(), "the request contains the member id"),
    generation=(Generation, "generation, 0 for none"),
    leading=(Flag(), "SyncGroup contains an assignment, because the client was told that it leads"),
)
ANSWER = Record(
    verdict=(Verdict, "error code"),
    id=(MemberId, "member id"),
    generation=(Generation, "generation"),
    epoch=(Epoch, "leader epoch of the coordinator"),
    leading=(Flag(), "the answer to JoinGroup contains the list of members"),
    owns=(Flag(), "the client is assigned the topic partition"),
)
NETWORK = Record(
    requests=(Array(REQUEST, "clients"), "requests that clients wait for, or may send"),
    late=(Array(REQUEST, "clients"), "requests that nobody waits for"),
    answers=(Array(ANSWER, "clients"), "answers in flight"),
)


def put_request(request, kind, id, known, generation, leading):
    """Fill a request."""
    request.kind = kind
    request.id = id
    request.known = known
    request.generation = generation
    request.leading = leading


def drop_request(request):
    """Clear a request."""
    put_request(request, NOTHING, NOBODY, 0, 0, 0)


def drop_answer(answer):
    """Clear an answer."""
    answer.verdict = UNANSWERED
    answer.id = NOBODY
    answer.generation = 0
    answer.epoch = 0
    answer.leading = 0
    answer.owns = 0


def ask(network, m, kind, id, known, generation, leading):
    """Client `m` has received its answer, and may now send this request."""
    drop_answer(network.answers[m])
    put_request(network.requests[m], kind, id, known, generation, leading)


def asked(network, m, late):
    """The kind of request that client `m` sends, or sent before it gave up (`late`): an arrival."""
    return network.late[m].kind if late else network.requests[m].kind


def id_of(network, m, late):
    """The member id in the request, or the one that would be drawn for it."""
    return network.late[m].id if late else network.requests[m].id


def id_known(network, m, late):
    """Whether the client sent a member id in the request."""
    return network.late[m].known if late else network.requests[m].known


def generation_of(network, m, late):
    """The generation in the request."""
    return network.late[m].generation if late else network.requests[m].generation


def waits_in_generation(network, m):
    """Whether client `m` waits for the answer to a request that names its generation: a sync or a commit."""
    return network.requests[m].kind == WAIT and network.requests[m].generation > 0


def has_assignment(network, m, late):
    """Whether a SyncGroup request has an assignment."""
    return network.late[m].leading if late else network.requests[m].leading


def waiter(m, late):
    """The client that waits for the answer, if it still does, as a set."""
    return 0 if late else only(m)


def answer(network, m, late, verdict):
    """Take a request and answer it with an error code. Other functions add the content of a NONE."""
    if late:
        drop_request(network.late[m])
    elif verdict == PARKED or verdict == STORED:
        network.requests[m].kind = WAIT
    elif verdict != NONE:
        network.requests[m].kind = WAIT
        network.answers[m].verdict = verdict
    return verdict


def answer_operator(network, verdict):
    """Answer a request from an operator's tool, or from a consumer without a group."""
    return verdict


def operator(network):
    """The clients that wait for the answer to an operator's commit: none that is modelled."""
    return 0


def give_id(network, clients, id):
    """MEMBER_ID_REQUIRED names the id to join with."""
    for m in range(len(network.answers)):
        if contains(clients, m):
            network.answers[m].id = id


def give_generation(network, clients, id, generation, epoch, leading):
    """Answer a join: NONE."""
    for m in range(len(network.answers)):
        if contains(clients, m):
            network.requests[m].kind = WAIT
            network.answers[m].verdict = NONE
            network.answers[m].id = id
            network.answers[m].generation = generation
            network.answers[m].epoch = epoch
            network.answers[m].leading = leading


def give_assignment(network, clients, epoch, owns):
    """Answer a sync: NONE."""
    for m in range(len(network.answers)):
        if contains(clients, m):
            network.requests[m].kind = WAIT
            network.answers[m].verdict = NONE
            network.answers[m].epoch = epoch
            network.answers[m].owns = owns


def give_error(network, clients, verdict):
    """Answer a parked request with an error."""
    for m in range(len(network.answers)):
        if contains(clients, m):
            network.answers[m].verdict = verdict


def give_commit(network, clients):
    """Answer a commit: NONE, which leaves the client as it was before the request."""
    for m in range(len(network.answers)):
        if contains(clients, m):
            network.requests[m].kind = WORK


def answer_joins(network, group, epoch):
    """Answer every parked join with the new generation. Only the leader gets the list of members."""
    for id in range(len(group.members) - 1):
        member = group.members[id]
        if member.parked == JOIN_PARKED:
            leading = 1 if group.leader == id else 0
            give_generation(network, member.waiter, id, group.generation, epoch, leading)
            unpark(member)


def answer_syncs(network, group, epoch):
    """Answer every parked sync with its share of the assignment."""
    for id in range(len(group.members) - 1):
        member = group.members[id]
        if member.parked == SYNC_PARKED:
            give_assignment(network, member.waiter, epoch, 1 if group.owner == id else 0)
            unpark(member)


def refuse(network, group, request, verdict):
    """Answer every parked request of one kind with an error."""
    for member in group.members:
        if member.parked == request:
            give_error(network, member.waiter, verdict)
            unpark(member)


def hang_up(network, m):
    """Client `m` closes its connection. Its request may still arrive, but it will not receive the answer."""
    request = network.requests[m]
    if request.kind == JOIN or request.kind == SYNC or request.kind == WORK:
        kind = COMMIT if request.kind == WORK else request.kind
        put_request(network.late[m], kind, request.id, request.known, request.generation, request.leading)
    drop_answer(network.answers[m])
    drop_request(request)


def say_goodbye(network, m):
    """Client `m` sends LeaveGroup, and does not wait for the answer."""
    request = network.requests[m]
    put_request(network.late[m], LEAVE, request.id, 1, 0, 0)
    drop_request(request)


def in_messages(network, id):
    """Whether a request or an answer holds a member id."""
    for m in range(len(network.answers)):
        if network.requests[m].id == id or network.late[m].id == id or network.answers[m].id == id:
            return True
    return False


def may_be_told_id(network, m):
    """Whether the JoinGroup of client `m` may be answered with MEMBER_ID_REQUIRED: not one of a version before 4, and here
    each is of a later one. (From 2.2 on KafkaApis.handleJoinGroupRequest looks at the version; before, no id is required.)
    """
    return 1


def instance(network, m):
    """The group.instance.id in the requests of client `m`, as a set: empty, because no client is static."""
    return 0


def shared_instance(network, m):
    """The group.instance.id of client `m`: clients 0 and 1 share one, like two processes of the same client."""
    return only(0) if m < 2 else 0
