"""What operators ask for has a bound of its own here, so that it does not use up the faults."""

from kafkaproof.spec.language.domains import Budget, Number, Record


def with_requests(state: Record) -> Record:
    """A state that counts what operators ask for."""
    return state.extended_at("zk", requests=(Number(0, Budget("requests")), "what operators have asked for so far"))


def count_request(zk):
    """An operator has asked for something."""
    zk.requests += 1
