"""Mutants of liveness of control requests. They are not held to the writing rules."""

from kafkaproof.spec.language.mutants.mutant import mutant
from kafkaproof.spec.requests import network
from kafkaproof.spec.requests.batch import take_batch
from kafkaproof.spec.requests.model import scope
from kafkaproof.spec.requests.network import UNANSWERED, answer


def give_up_batch(network, epoch, b, delivery, error):
    """A sender that loses an answer gives up all of the batch, instead of sending the request again."""
    if delivery != UNANSWERED:
        return answer(network, epoch, b, delivery, error)
    network.faults += 1
    take_batch(network.channels[epoch][b].queue)
    return error


ONE_TERM = scope(epochs=1)
REQUESTS = (mutant("lost-not-sent-again", "all_agree", {network.answer: give_up_batch}, ONE_TERM),)
