import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.language.steps import Step, by_name, names, parse_step

WORDS = st.from_regex(r"[a-z_]\w{0,9}", fullmatch=True)
STEPS = st.builds(
    Step,
    st.lists(WORDS, min_size=1, max_size=2).map(".".join),
    st.dictionaries(WORDS, st.integers(-1, 99), max_size=3),
    st.none() | st.sampled_from(["OK", "NODEEXISTS"]),
)


@given(STEPS)
def test_a_step_is_its_text(step):
    assert parse_step(str(step)) == step


def test_how_a_step_reads():
    step = Step("controller.register", {"b": 1, "applied": 0}, "NODEEXISTS")
    assert str(step) == "controller.register(b=1, applied=0) -> NODEEXISTS"
    assert str(Step("clock.tick")) == "clock.tick()"


@pytest.mark.parametrize("text", ["", "tick", "tick(", "tick() -> ", "tick(b)", "tick(b=x)", "tick() OK"])
def test_other_text_is_not_a_step(text):
    with pytest.raises(ValueError):
        parse_step(text)


def test_the_name_of_a_step_has_no_module():
    assert parse_step("controller.register(b=1) -> OK").name == parse_step("register(b=1)").name == "register"


def test_what_is_declared_of_transitions_is_found_by_their_names():
    def register(s, b):
        """A transition."""

    assert names(register) == ("register",)
    assert by_name({register: 7}) == {"register": 7}
