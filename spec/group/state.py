"""The whole state: brokers, clients, the network between them, the log of the offsets partition."""

from kafkaproof.spec.group.coordinator import BROKER, forget_group
from kafkaproof.spec.group.member import CLIENT, join_afresh
from kafkaproof.spec.group.network import NETWORK, drop_answer, drop_request
from kafkaproof.spec.group.producer.network import PRODUCER, conclude
from kafkaproof.spec.group.storage import STORAGE
from kafkaproof.spec.language.domains import NOBODY, Array, Record

STATE = Record(
    brokers=(Array(BROKER, "brokers"), "what each broker knows of the group"),
    clients=(Array(CLIENT, "clients"), "what each client knows"),
    network=(NETWORK, "requests and answers in flight"),
    storage=(STORAGE, "the offsets partition"),
    producer=(PRODUCER, "a producer that commits offsets in transactions"),
)


def initial(s):
    """Broker 0 is the coordinator, there is no group yet, and every client is about to join."""
    for m in range(len(s.clients)):
        drop_answer(s.network.answers[m])
        drop_request(s.network.requests[m])
        drop_request(s.network.late[m])
        s.clients[m].id = NOBODY
    for broker in s.brokers:
        forget_group(broker.group)
        broker.epoch = 1
    s.brokers[0].owned = 1
    s.storage.epoch = 1
    conclude(s.producer)
    for m in range(len(s.clients)):
        join_afresh(s, m)
