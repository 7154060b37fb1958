"""Expecting that a rule is broken on the line that ends with ``# here``."""

import inspect
from pathlib import Path

import pytest

from kafkaproof.spec.language.rules import RuleError


def line_of(function):
    """Where the text says that a rule is broken."""
    lines, first = inspect.getsourcelines(function)
    marked = [first + i for i, line in enumerate(lines) if line.endswith("# here\n")]
    return marked[0]


def broken(check, function, rule):
    """`check(function)` says on one line that `function` breaks `rule`, and where."""
    with pytest.raises(RuleError) as raised:
        check(function)
    message, file = str(raised.value), Path(inspect.getsourcefile(function)).name
    assert message.startswith(f"{rule}: ") and message.endswith(f"{file}:{line_of(function)}")
    assert "\n" not in message
