"""Mutants of liveness of the control plane: mistakes by which something that must come does not.

They are not held to the writing rules.
"""

from spec import zookeeper
from spec.language.domains import NOBODY
from spec.language.model import first_paragraph
from spec.mutants.mutant import Mutant, everywhere
from spec.requests.batch import take_batch
from spec.requests.network import UNANSWERED, answer
from spec.zookeeper import EXPIRED, MINE, NONODE, OK, session_open


def read_unwatched(zk, b):
    """getData of /controller that arms no watch: of what follows the broker hears nothing."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller == NOBODY:
        return NONODE
    return MINE if zk.controller == b else OK


def give_up_batch(network, epoch, b, fate, error):
    """A sender that loses an answer gives up all of the batch, instead of sending the request again."""
    if fate != UNANSWERED:
        return answer(network, epoch, b, fate, error)
    network.faults += 1
    take_batch(network.channels[epoch][b].queue)
    return error


def mutant(name, kills, replacements, at):
    """A mutant that is told by the docstring of what replaces something."""
    return Mutant(name, first_paragraph(next(iter(replacements.values()))), kills, everywhere(replacements), at)


TWO_BROKERS = {"brokers": 2, "epochs": 2, "faults": 1, "receivers": 1}
ONE_REIGN = {"brokers": 2, "replicas": 2, "epochs": 1, "leader_epochs": 1, "queue": 3, "faults": 1}
UNWATCHED = {zookeeper.read_controller: read_unwatched}
ELECTION = (mutant("deposed-unheard", "one_ruler", UNWATCHED, TWO_BROKERS),)
STANDING = (mutant("deletion-unheard", "one_controller", UNWATCHED, TWO_BROKERS),)
REQUESTS = (mutant("lost-not-sent-again", "all_agree", {answer: give_up_batch}, ONE_REIGN),)
