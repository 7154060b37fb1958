"""Which partitions a member claims, by the transitions of *consumer*, from what it may have read."""

from collections.abc import Mapping
from functools import lru_cache

from kafkaproof.spec.consumer import rebalance
from kafkaproof.spec.consumer.assignment import MOST_MEMBERS
from kafkaproof.spec.consumer.member import CLAIMING, READING_TOPIC
from kafkaproof.spec.consumer.model import CHECKED, ROUND_ROBIN, scope
from kafkaproof.spec.kafka.zookeeper import ANSWERED, PROCESS
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.language.sets import contains

MOST_PARTITIONS, MOST_THREADS = 128, 8
"""A topic with more partitions, and members with more threads, are not computed."""


def is_computed(members: int, threads: int, partitions: int) -> bool:
    """Whether an assignment of this size is computed."""
    return members <= MOST_MEMBERS and threads <= MOST_THREADS and partitions <= MOST_PARTITIONS


@lru_cache(maxsize=10_000)
def claims(strategy: str, members: int, place: int, threads: int, partitions: int) -> Mapping[int, int]:
    """The thread by which a member claims each of its partitions; `strategy`: ``range`` or ``roundrobin``.

    It has read `members` ids, its own at that `place`, and that many `partitions`. Each member has as many `threads`.
    """
    model = {"range": CHECKED, "roundrobin": ROUND_ROBIN}[strategy]
    state = _that_has_read(model, members, place, threads, partitions)
    consumer, found = state.consumers[place], {}
    _take(model, rebalance.read_partitions.__name__, state, place)
    for p in range(partitions):
        if contains(consumer.left, p):
            _take(model, rebalance.read_offset.__name__, state, place, p)
    for p in range(partitions):
        if consumer.doing == CLAIMING and contains(consumer.left, p):
            _take(model, rebalance.claim.__name__, state, place, p, ANSWERED)
            found[p] = state.zk.partitions[p].thread
    return found


def _that_has_read(model: Model, members: int, place: int, threads: int, partitions: int):
    """The state of a group whose member has released everything, and read which members there are."""
    state = new_state(model.state, scope(consumers=members, partitions=partitions, threads=threads))
    model.initial(state, 0)
    for client in state.zk.clients:
        client.session, client.registered = 1, PROCESS
    consumer = state.consumers[place]
    consumer.up, consumer.doing, consumer.members = 1, READING_TOPIC, (1 << members) - 1
    return state


def _take(model: Model, name: str, state, *arguments: int) -> None:
    if not model.transition(name).function(state, *arguments):
        raise RuntimeError(f"{name} of {model.name} is not enabled where a member claims: a defect")
