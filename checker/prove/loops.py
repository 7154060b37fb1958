"""Loops. A bounded one is unrolled; over an unbounded array, one iteration represents all.

That iteration is run for an arbitrary index. If it may return, the loop returns if some index makes it return, and what
follows holds for all indices. If it writes, it may write only the element at its index, and read of the written arrays
only that element: then iterations are independent, and the array after the loop is known element by element. A local
that iterations change (a count) may have any value after the loop (`parts.GATHERED`), which is sound. If a loop over
an array sized by a bound has another form, the bound keeps its end (`EndNeeded`).
"""

from __future__ import annotations

import ast
from math import inf

import z3

from kafkaproof.checker.prove.expressions import Expressions, Ref
from kafkaproof.checker.prove.formulas import StyleError
from kafkaproof.checker.prove.intervals import interval
from kafkaproof.checker.prove.parts import GATHERED, parts
from kafkaproof.checker.prove.terms import conjunction, disjunction, is_known
from kafkaproof.checker.prove.variables import EVERY, EndNeeded, size_name
from kafkaproof.spec.language.domains import Array, Bound, Id, SetOf
from kafkaproof.spec.language.subset import name_called

MOST_TURNS = 64
"""The most iterations of a loop whose ends are not known: each is nested in a choice within the one before."""


class Loops(Expressions):
    """Runs `for` statements; see `Interpreter`."""

    def _block(self, statements, frame) -> bool:
        """Run statements; see `Interpreter`."""
        raise NotImplementedError

    def _branches(self, condition, yes, no, frame) -> bool:
        """Run one list of statements or the other; see `Interpreter`."""
        raise NotImplementedError

    def _for(self, node, frame):
        end = self._any_end(node.iter, frame)
        if end is not None:
            return self._for_any(node, frame, *end)
        for value, runs in self._elements(node.iter, frame):
            if runs is False:
                continue
            frame.locals[node.target.id] = value
            body = node.body
            if not (self._block(body, frame) if runs is True else self._branches(runs, body, [], frame)):
                return False
        return True

    def _elements(self, node, frame):
        """The items of a loop in order, each with the condition under which the loop reaches it.

        An element is read when its iteration comes, since earlier ones may have written it.
        """
        if isinstance(node, ast.Call):
            *starts, end = [self._number(self._value(argument, frame)) for argument in node.args]
            (start,) = starts or [0]
            least, greatest = self._extreme(start, 0, node, frame), self._extreme(end, 1, node, frame)
            if greatest - least > MOST_TURNS and not (is_known(start) and is_known(end)):
                raise self._style(f"a loop has at most {MOST_TURNS} turns, by the ranges of its ends", node, frame)
            for i in range(least, greatest):
                yield i, conjunction([i >= start, i < end])
            return
        array = self._value(node, frame)
        for i in range(self._length(array, node, frame)):
            yield self._element(array, i, node, frame), True

    def _extreme(self, end, which, node, frame):
        """The least (0) or the greatest (1) value of an end of a loop, by the declared ranges of its parts."""
        if is_known(end):
            return end
        ends = interval(end, self.variables.declared)
        if ends is None:
            rule = "the ends of a loop are made of leaves of the state by choice, sum, difference and product"
            raise self._style(rule, node, frame)
        if ends[which] in (inf, -inf):
            raise EndNeeded(self._endless_in(end), self._place(node, frame))
        return ends[which]

    def _endless_in(self, term):
        """The unbounded bound or sort because of which a leaf in a term has no greatest value."""
        domains = map(self.variables.domain_of, parts(term))
        for domain in (found for found in domains if found):
            _, high, bound = self.variables.limits(domain)
            if bound and high is None:
                return bound
            if high is None and isinstance(domain, (Id, SetOf)):
                return domain.sort

    def _any_end(self, node, frame):
        """For an unbounded loop: the array, or None if it runs over indices; the index it ends at, or None; the domain
        of the array behind it, or None, and its last index. None for a bounded loop.
        """
        if not self.variables.endless:
            return None
        if not isinstance(node, ast.Call):
            array = self._value(node, frame)
            return (array, None, array.domain, self.variables.last(array.domain)) if self._is_any(array) else None
        end = node.args[-1]
        if len(node.args) == 1 and (sized := _whole(end)):
            array = self._value(sized, frame)
            is_whole = sized is _length(end)
            if not self._is_any(array) or not (is_whole or isinstance(array.domain.size, Bound)):
                return None
            return None, None, array.domain, self.variables.last(array.domain) - (0 if is_whole else 1)
        if not self.each:
            return None
        end = self._value(end, frame)
        return (None, end, None, end - 1) if not is_known(end) and any(z3.eq(end, each) for each in self.each) else None

    def _is_any(self, array):
        """Whether a value is an unbounded array. The slots of a sequence do not count: they have an order."""
        if not isinstance(array, Ref) or not isinstance(array.domain, Array):
            return False
        return self.variables.is_endless(array.domain) and array.at[0][1][-1] != "slots"

    def _for_any(self, node, frame, array, end, sized, last):
        is_bound = sized is not None and isinstance(sized.size, Bound)
        self.within.append(last)
        try:
            return self._turn_for_all(node, frame, array, end, self.quantifies or not is_bound)
        except StyleError as refused:
            raise EndNeeded(size_name(sized), self._place(node, frame)) if is_bound else refused from None
        finally:
            self.within.pop()

    def _turn_for_all(self, node, frame, array, end, may_return):
        """Run one iteration, on fresh constants for all arrays, and derive the others from it."""
        each, owed = z3.FreshConst(z3.IntSort(), "each"), len(self.obligations)
        path, stores, known, returned = list(self.path), self.stores, dict(frame.locals), len(frame.returns)
        self.stores, stands = _stand_ins(stores)
        turn = self.stores
        self.each.append(each)
        self.within[-1] = each <= self.within[-1]
        self.path = [*path, each >= 0] + ([] if end is None else [each < end])
        frame.locals[node.target.id] = each if array is None else self._element(array, each, node, frame)
        self._block(node.body, frame)
        self.each.pop()
        turns = self.obligations[owed:]
        self.obligations[owed:] = [(_read_off(condition, stands), where) for condition, where in turns]
        exits, frame.returns = frame.returns[returned:], frame.returns[:returned]
        frame.locals = {name: self._gathered(value, frame.locals[name], node, frame) for name, value in known.items()}
        after, self.path, self.stores = self.stores, path, stores
        changed = _changed(turn, after)
        if exits:
            if not may_return:
                raise self._style("a loop over what has no end returns in predicates alone", node, frame)
            if changed or any(_changed(turn, left) for _, _, left in exits):
                raise self._style("a loop over brokers that returns writes nothing", node, frame)
            self._leave(each, path, exits, stands, node, frame)
        else:
            self._write_all(each, changed, turn, after, stands, node, frame)
        return True

    def _gathered(self, before, after, node, frame):
        """A local after a loop: any value, if the iterations change it."""
        if after is before:
            return after
        if not isinstance(after, (int, z3.ArithRef, z3.BoolRef)):
            raise self._style("a loop over brokers changes no local but numbers and truths", node, frame)
        return z3.FreshConst(z3.IntSort(), GATHERED)

    def _leave(self, each, path, exits, stands, node, frame):
        """Return under the condition that some index returns; what follows holds for all indices."""
        answers = {value for _, value, _ in exits}
        if len(answers) > 1 or not all(isinstance(answer, bool) for answer in answers):
            raise self._style("a loop over brokers returns True or False, always the same", node, frame)
        leaves = disjunction(conjunction(taken[len(path) :]) for taken, _, _ in exits)
        none = z3.ForAll([each], z3.substitute(z3.Not(leaves), *stands))
        frame.returns.append(([*path, z3.Not(none)], answers.pop(), self.stores))
        self.path = [*path, none]

    def _write_all(self, each, changed, turn, after, stands, node, frame):
        """Write every element as the iteration of its index leaves it."""
        arrays = [turn[root][p] for root, p in changed]
        for root, p in changed:
            element = _element(after[root][p], turn[root][p], each) if EVERY in p else None
            if element is None:
                raise self._style("a loop over brokers writes only the element at its index", node, frame)
            element = z3.simplify(element, expand_select_ite=True, expand_select_store=True)
            if not _reads_only_at(element, arrays, each):
                raise self._style("a loop over brokers reads what it writes only at its index", node, frame)
            self._store(root, {p: z3.Lambda([each], z3.substitute(element, *stands))})


