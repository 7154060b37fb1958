"""StopReplica without delete: who fetches no more."""

import pytest

from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.replica.broker import FETCHING, LEADER, NONE, TRUNCATING
from kafkaproof.spec.running.processes import PARTITION, cluster, scopes


@pytest.mark.parametrize(
    "state, own, told, seen, after",
    [
        (FETCHING, 2, 2, 0, NONE),
        (TRUNCATING, 2, 3, 0, NONE),
        (FETCHING, 2, 1, 0, FETCHING),  # it was decided in an earlier leader epoch
        (FETCHING, 2, -1, 0, NONE),  # the topic is queued for deletion
        (FETCHING, 2, 2, 2, FETCHING),  # a controller of a higher epoch was heard
        (LEADER, 2, 2, 0, LEADER),
    ],
)
def test_a_follower_fetches_no_more_unless_the_request_is_too_old(state, own, told, seen, after):
    model = cluster("fenced").partition
    s = new_state(model.state, scopes(2, 2, 1, 1, 4)[PARTITION])
    model.initial(s)
    s.brokers[1].seen_epoch, s.brokers[1].replicas[0].leader_epoch = seen, own
    s.planes[0].brokers[1].state, s.planes[0].brokers[1].leader_epoch = state, own
    halt = model.transition("halt_replica").function
    assert not halt(s, 1, 1, 0)
    s.network.halts[1][0].to, s.network.halts[1][0].leader_epochs[1] = 0b10, told
    assert halt(s, 1, 1, 0) and s.planes[0].brokers[1].state == after
    assert s.brokers[1].seen_epoch == max(seen, 1) and s.network.halts[1][0].to == 0
