"""Small models over interchangeable nodes: one that is symmetric, and others that tell nodes apart in many ways."""

from dataclasses import replace

from spec.language.domains import NOBODY, Array, Bound, Id, Number, Record, Sequence, SetOf
from spec.language.model import Model, Transition, always, always_step, sometimes
from spec.language.sequences import pop, push
from spec.language.sets import contains, is_empty, with_member, without_member

Node = Id("nodes")
STATE = Record(
    waiting=(Sequence(Node, Bound("room")), "nodes that wait for the token, in their order"),
    holder=(Id("nodes", nobody=True), "who holds the token"),
    served=(Array(Number(0, Bound("turns")), "nodes"), "how often each held it"),
    ill=(SetOf("nodes"), "nodes that do not ask"),
    left=(Number(0, 9), "a number that has nothing to do with nodes"),
)


def nobody_holds(s):
    """Nobody holds the token."""
    s.holder = NOBODY


def first_holds(s):
    """Node 0 holds the token: nobody else is told apart by a start like that."""
    s.holder = 0


def ask(s, n: Node):
    """Wait for the token."""
    if contains(s.ill, n):
        return False

    push(s.waiting, n)
    return True


def fall_ill(s, n: Node):
    """Ask no more."""
    if contains(s.ill, n):
        return False

    s.ill = with_member(s.ill, n)
    return True


def recover(s, n: Node):
    """Ask again."""
    if not contains(s.ill, n):
        return False

    s.ill = without_member(s.ill, n)
    return True


def grant(s):
    """The token goes to whoever has waited longest."""
    if s.waiting.length == 0:
        return False

    s.holder = pop(s.waiting)
    s.served[s.holder] += 1
    return True


def grant_to_least(s):
    """The token goes to the node with the least id that is not ill."""
    least = NOBODY
    for n in range(len(s.served)):
        if least == NOBODY and not contains(s.ill, n):
            least = n
    if least == NOBODY:
        return False

    s.holder = least
    return True


def only_last_gives_back(s, n: Node):
    """The node with the highest id alone gives the token back."""
    if s.holder != n or n != len(s.served) - 1:
        return False

    s.holder = NOBODY
    return True


def pass_upwards(s, n: Node):
    """The token goes to a node with a higher id."""
    if s.holder >= n:
        return False

    s.holder = n
    return True


def count_id(s):
    """The id of the holder is used as a number."""
    if s.holder == NOBODY:
        return False

    s.left = s.holder
    return True


def forget_with_zero(s):
    """Zero is written where nobody is meant."""
    if is_empty(s.ill):
        return False

    s.holder = 0
    return True


def holder_is_well(s):
    """The holder is not ill."""
    return s.holder == NOBODY or not contains(s.ill, s.holder)


def last_is_well(s):
    """The node with the highest id is not ill."""
    return not contains(s.ill, len(s.served) - 1)


def somebody_holds(s):
    """The token is with somebody."""
    return s.holder != NOBODY


def someone_was_served_twice(s):
    """A node has held the token twice."""
    for n in range(len(s.served)):
        if s.served[n] == 2:
            return True
    return False


def served_by_holding(before, after):
    """Only who holds the token has held it once more."""
    for n in range(len(before.served)):
        if after.served[n] != before.served[n] and after.holder != n:
            return False
    return True


def recovers_downwards(before, after, n):
    """Whoever recovers has an id below the holder's."""
    return n <= after.holder


PROPERTIES = (always(holder_is_well), sometimes(someone_was_served_twice), always_step(served_by_holding))


def token(*others: Transition, properties=PROPERTIES, initial=nobody_holds) -> Model:
    """The token of three nodes, with more transitions: `holder_is_well` fails at 3."""
    scope = {"nodes": 3, "room": 2, "turns": 2}
    return Model(
        system="token", variant="ring", story="", state=STATE, initial=initial,
        transitions=(*map(Transition, (ask, fall_ill, grant)), *others), properties=properties,
        scope=scope, largest=scope, lanes=lambda scope: ["cluster"], interchangeable={"nodes": ()},
    )


RECOVER = Transition(recover)


def some_recover(nodes, apart):
    """The token of three nodes, of which only `nodes` recover; the first `apart` are told apart from the rest."""
    return replace(token(Transition(recover, only={"n": nodes})), interchangeable={"nodes": (apart,)})


RENAMED = "with nodes 0 1 2 renamed"
ASYMMETRIC = {
    "the least id": (
        token(Transition(grant_to_least)), rf"asymmetric\.grant_to_least\(\), {RENAMED} . . ., would set holder"),
    "one id": (
        token(Transition(only_last_gives_back), properties=(always(somebody_holds),), initial=first_holds),
        rf"asymmetric\.only_last_gives_back\(n=2\) is enabled, but {RENAMED}"),
    "a comparison of ids": (
        token(Transition(pass_upwards)), rf"asymmetric\.pass_upwards\(n=.\) is enabled, but {RENAMED}"),
    "an id as a number": (
        token(Transition(count_id)), rf"asymmetric\.count_id\(\), {RENAMED} . . ., would set left to ., but"),
    "zero for nobody": (
        token(Transition(forget_with_zero)), rf"asymmetric\.forget_with_zero\(\), {RENAMED} . . ., would set h"),
    "who takes a step": (some_recover(Number(0, 1), 1), rf"asymmetric\.recover\(n=1\) is enabled, but {RENAMED}"),
    "a property of states": (
        token(properties=(always(last_is_well),)), f"property last_is_well answers otherwise {RENAMED}"),
    "a property of steps": (
        token(RECOVER, properties=(always_step(recovers_downwards, of=("recover",)),)),
        rf"property recovers_downwards of asymmetric\.recover\(n=.\) answers otherwise {RENAMED}"),
}
"""Models that tell nodes apart, with what is told of each."""
