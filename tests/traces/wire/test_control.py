"""Control requests of real clusters conform, and what is changed in them is found at the message."""

from functools import cache

import pytest
from tampered import ASKED, LEADER, MOVED, NAMES, STOP, TOLD, UPDATE, found_in, recorded, sampled

from kafkaproof.traces.wire.replica.judge import DATA
from kafkaproof.traces.wire.verdicts import CONFORMS, STEP

OF_REQUESTS = [*ASKED, *TOLD, *((api, what) for what in MOVED for api in (LEADER, UPDATE, STOP))]
KINDS = [kind for kind in OF_REQUESTS if kind[0] not in DATA]
TRIED = 6
"""So many changes of a kind are tried until one is found."""
real = cache(recorded)


@pytest.mark.parametrize("name", NAMES)
def test_the_requests_of_real_controllers_conform(name):
    judged = real(name).judged(real(name).exchanges)
    assert judged.verdict == CONFORMS, judged.first
    steps = {api: judged.of_kind(api, STEP) for api in judged.counts}
    assert all(steps[api] for api in ("LeaderAndIsr", "UpdateMetadata", "StopReplica", "ControlledShutdown")), steps


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: " ".join(kind))
def test_what_is_changed_is_found_at_the_message(kind):
    name, tried = next((name, found) for name in NAMES if (found := sampled(real(name), kind, TRIED)))
    assert any(found_in(real(name), each)[1] for each in tried)