def _whole(end):
    """The array whose indices ``range(end)`` covers: ``len(array)``, or ``len(array) - 1`` without the spare slot."""
    if isinstance(end, ast.BinOp) and isinstance(end.op, ast.Sub) and ast.unparse(end.right) == "1":
        end = end.left
    return _length(end)


def _length(end):
    """The array of ``len(array)``, None for any other expression."""
    return end.args[0] if isinstance(end, ast.Call) and name_called(end) == "len" else None


def _stand_ins(stores):
    """Stores with a fresh constant for each unbounded array, and the array that each represents."""
    turn, stands = {root: dict(store) for root, store in stores.items()}, []
    for store in turn.values():
        for path, term in store.items():
            if EVERY in path:
                store[path] = z3.FreshConst(term.sort(), "turn")
                stands.append((store[path], term))
    return turn, stands


def _read_off(condition, stands):
    """A condition of one iteration, about the arrays themselves: no earlier iteration has changed what it reads."""
    return condition if is_known(condition) else z3.substitute(condition, *stands)


def _changed(before, after):
    """The leaves in which two stores differ: root and path."""
    return [(root, path) for root in before for path, term in before[root].items() if after[root][path] is not term]


def _element(term, before, each):
    """The element at `each` of an array that was written only there; None if it was written elsewhere."""
    if z3.eq(term, before):
        return z3.Select(before, each)
    if z3.is_app_of(term, z3.Z3_OP_ITE):
        yes, no = (_element(part, before, each) for part in term.children()[1:])
        return None if yes is None or no is None else z3.If(term.arg(0), yes, no)
    below = z3.is_store(term) and z3.eq(term.arg(1), each) and _element(term.arg(0), before, each) is not None
    return term.arg(2) if below else None


def _reads_only_at(element, arrays, each):
    """Whether a term reads the given arrays only at `each`."""
    written, seen, stack = {array.get_id() for array in arrays}, set(), [element]
    while stack:
        term = stack.pop()
        if term.get_id() in written:
            return False
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if not (z3.is_select(term) and term.arg(0).get_id() in written and z3.eq(term.arg(1), each)):
            stack.extend(term.children())
    return True
