"""What followers fetch, leaders give and producers are told in real clusters are steps, and what is changed in it is found."""

from functools import cache

import pytest
import tampered_data
from tampered import NAMES, found_in, recorded, sampled
from tampered_data import AT_ONCE, FETCH, PRODUCE, UNANSWERED

from kafkaproof.traces.wire.replica.judge import DATA
from kafkaproof.traces.wire.verdicts import CONFORMS, LISTED, STEP

KINDS = [*tampered_data.ASKED, *tampered_data.TOLD, (PRODUCE, AT_ONCE), (FETCH, UNANSWERED)]
TRIED = 4
"""So many changes of a kind are tried until one is found."""
real = cache(recorded)


@pytest.mark.parametrize("name", NAMES)
def test_the_data_path_of_real_clusters_conforms(name):
    judged = real(name).judged_of_data(real(name).exchanges)
    assert judged.verdict == CONFORMS, judged.first
    assert all(judged.of_kind(api, STEP) > 40 * judged.of_kind(api, LISTED) for api in DATA)
    assert judged.of_kind(FETCH, STEP) > 200


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: " ".join(kind))
def test_what_is_changed_is_found(kind):
    tried = [(name, each) for name in NAMES[1:] for each in sampled(real(name), kind, TRIED)]
    tried += [(NAMES[0], each) for each in sampled(real(NAMES[0]), kind, TRIED)] if not tried else []
    assert any(found_in(real(name), each)[0] for name, each in tried)
