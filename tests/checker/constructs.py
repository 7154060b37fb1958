"""A state with everything that a declaration may hold, and functions that use every construct of the language."""

from kafkaproof.spec.language.domains import Array, Bound, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.sequences import pop, push
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    everybody,
    intersection,
    is_empty,
    only,
    with_member,
    without_member,
)

SCOPE = {"ids": 3, "size": 2}
SMALL = Number(-4, 4)
PAIR = Record(left=(SMALL, ""), right=(SMALL, ""), grid=(Array(Array(SMALL, "ids"), Bound("size")), ""))
STATE = Record(
    flag=(Flag(), ""),
    x=(SMALL, ""),
    owner=(Id("ids", nobody=True), ""),
    members=(SetOf("ids"), ""),
    numbers=(Array(SMALL, "ids"), ""),
    pair=(PAIR, ""),
    pairs=(Array(PAIR, "ids"), ""),
    queue=(Sequence(SMALL, Bound("size")), ""),
)
LIMIT = 3
LARGE = True
number = 7


def arithmetic(s, a, b):
    return -a + b * s.x - (LIMIT if a else -2) + LARGE


def comparisons(s, a, b):
    return (a == b) + 2 * (a != b) + 4 * (a < b) + 8 * (a <= b) + 16 * (a > b) + 32 * (a >= b)


def chains(s, a, b):
    return (-2 <= a < b) + 2 * (a < b <= s.x < 4) + 4 * (0 < touched(s) < touched(s))


def touched(s):
    s.x += 1
    return s.x


def short_circuit(s, a, b):
    if a > 0 and touched(s) > 0 or b > 0 and not touched(s):
        return 1
    return (a or touched(s)) and (b or touched(s))


def operands(s, a, b):
    return (a and b) * 100 + (a or b) * 10 + (not a) + (a > 1 or b)


def conditional(s, a, b):
    pair = s.pair if a > b else s.pairs[1] if a < b else s.pairs[2]
    pair.left = a if s.flag else b if s.x else 5
    return pair.left


def builtins(s, a, b):
    return min(a, b, s.x) + 10 * max(a, b) + 100 * abs(a - b) + 1000 * len(s.numbers) + len(s.pair.grid)


def indices(s, a, b):
    if 0 <= a < 3:
        s.numbers[a] += b
        s.pairs[a].grid[1][a] = s.numbers[2] - s.numbers[0]
        return s.numbers[a] + s.pairs[a - 1 if a > 0 else a].left
    if s.owner >= 0:
        return s.numbers[s.owner] + s.pair.grid[2][s.owner]
    return a


def loops(s, a, b):
    total = 0
    for i in range(a):
        for j in range(i, b):
            total += i * j + 1
    for i in range(4, a, -2):
        total += i
        i = 100
    for i in range(a, b, 3):
        total = total * 2 + i
    return total


def arrays(s, a, b):
    total = 0
    for element in s.numbers:
        total = total * 3 + element
        s.numbers[2] = a
    for pair in s.pairs:
        pair.left = pair.left + b
        for row in pair.grid:
            pair.right = max(pair.right, row[0])
            row[1] = total
    for row in s.pair.grid:
        total += row[1]
    return total


def last_round(s, a, b):
    at = 0
    for i in range(a):
        if i > 1:
            at = before
        before = i + b
    if a > 0:
        return at * 10 + i
    return at


def early(s, a, b):
    for element in s.numbers:
        if element == a:
            s.x = 1
            return element
        elif element > b:
            return False
    if a < b:
        s.x = 2
    else:
        return 9
    s.flag = 1
    return True


def nothing(s, a, b):
    if a:
        return
    pass


def shadows(s, a, b):
    number = a
    max = b
    touched = number + max
    for LIMIT in range(2):
        touched += LIMIT
    a = a + 1
    s.x = a
    return touched * a


def chained(s, a, b):
    s.x = t = s.numbers[0] = a + b
    t -= 1
    t *= 2
    return t + s.x


def chosen(s, which):
    return s.pairs[which]


def records(s, a, b):
    first = chosen(s, 0)
    first.left = a
    second = chosen(s, 1)
    second.right = first.left + b
    first = second
    first.left = 3
    swap(first)
    return s.pairs[0].left + s.pairs[1].right


def swap(pair):
    left = pair.left
    pair.left = pair.right
    pair.right = left


def members(s, a, b):
    one = with_member(s.members, min(abs(a), 2))
    s.members = without_member(one, min(abs(b), 2))
    both = intersection(s.members, everybody(2))
    rest = difference(s.members, only(1))
    return both + 8 * rest + 64 * contains(s.members, 1) + 128 * is_empty(rest)


def queues(s, a, b):
    if s.queue.length < 2:
        push(s.queue, a)
    if s.queue.length > 0:
        s.x = pop(s.queue)
    return s.queue.length


FUNCTIONS = [
    arithmetic,
    comparisons,
    chains,
    short_circuit,
    operands,
    conditional,
    builtins,
    indices,
    loops,
    arrays,
    last_round,
    early,
    nothing,
    shadows,
    chained,
    records,
    members,
    queues,
]
