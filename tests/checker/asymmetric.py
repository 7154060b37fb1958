"""Small models over interchangeable nodes: one that is symmetric, and others that tell nodes apart in many ways."""

from dataclasses import replace

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.model import Model, Transition, always, always_step, sometimes
from kafkaproof.spec.language.sequences import pop, push
from kafkaproof.spec.language.sets import contains, is_empty, only, with_member, without_member

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


def pass_on(s, n: Node):
    """The token goes to the next node in a ring."""
    if s.holder != n:
        return False

    s.holder = n + 1 if n + 1 < len(s.served) else 0
    return True


def take_if_less(s, n: Node):
    """The token goes to the lesser of two ids."""
    if s.holder == NOBODY:
        return False

    s.holder = min(s.holder, n)
    return True


def grant_to_last(s):
    """Of the nodes that are not ill the last in a loop gets the token."""
    for n in range(len(s.served)):
        if not contains(s.ill, n):
            s.holder = n
    return True


def heal_but_first(s):
    """All are well but for one, who is named by a constant."""
    s.ill = only(0)
    return True


def serve_by_id(s, n: Node):
    """A node is served as often as its id says; all but the first beyond the bound, in the end."""
    s.served[n] += n
    return True


def overdo(s, n: Node):
    """All but the first do what is always beyond the bound."""
    if n == 0:
        return False

    s.served[n] += 3
    return True


def look_back(s, n: Node):
    """A node looks at the one before it, which the first has not, and forgets what it saw."""
    seen = s.served[n - 1]
    s.left = 1 if seen >= 0 else 0
    return True


def drop(s):
    """The last in the queue is dropped, and its slot not cleared."""
    if s.waiting.length == 0:
        return False

    s.waiting.length -= 1
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


def first_holds_it(s):
    """Node 0 has the token."""
    return s.holder == 0


def fewer_upwards(s):
    """The more are ill, the higher their ids."""
    for n in range(len(s.served) - 1):
        if contains(s.ill, n) and not contains(s.ill, n + 1):
            return False
    return True


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
        system="token",
        variant="ring",
        story="",
        state=STATE,
        initial=initial,
        transitions=(*map(Transition, (ask, fall_ill, grant)), *others),
        properties=properties,
        scope=scope,
        largest=scope,
        lanes=lambda scope: ["cluster"],
        interchangeable={"nodes": ()},
    )


RECOVER = Transition(recover)


def some_recover(nodes, apart):
    """The token of three nodes, of which only `nodes` recover; the first `apart` are told apart from the rest."""
    return replace(token(Transition(recover, only={"n": nodes})), interchangeable={"nodes": (apart,)})


HERE = r"asymmetric\."
WITH = "with nodes 0 1 2 renamed . . ."
ASYMMETRIC = {
    "the least id": (token(Transition(grant_to_least)), rf"{HERE}grant_to_least\(\), {WITH}, would set holder to"),
    "the last in a loop": (token(Transition(grant_to_last)), rf"{HERE}grant_to_last\(\), {WITH}, would set holder to"),
    "one id": (
        token(Transition(only_last_gives_back), properties=(always(somebody_holds),), initial=first_holds),
        rf"{HERE}only_last_gives_back\(n=.\) is (enabled|not), but {WITH} .*, where holder is .",
    ),
    "a comparison of ids": (
        token(Transition(pass_upwards)),
        rf"{HERE}pass_upwards\(n=.\) is (enabled|not), but {WITH}",
    ),
    "arithmetic": (token(Transition(pass_on)), rf"{HERE}pass_on\(n=.\), {WITH}, would set holder to ., but"),
    "the lesser of two": (token(Transition(take_if_less)), rf"{HERE}take_if_less\(n=.\), {WITH}, would set holder to"),
    "an id as a number": (token(Transition(count_id)), rf"{HERE}count_id\(\), {WITH}, would set left to ., but"),
    "zero for nobody": (token(Transition(forget_with_zero)), rf"{HERE}forget_with_zero\(\), {WITH}, would set holder"),
    "a set of one": (
        token(Transition(heal_but_first)),
        rf"{HERE}heal_but_first\(\), {WITH}, would set ill to \[1\], but",
    ),
    "what is cut": (token(Transition(serve_by_id)), rf"{HERE}serve_by_id\(n=.\).*{WITH}"),
    "what is always cut": (
        token(Transition(overdo)),
        rf"{HERE}overdo\(n=1\) is cut by the bound turns, but {WITH} {HERE}overdo\(n=0\) is not",
    ),
    "an index out of range": (
        token(Transition(look_back)),
        rf"{HERE}look_back\(n=.\) may use indices out of range where {HERE}look_back\(n=.\), {WITH}, does not",
    ),
    "a free slot": (token(Transition(drop)), rf"after {HERE}drop\(\), a free slot of a sequence may name somebody"),
    "who takes a step": (
        some_recover(Number(0, 1), 1),
        rf"{HERE}recover\(n=1\) is enabled, but {WITH} {HERE}recover\(n=2\) is never, where ill is \[",
    ),
    "a property of states": (
        token(properties=(always(last_is_well),)),
        rf"property last_is_well answers otherwise {WITH}, where ill is \[",
    ),
    "a property of two": (
        token(properties=(always(fewer_upwards),)),
        f"property fewer_upwards answers otherwise {WITH}",
    ),
    "a goal": (token(properties=(sometimes(first_holds_it),)), f"property first_holds_it answers otherwise {WITH}"),
    "a property of steps": (
        token(RECOVER, properties=(always_step(recovers_downwards, of=("recover",)),)),
        rf"property recovers_downwards of {HERE}recover\(n=.\) answers otherwise {WITH}",
    ),
}
"""Models that tell nodes apart, with what is told of each."""
