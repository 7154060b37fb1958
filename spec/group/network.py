"""The network between clients and coordinators, and the group's member ids.

A client has at most one request that it waits for. When it may send one, the request is in `requests`, and
may arrive at any broker: FindCoordinator answers from cached metadata, which may be stale, so that a client
may take any broker for the coordinator. That it was sent only then, or long before, makes no difference,
since the client does nothing else meanwhile. A client that gives up closes its connection: the request may
still arrive (`late`, one for each client: the latest), the answer goes nowhere. Leaving is a
late request from the beginning: nobody waits for its answer. An answer that the client has not yet received is in
`answers`.

Member ids: a client that joins without one has the id in its request that the coordinator would draw
for it (`known` is 0). It is the least that nobody holds: no client, message, cache or record.

`epoch` in an answer is the leader epoch of the coordinator that gave it. Kafka's answers do not say it; only
properties read it.
"""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, SYNC_PARKED, unpark
from kafkaproof.spec.group.sorts import Epoch, Generation, MemberId
from kafkaproof.spec.language.domains import NOBODY, Array, Choice, Flag, Record
from kafkaproof.spec.language.sets import contains, only

Verdict = Choice(
    "UNANSWERED",
    "NONE",
    "PARKED",  # will be answered when the rebalance goes on
    "STORED",  # will be answered when the append is acknowledged, or has failed
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
    kind=(Request, "what is asked"),
    id=(MemberId, "member id, or the id to be drawn"),
    known=(Flag(), "the client sends the id"),
    generation=(Generation, "generation, 0 for none"),
    leading=(Flag(), "SyncGroup has an assignment: the client was told that it leads"),
)
ANSWER = Record(
    verdict=(Verdict, "error code"),
    id=(MemberId, "member id"),
    generation=(Generation, "generation"),
    epoch=(Epoch, "leader epoch of the coordinator"),
    leading=(Flag(), "the answer to JoinGroup has the list of members"),
    owns=(Flag(), "the assignment is the topic partition"),
)
NETWORK = Record(
    requests=(Array(REQUEST, "clients"), "requests that clients wait for, or may send"),
    late=(Array(REQUEST, "clients"), "requests that nobody waits for any more"),
    answers=(Array(ANSWER, "clients"), "answers on their way"),
)


def put_request(request, kind, id, known, generation, leading):
    """Fill a request."""
    request.kind = kind
    request.id = id
    request.known = known
    request.generation = generation
    request.leading = leading


def drop_request(request):
    """There is no request."""
    put_request(request, NOTHING, NOBODY, 0, 0, 0)


def drop_answer(answer):
    """There is no answer."""
    answer.verdict = UNANSWERED
    answer.id = NOBODY
    answer.generation = 0
    answer.epoch = 0
    answer.leading = 0
    answer.owns = 0


def ask(network, m, kind, id, known, generation, leading):
    """Client `m` has received what it waited for, and may now ask this."""
    drop_answer(network.answers[m])
    put_request(network.requests[m], kind, id, known, generation, leading)


def asked(network, m, late):
    """What client `m` asks, or has asked before it gave up: an arrival."""
    return network.late[m].kind if late else network.requests[m].kind


def id_of(network, m, late):
    """The member id in the request, or that would be drawn."""
    return network.late[m].id if late else network.requests[m].id


def id_known(network, m, late):
    """Whether the request has a member id."""
    return network.late[m].known if late else network.requests[m].known


def generation_of(network, m, late):
    """The generation in the request."""
    return network.late[m].generation if late else network.requests[m].generation


def waits_in_generation(network, m):
    """Whether client `m` waits for the answer to a request in which it has named its generation: a sync, a commit."""
    return network.requests[m].kind == WAIT and network.requests[m].generation > 0


def has_assignment(network, m, late):
    """Whether a SyncGroup request has an assignment."""
    return network.late[m].leading if late else network.requests[m].leading


def waiter(m, late):
    """Who waits for the answer: the client, or nobody."""
    return 0 if late else only(m)


def answer(network, m, late, verdict):
    """Take a request, and answer it with an error; NONE with a content is given by what follows."""
    if late:
        drop_request(network.late[m])
    elif verdict == PARKED or verdict == STORED:
        network.requests[m].kind = WAIT
    elif verdict != NONE:
        network.requests[m].kind = WAIT
        network.answers[m].verdict = verdict
    return verdict


def answer_operator(network, verdict):
    """Answer a request of an operator's tool, or of a consumer without a group."""
    return verdict


def operator(network):
    """Who waits for the answer to an operator's commit, as a set: nobody that is modelled."""
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
    """Answer a request that was kept with an error."""
    for m in range(len(network.answers)):
        if contains(clients, m):
            network.answers[m].verdict = verdict


def give_commit(network, clients):
    """Answer a commit: NONE, which leaves the client as it was before it asked."""
    for m in range(len(network.answers)):
        if contains(clients, m):
            network.requests[m].kind = WORK


def answer_joins(network, group, epoch):
    """Every parked join gets the new generation, and the leader alone the list of members."""
    for id in range(len(group.members) - 1):
        member = group.members[id]
        if member.parked == JOIN_PARKED:
            leading = 1 if group.leader == id else 0
            give_generation(network, member.waiter, id, group.generation, epoch, leading)
            unpark(member)


def answer_syncs(network, group, epoch):
    """Every parked sync gets its share of the assignment."""
    for id in range(len(group.members) - 1):
        member = group.members[id]
        if member.parked == SYNC_PARKED:
            give_assignment(network, member.waiter, epoch, 1 if group.owner == id else 0)
            unpark(member)


def refuse(network, group, request, verdict):
    """Every parked request of one kind is answered with an error."""
    for member in group.members:
        if member.parked == request:
            give_error(network, member.waiter, verdict)
            unpark(member)


def hang_up(network, m):
    """Client `m` closes its connection: what it waits for is not received, what it has sent may arrive."""
    request = network.requests[m]
    if request.kind == JOIN or request.kind == SYNC or request.kind == WORK:
        kind = COMMIT if request.kind == WORK else request.kind
        put_request(network.late[m], kind, request.id, request.known, request.generation, request.leading)
    drop_answer(network.answers[m])
    drop_request(request)


def say_goodbye(network, m):
    """Client `m` sends LeaveGroup, and does not wait."""
    request = network.requests[m]
    put_request(network.late[m], LEAVE, request.id, 1, 0, 0)
    drop_request(request)


def in_messages(network, id):
    """Whether a request or an answer holds a member id."""
    for m in range(len(network.answers)):
        if network.requests[m].id == id or network.late[m].id == id or network.answers[m].id == id:
            return True
    return False


def instance(m):
    """The group.instance.id in the requests of client `m`, as a set: nobody is static."""
    return 0


def shared_instance(m):
    """Clients 0 and 1 are configured with one group.instance.id, as two processes of one client are."""
    return only(0) if m < 2 else 0
