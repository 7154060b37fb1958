"""A broker that no controller has told of a leader yet answers consumers as one that has no partition."""

from types import SimpleNamespace

import pytest

from kafkaproof.impl.clients.offsets import why_not
from kafkaproof.spec.replica.broker import LEADER


@pytest.mark.parametrize(
    "leader_epoch, state, asked, told",
    [
        (-1, 0, 2, "NOT_LEADER_OR_FOLLOWER"),
        (-1, 0, -1, "NOT_LEADER_OR_FOLLOWER"),
        (1, LEADER, 2, "UNKNOWN_LEADER_EPOCH"),
        (3, LEADER, 2, "FENCED_LEADER_EPOCH"),
        (2, LEADER, 2, None),
    ],
)
def test_epochs_are_compared_by_who_was_told_of_a_leader(leader_epoch, state, asked, told):
    plane = SimpleNamespace(replica=SimpleNamespace(leader_epoch=leader_epoch, state=state))
    assert why_not(plane, asked) == told
