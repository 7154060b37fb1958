"""Mutants of liveness of election. They are not held to the writing rules."""

from kafkaproof.spec.election import election
from kafkaproof.spec.election.broker_state import CONFIRMING, CREATING
from kafkaproof.spec.election.election import register
from kafkaproof.spec.election.model import scope
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka import zookeeper
from kafkaproof.spec.kafka.zookeeper import EXPIRED, MINE, NONODE, OK, Delivery, session_open
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.mutants.mutant import mutant


def read_unwatched(zk, b):
    """getData of /controller that arms no watch: of what follows the broker hears nothing."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller == NOBODY:
        return NONODE
    return MINE if zk.controller == b else OK


def register_unconfirmed(s, b: Broker, delivery: Delivery):
    """Nobody looks who won when the version of /controller_epoch is refused: the same write is tried again."""
    if not register(s, b, delivery):
        return False
    if s.brokers[b].doing == CONFIRMING and s.zk.controller == NOBODY:
        s.brokers[b].doing = CREATING
    return True


TWO_BROKERS = scope()
ONE_ELECTION = scope(brokers=1, epochs=1, faults=2)
UNWATCHED = {zookeeper.read_controller: read_unwatched}
ELECTION = (mutant("deposed-unheard", "one_ruler", UNWATCHED, TWO_BROKERS),)
STANDING = (
    mutant("deletion-unheard", "one_controller", UNWATCHED, TWO_BROKERS),
    mutant("own-write-unconfirmed", "one_controller", {election.register: register_unconfirmed}, ONE_ELECTION),
)
