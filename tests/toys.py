"""Tiny models whose graphs are known by heart, for tests of everything that runs models.

Each has a goal (*sometimes*) and a property of steps that hold; with `failing`, also a property that
fails at a depth that its function's docstring gives, in states.
"""

from kafkaproof.spec.language.domains import Array, Bound, Budget, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.model import Model, Transition, always, always_step, sometimes
from kafkaproof.spec.language.sequences import pop, push
from kafkaproof.spec.language.sets import contains, with_member
from kafkaproof.spec.language.text import function_from

Node = Id("nodes")
Amount = Number(1, 2)
Value = Number(0, 2)


def tick(s):
    """The clock goes from 0 to 1.

    Guards:  it shows 0.
    Effects: it shows 1.
    Kafka:   none.
    """
    if s.time != 0:
        return False

    s.time = 1
    return True


def tock(s):
    """The clock goes from 1 to 0.

    Guards:  it shows 1.
    Effects: it shows 0.
    Kafka:   none.
    """
    if s.time != 1:
        return False

    s.time = 0
    return True


def shows_one(s):
    """The clock shows 1."""
    return s.time == 1


def shows_zero(s):
    """The clock shows 0."""
    return s.time == 0


def alternates(before, after):
    """Every step changes the clock."""
    return before.time != after.time


def start_clock(s, time: Flag()):
    """Any time."""
    s.time = time


def clock(failing: bool = False) -> Model:
    """A binary clock: 2 states, both initial, 4 generated, depth 1; `shows_zero` fails at 1."""
    return _toy(
        "clock",
        Record(time=(Flag(), "what the clock shows")),
        start_clock,
        (tick, tock),
        (sometimes(shows_one), always_step(alternates)),
        always(shows_zero),
        failing,
        {},
    )


def follow(s, to: Node):
    """Go along an edge.

    Guards:  there is an edge from the present node.
    Effects: the node is its end.
    Kafka:   none.
    """
    if not contains(s.successors[s.node], to):
        return False

    s.node = to
    return True


def at_last(s):
    """The walk is at the node with the highest number."""
    return s.node == len(s.successors) - 1


def never_at_last(s):
    """The walk is not at the node with the highest number."""
    return s.node != len(s.successors) - 1


def along_an_edge(before, after, to):
    """A step ends where it says, and the edges stay."""
    for node in range(len(before.successors)):
        if before.successors[node] != after.successors[node]:
            return False
    return after.node == to


def graph(edges, initial, failing: bool = False) -> Model:
    """A walk over the nodes 0, 1 ... of `edges` (pairs), from any node of the sequence `initial`.

    `never_at_last` fails at the number of nodes of the shortest walk to the highest node.
    """
    nodes = 1 + max(node for edge in [*edges, initial] for node in edge)
    ends = [f"s.successors[{a}] = with_member(s.successors[{a}], {b})" for a, b in edges]
    starts = [f"s.node = {node} if start == {i} else s.node" for i, node in enumerate(initial)]
    start_walk = start(ends + starts, start=Number(0, len(initial) - 1))
    state = Record(
        node=(Node, "where the walk is"),
        successors=(Array(SetOf("nodes"), "nodes"), "ends of the edges of each node; never changes"),
    )
    return _toy(
        "graph",
        state,
        start_walk,
        (follow,),
        (sometimes(at_last), always_step(along_an_edge, of=("follow",))),
        always(never_at_last),
        failing,
        {"nodes": nodes},
    )


def add(s, amount: Amount):
    """Count on by one or two.

    Guards:  none; beyond the bound, the step is cut.
    Effects: the number grows.
    Kafka:   none.
    """
    s.number += amount
    return True


def reaches_three(s):
    """The counter shows 3."""
    return s.number == 3


def below_four(s):
    """The counter is below 4."""
    return s.number < 4


def grows(before, after):
    """The counter grows by one or two."""
    return 1 <= after.number - before.number <= 2


def start_counter(s):
    """Zero."""
    s.number = 0


def counter(limit: int, failing: bool = False) -> Model:
    """A counter from 0 to `limit`: limit + 1 states, 2 * limit generated, 3 steps cut, for limit >= 1.

    `below_four` fails at 3, where `limit` is 4 or more.
    """
    return _toy(
        "counter",
        Record(number=(Number(0, Bound("limit")), "the count")),
        start_counter,
        (add,),
        (sometimes(reaches_three), always_step(grows)),
        always(below_four),
        failing,
        {"limit": limit},
    )


def put(s, value: Value):
    """Append a value to the queue.

    Guards:  none; beyond the bound, the step is cut.
    Effects: the queue is longer by one.
    Kafka:   none.
    """
    push(s.waiting, value)
    return True


