"""The text of a scenario: its title, its system, and steps and expectations for each variant.

A scenario is a text file, read line by line:

    title       a sentence
    system      partition
    scope       brokers=2 faults=1               sizes that differ from the default, or the name of a scope
    variant     legacy                           a part begins: what follows happens in this variant
    variant     lock.py:MODEL                    or in a model of one's own, whose file stands beside; it needs no system

    # the story, told before the step that it belongs to
    failover.elect(b=0) -> OK                    a step; its answer may be left out
    refused machines.write_leader(b=0, p=0, delivery=0)     a step that is not possible here
    expect active_controllers = 2                a metric, or a field of the state: = != < <= > >=
    violates no_stale_write                      a property (or its id: C4) that this step, or its state, breaks
    reaches two_controllers                      a goal that the state satisfies

If a property breaks that is not named, the scenario fails. A part may have a `scope` of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.spec.language.steps import parse_step
from kafkaproof.spec.own import is_own

HEADERS = ("title", "system", "scope", "variant")
KINDS = ("refused", "expect", "violates", "reaches")
STEP = "step"
_EXPECTATION = re.compile(r"(\S.*?)\s*(!=|<=|>=|=|<|>)\s*(\S.*)")


class ScenarioError(UserError):
    """A scenario that cannot be read; the message begins with file and line."""


@dataclass(frozen=True)
class Line:
    """One line of a part: its number, its kind (a step, or one of KINDS), its text, and the story before it."""

    number: int
    kind: str
    text: str
    story: str


@dataclass
class Part:
    """What happens in one variant; `sizes` are scope sizes, `scope` the name of a scope or None."""

    number: int
    variant: str
    story: str
    scope: str | None
    sizes: dict[str, int]
    lines: list[Line] = field(default_factory=list)


@dataclass
class Scenario:
    """A scenario as written; `story` is the story in its head."""

    path: str
    title: str = ""
    story: str = ""
    system: str = ""
    scope: str | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return Path(self.path).stem

    def error(self, number: int, text: str) -> ScenarioError:
        """The error at a line."""
        return ScenarioError(f"{self.path}:{number}: {text}")


def read_scenario(path: Path) -> Scenario:
    """Read the scenario in a file; raises ScenarioError if it is not one."""
    scenario, story, number = Scenario(str(path)), [], 0
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not UTF-8 text: {error}") from error
    for number, line in enumerate(lines, start=1):
        content, comment = _split(line)
        story += [comment] if comment else []
        if content:
            _add(scenario, number, content, " ".join(story))
            story = []
    if not scenario.parts:
        raise scenario.error(number or 1, "no part; one begins with: variant NAME")
    return scenario


def _split(line):
    """A line without its comment, and the comment."""
    if line.lstrip().startswith("#"):
        return "", line.lstrip("# \t").strip()
    content, _, comment = line.partition(" #")
    return content.strip(), comment.strip()


def _add(scenario, number, content, story):
    keyword, _, rest = content.partition(" ")
    rest = rest.strip()
    if keyword in (*HEADERS, *KINDS) and not rest:
        raise scenario.error(number, f"{keyword} needs something after it")
    if keyword in HEADERS:
        _header(scenario, number, keyword, rest, story)
    elif not scenario.parts:
        raise scenario.error(number, f"{content!r} before the first part; one begins with: variant NAME")
    else:
        kind = keyword if keyword in KINDS else STEP
        text = rest if kind in KINDS else content
        _check(scenario, number, kind, text)
        scenario.parts[-1].lines.append(Line(number, kind, text, story))


def _header(scenario, number, keyword, rest, story):
    begun = bool(scenario.parts)
    if keyword == "variant":
        if not scenario.system and not is_own(rest):
            raise scenario.error(number, "no system before the first variant")
        scenario.parts.append(Part(number, rest, story, scenario.scope, dict(scenario.sizes)))
        return
    scenario.story = f"{scenario.story} {story}".strip()
    if keyword == "scope":
        _scope(scenario, number, rest, scenario.parts[-1] if begun else scenario)
    elif begun:
        raise scenario.error(number, f"{keyword} stands before the first variant")
    else:
        setattr(scenario, keyword, rest)


def _scope(scenario, number, rest, target):
    for word in rest.split():
        name, equals, value = word.partition("=")
        if not equals:
            target.scope = name
        elif not value.isdigit():
            raise scenario.error(number, f"{word}: a size reads like brokers=2")
        else:
            target.sizes[name] = int(value)


def _check(scenario, number, kind, text):
    if kind in (STEP, "refused"):
        try:
            parse_step(text)
        except ValueError as error:
            message = f"not a step: {text!r}; a step reads like failover.elect(b=0) -> OK"
            raise scenario.error(number, message) from error
    elif kind == "expect":
        try:
            expectation(text)
        except ValueError as error:
            raise scenario.error(number, str(error)) from error


def expectation(text: str) -> tuple[str, str, str]:
    """The name, the relation and the value of an expectation; raises ValueError for other text."""
    found = _EXPECTATION.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not an expectation; one reads like active_controllers = 2")
    return found[1], found[2], found[3]
