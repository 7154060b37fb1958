"""Small random models over interchangeable nodes, some of which tell nodes apart."""

import linecache

from hypothesis import strategies as st

from kafkaproof.spec.language.domains import NOBODY, Array, Flag, Id, Number, Record, SetOf
from kafkaproof.spec.language.model import Model, Transition, always, sometimes
from kafkaproof.spec.language.sets import contains, with_member, without_member

STATE = Record(
    holder=(Id("nodes", nobody=True), "who holds the token"),
    ill=(SetOf("nodes"), "nodes that are ill"),
    served=(Array(Flag(), "nodes"), "who has held it"),
    left=(Number(0, 2), "a number"),
)
SCOPE = {"nodes": 2}
ALIKE = (
    "s.holder == {0}",
    "s.holder == NOBODY",
    "s.holder != {0}",
    "contains(s.ill, {0})",
    "not contains(s.ill, {0})",
    "s.served[{0}] == 1",
    "s.served[{0}] == 0",
    "s.left < 2",
    "s.left == 0",
)
APART = ("{0} == 0", "s.holder < {0}", "s.holder == 1", "contains(s.ill, 0)", "s.served[1] == 0", "s.left == {0}")
CHANGES = (
    "s.holder = {0}",
    "s.holder = NOBODY",
    "s.ill = with_member(s.ill, {0})",
    "s.ill = without_member(s.ill, {0})",
    "s.served[{0}] = 1",
    "s.served[{0}] = 0",
    "s.left = 2 - s.left",
    "s.left = 0",
)
CHANGES_APART = ("s.left = {0}", "s.holder = 0", "s.served[1] = 1", "s.ill = with_member(s.ill, 1)")


def nobody_holds(s):
    """Nobody holds the token."""
    s.holder = NOBODY


def function(name, lines, **kinds):
    """A function of the little language from its text."""
    text = "\n    ".join([f"def {name}({', '.join(['s', *kinds])}):", f'"""{name}, made at random."""', *lines, ""])
    file = f"<{name} {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    known = {
        "NOBODY": NOBODY,
        "contains": contains,
        "with_member": with_member,
        "without_member": without_member,
        "__name__": __name__,
    }
    exec(compile(text, file, "exec"), known)
    known[name].__annotations__ = kinds
    return known[name]


def some(alike, apart):
    """One of the texts, seldom one that may tell nodes apart."""
    return st.integers(0, 9).flatmap(lambda n: st.sampled_from(apart if n == 0 else alike))


@st.composite
def transitions(draw, name):
    """A transition: guards, then changes, some of them for each node that a condition is true of."""
    guards = draw(st.lists(some(ALIKE, APART), min_size=1, max_size=2))
    lines = [line for guard in guards for line in (f"if {guard.format('n')}:", "    return False")]
    for change in draw(st.lists(some(CHANGES, CHANGES_APART), min_size=1, max_size=2)):
        if draw(st.booleans()):
            lines.append(change.format("n"))
        else:
            lines += [
                "for k in range(len(s.served)):",
                f"    if {draw(some(ALIKE, APART)).format('k')}:",
                f"        {change.format('k')}",
            ]
    return Transition(function(name, [*lines, "return True"], n=Id("nodes")))


@st.composite
def predicates(draw, name):
    """A predicate: no node, or some node, is as two conditions say."""
    conditions = [draw(some(ALIKE, APART)).format("k") for _ in range(2)]
    found = draw(st.booleans())
    return function(
        name,
        [
            "for k in range(len(s.served)):",
            f"    if {' and '.join(conditions)}:",
            f"        return {found}",
            f"return {not found}",
        ],
    )


@st.composite
def models(draw):
    """A model of two transitions, a property and a goal."""
    steps = tuple(draw(transitions(name)) for name in ("first_step", "second_step"))
    properties = always(draw(predicates("always_so"))), sometimes(draw(predicates("once_so")))
    return Model(
        system="random",
        variant="nodes",
        story="",
        state=STATE,
        initial=nobody_holds,
        transitions=steps,
        properties=properties,
        scope=SCOPE,
        largest=SCOPE,
        lanes=lambda scope: ["cluster"],
        interchangeable={"nodes": ()},
    )
