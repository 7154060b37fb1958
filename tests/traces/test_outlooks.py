"""What is remembered of what controllers may have seen is what is found when it is asked for the first time."""

from math import inf

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.traces.basics.columns import Rows
from kafkaproof.traces.basics.versions import Versions
from kafkaproof.traces.evidence.broker_views import Views
from kafkaproof.traces.evidence.choices import Census, Choice
from kafkaproof.traces.evidence.cluster_inputs import Departure
from kafkaproof.traces.evidence.shutdowns import LEAVES_WITHIN, Leaving
from kafkaproof.traces.evidence.terms import ObservedTerm, Term

LAST, BROKERS = 14, (1, 2, 3)
ZXIDS = st.integers(1, LAST)


@st.composite
def clusters(draw):
    """Versions of /brokers/ids, whom controllers chose, and controllers of which some began at the same time."""
    brokers, departures, there = Versions(frozenset(BROKERS)), {broker: [] for broker in BROKERS}, frozenset(BROKERS)
    for zxid, now in sorted(draw(st.dictionaries(ZXIDS, st.frozensets(st.sampled_from(BROKERS)), max_size=4)).items()):
        for broker in there - now:
            departures[broker].append(Departure(zxid, time_of(zxid)))
        brokers.add(zxid, now)
        there = now
    starts = draw(st.lists(st.sampled_from([0, 0, 1, 3]), min_size=2, max_size=3))
    terms = [Term(epoch, 7, start, inf, False, False) for epoch, start in enumerate(starts, 1)]
    census = Census(departures, {})
    choices, rows = st.tuples(ZXIDS, st.sampled_from(range(len(terms))), st.sampled_from(BROKERS)), Rows("qr")
    for zxid, term, broker in sorted(draw(st.lists(choices, max_size=8))):
        rows.append(zxid, Choice(terms[term].key, broker, None))
    census.add(rows)
    for zxid, (term, broker, _) in rows:
        assert census.chosen[term, broker, census.life(broker, zxid)] >= zxid
    assert set(census.chosen.values()) <= set(rows.columns[0])
    return brokers, Leaving(departures, time_of(LAST), census), terms


def time_of(zxid: int) -> int:
    """A third of the time in which a broker leaves passes from record to record."""
    return zxid * LEAVES_WITHIN // 3


@given(clusters(), st.data())
def test_sights_are_the_same_whatever_was_asked_before(cluster, data):
    brokers, leaving, terms = cluster
    remembering, leader = Views(brokers, leaving), data.draw(st.none() | st.sampled_from(BROKERS))
    by_term = [(term, zxid) for term in terms for zxid in range(3, LAST + 1)]
    by_zxid = [(term, zxid) for zxid in range(3, LAST + 1) for term in terms]
    any_order = st.lists(st.sampled_from(by_term), max_size=20)
    for term, zxid in data.draw(st.sampled_from([by_term, by_zxid, by_zxid[:: len(terms)]]) | any_order):
        term, elected = ObservedTerm(term, term.start), data.draw(st.sampled_from([term.start, zxid]))
        codes, keys, times = np.array([1]), [(9, 9), term.key], np.array([time_of(zxid)])
        (moment,) = remembering.moments(codes, keys, times, np.array([zxid]))
        found = remembering.sights(term, leader, elected, moment).value
        assert found == Views(brokers, leaving).sights(term, leader, elected, moment).value
        for sight in found:
            assert sight.leaving == {
                b for b in sight.view.brokers if leaving.gone_soon(b, sight.view.zxid, time_of(zxid), zxid, term.key)
            }
            stood = brokers.between(elected, max(elected, sight.view.zxid))
            assert sight.leaderless == (leader is not None and any(leader not in v.value for v in stood))