def take(s):
    """Take the oldest value out of the queue.

    Guards:  the queue is not empty.
    Effects: the queue is shorter by one; the value is the last one taken.
    Kafka:   none.
    """
    if s.waiting.length == 0:
        return False

    s.taken = pop(s.waiting)
    return True


def full(s):
    """The queue holds all that it can; its array has one slot more."""
    return s.waiting.length == len(s.waiting.slots) - 1


def below_two(s):
    """The queue holds fewer than two values."""
    return s.waiting.length < 2


def oldest_first(before, after):
    """What is taken was the oldest."""
    return after.taken == before.waiting.slots[0]


def start_queue(s):
    """Empty."""
    s.waiting.length = 0


def queue(failing: bool = False) -> Model:
    """A queue of at most two of three values: 39 states (13 queues, 3 last taken); `below_two` fails at 3."""
    state = Record(waiting=(Sequence(Value, Bound("room")), "values that wait"), taken=(Value, "the value taken last"))
    return _toy(
        "queue",
        state,
        start_queue,
        (put, take),
        (sometimes(full), always_step(oldest_first, of=("take",))),
        always(below_two),
        failing,
        {"room": 2},
    )


def red(s, to: Node):
    """Go along a red edge.

    Guards:  there is one from the present node.
    Effects: the node is its end.
    Kafka:   none.
    """
    if not contains(s.reds[s.node], to):
        return False

    s.node = to
    return True


def blue(s, to: Node):
    """Go along a blue edge.

    Guards:  there is one from the present node.
    Effects: the node is its end.
    Kafka:   none.
    """
    if not contains(s.blues[s.node], to):
        return False

    s.node = to
    return True


def leap(s):
    """Leap out of the graph, which a bound cuts.

    Guards:  one can leap from the present node.
    Effects: the walk has left.
    Kafka:   none.
    """
    if not contains(s.ledges, s.node):
        return False

    s.left += 1
    return True


def slip(s, to: Node):
    """Slip along a red edge, a fault.

    Guards:  the present node is icy, and there is a red edge from it.
    Effects: the node is its end; one slip more.
    Kafka:   none.
    """
    if not contains(s.ice, s.node) or not contains(s.reds[s.node], to):
        return False

    s.node = to
    s.slips += 1
    return True


def at_goal(s):
    """The walk is at a node of the goal."""
    return contains(s.goal, s.node)


def at_question(s):
    """The walk is at a node that asks for the goal."""
    return contains(s.question, s.node)


def in_calm(s):
    """The walk is at a calm node."""
    return contains(s.calm, s.node)


def before_calm(s, to):
    """The step leads to a calm node."""
    return contains(s.calm, to)


def colours(walk, properties) -> Model:
    """A walk over nodes along red and blue edges, from node 0, with `properties` of liveness.

    `walk` maps reds and blues to lists of node sets, ledges, ice, goal, question and calm to node sets, as masks, and
    slips to how many of them there may be.
    """
    nodes = len(walk["reds"])
    ends = {f"{name}[{node}]": walk[name][node] for name in ("reds", "blues") for node in range(nodes)}
    sets = ("ledges", "ice", "goal", "question", "calm")
    ends |= {name: walk[name] for name in sets}
    start_walk = start(
        [
            f"s.{name} = with_member(s.{name}, {i})"
            for name, members in ends.items()
            for i in range(nodes)
            if members >> i & 1
        ]
    )
    fixed = {name: (SetOf("nodes"), "never changes") for name in sets}
    state = Record(
        node=(Node, "where the walk is"),
        left=(Number(0, Bound("room")), "whether it has left"),
        slips=(Number(0, Budget("slips")), "how often it has slipped"),
        reds=(Array(SetOf("nodes"), "nodes"), "ends of red edges"),
        blues=(Array(SetOf("nodes"), "nodes"), "ends of blue edges"),
        **fixed,
    )
    scope = {"nodes": nodes, "room": 0, "slips": walk["slips"]}
    return _toy("colours", state, start_walk, (red, blue, leap, slip), properties, None, False, scope)


def start(statements, **domains):
    """An initial state made by statements, once for each value of the arguments that have these domains."""
    lines = [f"def start_walk({', '.join(['s', *domains])}):", *(f"    {line}" for line in statements or ["pass"]), ""]
    function = function_from("start_walk", "\n".join(lines), {"with_member": with_member})
    function.__annotations__.update(domains)
    return function


def _toy(system, state, initial, functions, properties, fails, failing, scope):
    return Model(
        system=system,
        variant="failing" if failing else "sound",
        story="",
        state=state,
        initial=initial,
        transitions=tuple(Transition(function) for function in functions),
        properties=(*properties, fails) if failing else properties,
        scope=scope,
        largest=scope,
        lanes=lambda scope: ["cluster"],
    )
