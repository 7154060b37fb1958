"""Whether replay takes an election for one that is held again: as the transitions of the log's releases do it."""

import pytest

from kafkaproof.traces.evidence.features import RANGES
from kafkaproof.traces.explain.partitions.rounds import BatchRun, is_elected_again
from kafkaproof.traces.explain.partitions.strategies import Strategy

ELECTIONS = (
    Strategy.OFFLINE,
    Strategy.OFFLINE_UNCLEAN,
    Strategy.PREFERRED,
    Strategy.REASSIGN,
    Strategy.CONTROLLED_SHUTDOWN,
)
OLDEST, OLD, FORMER, NEW = RANGES
WHOLE_BATCHES = [(NEW, False), (FORMER, True), (OLD, True), (OLDEST, False)]


@pytest.mark.parametrize("strategy", ELECTIONS, ids=str)
@pytest.mark.parametrize("features, whole", WHOLE_BATCHES, ids=lambda each: str(getattr(each, "releases", each)))
def test_from_1_1_to_2_3_a_whole_batch_is_elected_again(features, whole, strategy):
    run = BatchRun(features.electing, strategy)
    assert (run.after_own_lost_answer(), run.after_another()) == (True, whole)
    assert is_elected_again(features, strategy)


@pytest.mark.parametrize("features, whole", WHOLE_BATCHES, ids=lambda each: str(getattr(each, "releases", each)))
def test_a_first_state_is_created_once(features, whole):
    assert not is_elected_again(features, Strategy.NEW_TOPIC)
