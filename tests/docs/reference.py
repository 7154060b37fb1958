"""The rows of the reference: all names of the public package, with what their docstrings say."""

import inspect
import re
from collections.abc import Iterator

from kafkaproof import model, testing

SECTIONS = {
    "Domains": ("Number", "Flag", "Choice", "Id", "NOBODY", "SetOf", "Array", "Sequence", "Record"),
    "Sizes": ("Size", "Bound", "Budget"),
    "Sets": (
        "contains",
        "is_empty",
        "only",
        "with_member",
        "without_member",
        "everybody",
        "union",
        "intersection",
        "difference",
    ),
    "Sequences": ("push", "pop"),
    "A model": ("Model", "Transition", "Arrow", "model_of"),
    "Properties": ("always", "always_step", "sometimes", "eventually", "eventually_always", "Property"),
    "Metrics": ("gauge", "counter"),
    "Fairness": ("weak", "strong", "finitely", "at_last"),
    "Exploring and drawing": ("explore_here", "Explored", "history_of", "render", "to_svg", "to_text", "UserError"),
    "Tests": tuple(testing.__all__),
}
WITH_METHODS = ("Record", "Size", "Model", "Explored")
"""The classes whose methods and properties are told, too."""
NOT_WRITTEN = {"replaced", "origin"}
"""Fields of a model that nobody writes."""
CONSTANTS = {"NOBODY": "No id: the value -1, which an `Id` with `nobody` may have."}


def rows() -> list[str]:
    """The rows, with the headings between them."""
    found = []
    for number, (title, names) in enumerate(SECTIONS.items()):
        found += ["", f"## {title}", "", "| name | what it is |", "| --- | --- |"] if number else []
        found += [row for name in names for row in _rows_of(name)]
    return found


def _rows_of(name: str) -> Iterator[str]:
    if name in CONSTANTS:
        yield f"| `{name}` | {CONSTANTS[name]} |"
        return
    value = getattr(model, name, None) or getattr(testing, name)
    yield f"| `{name}{_parameters(value)}` | {_told(value)} |"
    for method, member in vars(value).items() if name in WITH_METHODS else ():
        if not method.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
            parameters = _parameters(member, 1) if inspect.isfunction(member) else ""
            yield f"| `{name}.{method}{parameters}` | {_told(member)} |"


def _parameters(function, skipped=0) -> str:
    """The parameters of a function or a class, without annotations."""
    if inspect.isclass(function) and issubclass(function, Exception):
        return ""
    found, keywords = [], False
    for each in list(inspect.signature(function).parameters.values())[skipped:]:
        if each.name in NOT_WRITTEN:
            continue
        keywords = keywords or each.kind is each.VAR_POSITIONAL
        if each.kind is each.KEYWORD_ONLY and not keywords:
            found.append("*")
            keywords = True
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        found.append(f"{stars}{each.name}{_default(each)}")
    return f"({', '.join(found)})"


def _default(parameter) -> str:
    default = parameter.default
    if default is parameter.empty:
        return ""
    return f"={default!r}" if isinstance(default, (str, int, tuple, type(None))) else "=..."


def _told(value) -> str:
    """A docstring as a cell of a table: paragraphs and points are lines of it."""
    paragraphs = inspect.getdoc(value).split("\n\n")
    text = "<br><br>".join(" ".join(re.sub(r"\n- ", "<br>- ", each).split()) for each in paragraphs)
    return text.replace("``", "`").replace("|", "\\|")
