"""Hypothesis strategies for transactions of every kind, with values that a log can hold."""

from hypothesis import strategies as st

from kafkaproof.traces.zookeeper.transactions import (
    Acl,
    Check,
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Failure,
    Reconfig,
    SetAcl,
    SetData,
    Transaction,
)

INTS = st.integers(-(2**31), 2**31 - 1)
LONGS = st.integers(-(2**63), 2**63 - 1)
PATHS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12).map(lambda name: "/" + name)
DATA = st.none() | st.binary(max_size=40)
ACLS = (
    st.none()
    | st.just((Acl(31, "world", "anyone"),))
    | st.lists(st.builds(Acl, INTS, st.just("digest"), st.text("ab:", max_size=5)), max_size=2).map(tuple)
)
DIGESTS = st.just(b"") | st.binary(min_size=8, max_size=8).map(lambda digest: b"\0\0\0\2" + digest)

CREATES = st.one_of(
    st.builds(
        Create,
        PATHS,
        DATA,
        st.booleans(),
        INTS.filter(lambda cversion: cversion != -1),
        st.sampled_from(("create", "create2")),
        ACLS,
    ),
    st.builds(Create, PATHS, DATA, st.just(False), INTS, st.just("container"), ACLS),
    st.builds(Create, PATHS, DATA, st.just(False), INTS, st.just("ttl"), ACLS, LONGS),
)
OLD_CREATES = st.builds(Create, PATHS, DATA, st.booleans(), st.just(-1), st.just("create"), ACLS)
OPERATIONS = st.one_of(
    CREATES,
    st.builds(Delete, PATHS, st.booleans()),
    st.builds(SetData, PATHS, DATA, INTS),
    st.builds(SetAcl, PATHS, INTS, ACLS),
    st.builds(Check, PATHS, INTS),
    st.builds(Failure, INTS),
)
ALONE = st.one_of(
    OPERATIONS,
    st.builds(CreateSession, INTS),
    st.builds(CloseSession, st.none() | st.lists(PATHS, max_size=3).map(tuple)),
    st.builds(Reconfig, PATHS, DATA, st.just(-1)),
)
HEADER = (LONGS, st.integers(0, 2**64 - 1), INTS, LONGS)
TRANSACTIONS = st.one_of(
    st.builds(Transaction, *HEADER, st.tuples(ALONE), st.just(False), DIGESTS),
    st.builds(Transaction, *HEADER, st.tuples(OLD_CREATES), st.just(False)),
    st.builds(Transaction, *HEADER, st.lists(OPERATIONS | OLD_CREATES, max_size=4).map(tuple), st.just(True), DIGESTS),
)
