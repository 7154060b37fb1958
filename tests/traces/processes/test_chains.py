"""The chain of a log is that of all its records, whatever was written since it was asked for, and each is linked once."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.language.digest import EMPTY, link
from kafkaproof.traces.processes.state.chains import Chain

SIZE = 6
NAMES = [100 + id for id in range(5)]
WRITES = st.lists(
    st.one_of(st.tuples(st.integers(0, SIZE - 1), st.integers(0, 3), st.integers(0, 4)), st.integers(0, SIZE)),
    max_size=30,
)


def log():
    return SimpleNamespace(slots=[SimpleNamespace(epoch=0, id=0) for _ in range(SIZE)], length=0)


def plainly(log):
    """The chain of a log, from its beginning."""
    found = EMPTY
    for entry in log.slots[: log.length]:
        found = link(found, entry.epoch, NAMES[entry.id])
    return found


@given(writes=WRITES)
def test_it_is_the_chain_of_the_log_as_it_is(writes):
    written, chain = log(), Chain(NAMES)
    for write in writes:
        if isinstance(write, int):
            written.length = write
        else:
            place, epoch, id = write
            written.slots[place] = SimpleNamespace(epoch=epoch, id=id)
            chain.forget(place)
        assert chain.of(written) == plainly(written)


def test_each_record_is_linked_once():
    class Counted(list):
        read = 0

        def __getitem__(self, place):
            Counted.read += 1
            return super().__getitem__(place)

    growing, chain = log(), Chain(NAMES)
    growing.slots = Counted(growing.slots)
    for length in range(SIZE + 1):
        growing.length = length
        chain.of(growing)
        chain.of(growing)
    assert Counted.read == SIZE
