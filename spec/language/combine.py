"""Functions made of functions: this and then that, the same on a part of the state, a request under a check, the same
with other callees.

But for the last, what is made has a text of its own (see `text`), in which its parts are called: it is compiled, proved,
rebound and held to the rules like any other. It belongs to the module that makes it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from types import FunctionType

from kafkaproof.spec.language.rebind import rebind
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
    copy = rebind(function, replacements)
    if copy is function:
        raise ValueError(f"{function.__name__} calls none of {', '.join(each.__name__ for each in replacements)}")
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
