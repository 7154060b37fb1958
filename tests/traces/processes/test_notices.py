"""Which notifications are there after a transaction: those that have come and are not deleted."""

from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.traces.processes.recorded.notices import Notice, Notices

ABOUT = st.frozensets(st.integers(0, 3), min_size=1)
COMING = st.lists(st.tuples(st.integers(1, 20), st.integers(0, 9), ABOUT), max_size=8)


@given(coming=COMING, zxid=st.integers(0, 32))
def test_those_are_there_that_have_come_and_are_not_deleted(coming, zxid):
    notices = [Notice(since, f"/n{n}", about) for n, (since, _, about) in enumerate(coming)]
    ended = [Notice(since + lives, f"/n{n}", None) for n, (since, lives, _) in enumerate(coming) if lives]
    there = {
        each
        for since, lives, about in coming
        if since <= zxid and not (lives and since + lives <= zxid)
        for each in about
    }
    assert sorted(Notices([*notices, *ended]).there(zxid)) == sorted(there)
