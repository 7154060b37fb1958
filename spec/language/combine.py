"""Functions made of functions: this and then that, steps joined into one, the same on a part of the state, a request under
a check, the same with other callees.

But for the last, what is made has a text of its own (see `text`), in which its parts are called: it is compiled, proved,
rebound and held to the rules like any other. It belongs to the module that makes it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from types import FunctionType

from kafkaproof.spec.language.rebind import copy_of, rebind
from kafkaproof.spec.language.text import function_from


def then(transition: Callable, effect: Callable) -> FunctionType:
    """The transition, and where it is taken then `effect`, whose parameters are some of the transition's."""
    return _made(
        transition.__name__,
        _parameters(transition),
        f"if not part({_text(_parameters(transition))}):",
        "    return False",
        "",
        f"effect({_text(_parameters(effect))})",
        "return True",
        names={"part": transition, "effect": effect},
        annotations=transition.__annotations__,
        doc=_with_effect(inspect.getdoc(transition) or "", effect),
    )


def at_once(name: str, first: Callable, *following: Callable) -> Callable:
    """One coarse step, called `name`, of several: `first`, and where it is taken each of the others that can be then.

    It has the arguments of all; `delivery` comes last. It stands for behaviours in which nothing comes between these
    steps, and it is a declared exception from the rule of one request: each of its parts keeps that rule.
    """
    joined = first
    for each in following:
        joined = _joined(name, joined, each)
    joined.__module__ = sys._getframe(1).f_globals["__name__"]
    return joined


def _joined(name, first, second):
    own, more = _parameters(first), _parameters(second)
    wanted = own + [each for each in more if each not in own]
    parameters = [each for each in wanted if each != "delivery"] + [each for each in wanted if each == "delivery"]
    function = _made(
        name,
        parameters,
        f"if not part({_text(own)}):",
        "    return False",
        "",
        f"following({_text(more)})",
        "return True",
        names={"part": first, "following": second},
        annotations={**second.__annotations__, **first.__annotations__},
        doc=_with_effect(inspect.getdoc(first) or "", second),
    )
    function.__joins__ = ("part", "following")
    return function


def for_each(transition: Callable, index: str, array: str) -> FunctionType:
    """The transition with every index of an array of the state as its argument `index`, in turn, where it can be taken.

    It is no transition itself, but what may follow in `at_once`; `array` is a path such as ``brokers[b].partitions``.
    """
    parameters = _parameters(transition)
    function = _made(
        f"every_{transition.__name__}",
        [each for each in parameters if each != index],
        f"for {index} in range(len(s.{array})):",
        f"    each({_text(parameters)})",
        names={"each": transition},
        annotations={name: domain for name, domain in transition.__annotations__.items() if name != index},
        doc=inspect.getdoc(transition) or "",
    )
    function.__joins__ = ("each",)
    return function


def on(transition: Callable, part: str, index: str, domain: object) -> FunctionType:
    """The transition on one part of a larger state: `part[index]`, a record that is a whole state to the transition.

    The index is an argument of the new transition, behind the first, from `domain`.
    """
    parameters = _parameters(transition)
    others = parameters[1:]
    return _made(
        transition.__name__,
        [parameters[0], others[0], index, *others[1:]],
        f"if not part({_text([f's.{part}[{index}]', *others])}):",
        "    return False",
        "",
        "return True",
        names={"part": transition},
        annotations=transition.__annotations__ | {index: domain},
        doc=inspect.getdoc(transition) or "",
    )


def checked(request: Callable, check: Callable) -> FunctionType:
    """``multi[check, request]``: what `check` answers unless it is OK (0), otherwise what the request answers.

    Its name is that of the request behind ``checked_``. It has the parameters of both; what only the check wants comes
    last, but before `delivery`.
    """
    own, more = _parameters(request), _parameters(check)
    wanted = [each for each in more if each not in own]
    at = len(own) - (own[-1] == "delivery")
    return _made(
        f"checked_{request.__name__}",
        [*own[:at], *wanted, *own[at:]],
        f"answer = check({_text(more)})",
        "if answer != 0:",
        "    return answer",
        f"return unchecked({_text(own)})",
        names={"check": check, "unchecked": request},
        annotations={},
        doc=f"multi[check /controller_epoch, {request.__name__}]: as `{request.__name__}`, or FENCED by the check.",
    )


def with_callees(function: Callable, replacements: Mapping[Callable, Callable]) -> Callable:
    """The function with each callee, direct or not, replaced that is a key of `replacements`.

    Raises ValueError if it calls none of them.
    """
    rebound = rebind(function, replacements)
    if rebound is function:
        raise ValueError(f"{function.__name__} calls none of {', '.join(each.__name__ for each in replacements)}")
    copy = copy_of(rebound, {})
    copy.__module__ = sys._getframe(1).f_globals["__name__"]
    return copy


def _parameters(function: Callable) -> list[str]:
    return list(inspect.signature(function).parameters)


def _text(parameters: list[str]) -> str:
    return ", ".join(parameters)


def _with_effect(doc: str, effect: Callable) -> str:
    """The docstring of a transition whose effects are followed by those of `effect`."""
    told = " ".join((inspect.getdoc(effect) or "").split())
    return doc.replace("\nKafka:", f"\n         Then: {told}\nKafka:")


def _made(name, parameters, *lines, names, annotations, doc):
    body = "".join(f"    {line}".rstrip() + "\n" for line in lines)
    function = function_from(name, f"def {name}({_text(parameters)}):\n{body}", names)
    function.__annotations__ = {each: annotations[each] for each in parameters if each in annotations}
    function.__doc__, function.__module__ = doc, sys._getframe(2).f_globals["__name__"]
    return function
