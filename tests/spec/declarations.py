"""Hypothesis strategies for records, and for states of a record."""

from hypothesis import strategies as st

from kafkaproof.spec.language.domains import Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.layout import leaves, length
from kafkaproof.spec.language.plain import new_state, put

SCOPE = {"ids": 3, "few": 1, "size": 2, "limit": 5}
NAMES = ("alpha", "beta", "gamma", "delta")
BOUNDS = st.sampled_from([Bound("size"), Bound("limit", -3), Bound("few", 2)])

from_zero = st.one_of(
    st.builds(Number, st.integers(-300, 0), st.integers(0, 1 << 20)),
    st.builds(Number, st.just(-1), st.just(Bound("limit"))),
    st.just(Flag()),
    st.builds(Id, st.sampled_from(["ids", "few"]), st.booleans()),
    st.just(SetOf("ids")),
    st.sampled_from([Choice("A"), Choice("A", "B", "C")]),
)
scalars = from_zero | st.just(Number(1, 3)) | st.just(Number(7, 7))


def _records(domains):
    return st.dictionaries(st.sampled_from(NAMES), domains, min_size=1).map(
        lambda fields: Record(**{name: (domain, f"the {name}") for name, domain in fields.items()})
    )


def _composed(domains):
    elements = domains.filter(lambda domain: not isinstance(domain, Array))
    return (
        st.builds(Array, elements, st.sampled_from(["ids", "few"]))
        | st.builds(Array, from_zero, BOUNDS)
        | st.builds(Sequence, from_zero | _records(from_zero), BOUNDS)
        | _records(domains)
    )


records = _records(st.recursive(scalars, _composed, max_leaves=5))


@st.composite
def declared_states(draw):
    """A record and a state of it within its ranges, its sequences zero beyond their length."""
    record = draw(records)
    return record, draw(states(record))


@st.composite
def states(draw, record, scope=SCOPE):
    """A state of `record` within its ranges, its sequences zero beyond their length."""
    state = new_state(record, scope)
    for leaf in leaves(record, scope):
        put(state, leaf.path, draw(st.integers(leaf.low, leaf.high)))
    _empty_beyond_length(record, state, scope)
    return state


def _empty_beyond_length(domain, value, scope):
    if isinstance(domain, Sequence):
        slots = domain.fields["slots"].domain
        fresh = new_state(domain, scope).slots
        value.slots[value.length :] = fresh[value.length :]
        assert len(value.slots) == length(slots, scope) + 1
    if isinstance(domain, Record):
        for name, field in domain.fields.items():
            _empty_beyond_length(field.domain, getattr(value, name), scope)
    elif isinstance(domain, Array):
        for element in value:
            _empty_beyond_length(domain.of, element, scope)
