"""Clauses as Python text to paste; clauses that differ in one code become one lemma."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from kafkaproof.checker.prove.candidates import Clause
from kafkaproof.checker.prove.vocabulary import Vocabulary
from kafkaproof.spec.language.domains import Choice, Flag

WIDTH = 110


def lemmas(clauses: Iterable[Clause], vocabulary: Vocabulary, first: int) -> dict[str, str]:
    """Lemmas equivalent to the clauses: the text of each function by its name, numbered from `first`."""
    found = {}
    for number, (literals, leaf, codes) in enumerate(_merged(list(clauses), vocabulary), first):
        name = f"lemma_{number}"
        found[name] = _text(name, literals, leaf, codes, vocabulary)
    return found


def _merged(clauses, vocabulary):
    """Each clause, or several that differ in one code: the common literals, and the leaf with its codes."""
    codes, alike = _codes(vocabulary), {}
    for clause in clauses:
        for literals in dict.fromkeys((clause.literals, tuple(map(vocabulary.swapped, clause.literals)))):
            for literal in literals:
                leaf, sign, code = literal.partition(" == ")
                if code in codes.get(leaf, ()):
                    rest = tuple(sorted(l for l in literals if l != literal))
                    alike.setdefault((rest, leaf), {})[clause] = code
    told = set()
    for (rest, leaf), found in sorted(alike.items(), key=lambda group: -len(group[1])):
        left = {clause: code for clause, code in found.items() if clause not in told}
        if len(left) > 1:
            told.update(left)
            yield rest, leaf, list(dict.fromkeys(left.values()))
    yield from ((clause.literals, None, []) for clause in clauses if clause not in told)


def _codes(vocabulary):
    """The codes of each leaf of an enumeration, as text."""
    leaves = {term.text for term in vocabulary.terms if isinstance(term.domain, Choice)}
    found = {}
    for literal in vocabulary.literals:
        if literal.sides and literal.sides[0] in leaves:
            found.setdefault(literal.sides[0], []).append(literal.sides[2])
    return found


def _readable(text, vocabulary):
    """A literal as one would write it: a flag without a number."""
    flags = {term.text for term in vocabulary.terms if isinstance(term.domain, Flag)}
    leaf, sign, value = text.rpartition(" == " if " == " in text else " != ")
    if value != "1" or leaf not in flags:
        return text
    return leaf if sign == " == " else f"not {leaf}"


def _text(name, literals, leaf, codes, vocabulary):
    parts = [_readable(vocabulary.opposite(literal), vocabulary) for literal in literals]
    if leaf:
        others = [code for code in _codes(vocabulary)[leaf] if code not in codes]
        if len(others) < len(codes):
            parts += [f"{leaf} == {code}" for code in others]
        else:
            parts.append(f"({' and '.join(f'{leaf} != {code}' for code in codes)})")
    used = frozenset(chain(*(vocabulary.texts[literal][0].names for literal in literals)))
    used |= {ab for ab in "ab" if leaf and f"[{ab}]" in leaf}
    names = [n for n in vocabulary.names if n in used]
    parameters = ", ".join(["s", *(f"{n}: {vocabulary.shown[n]}" for n in names)])
    parts = (["a == b"] if {"a", "b"} <= used else []) + parts
    line = f"    return {' or '.join(parts)}"
    if len(line) > WIDTH:
        parts = [part.replace(" and ", "\n            and ") if len(part) > WIDTH else part for part in parts]
        joined = "\n        or ".join(parts)
        line = f"    return (\n        {joined}\n    )"
    return f"def {name}({parameters}):\n{line}\n"
