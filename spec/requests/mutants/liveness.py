"""Mutants of liveness of control requests. They are not held to the writing rules."""

from kafkaproof.spec.requests import network
from kafkaproof.spec.requests.batch import take_batch
from kafkaproof.spec.requests.mutants.requests import ONE_TERM, mutant
from kafkaproof.spec.requests.network import UNANSWERED, take_request


def give_up_batch(net, epoch, b, delivery):
    """A sender that loses an answer gives up all of the batch, instead of sending the request again."""
    if delivery == UNANSWERED:
        take_batch(net.channels[epoch][b].queue)
    else:
        take_request(net, epoch, b, delivery)


REQUESTS = (mutant("lost-not-sent-again", "all_agree", {network.take_request: give_up_batch}, ONE_TERM),)
