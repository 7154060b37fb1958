"""The parser of a command, whose options may depend on what its arguments name."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from kafkaproof.checker.basics.errors import meant


class _Help(argparse.HelpFormatter):
    """Fills the paragraphs of texts to the terminal's width, and leaves indented lines, such as examples, as they are."""

    def _fill_text(self, text, width, indent):
        parts = re.split(r"((?:^[ ].*\n?|^\n)+)", text, flags=re.MULTILINE)
        filled = (part if n % 2 or not part else f"{_filled(part, width)}\n" for n, part in enumerate(parts))
        return "".join(filled)

    def _split_lines(self, text, width):
        return _filled(text, width).splitlines()


def _filled(text: str, width: int) -> str:
    """A paragraph of lines that fit; names with hyphens stay whole."""
    return textwrap.fill(" ".join(text.split()), width, break_on_hyphens=False)


class BriefParser(argparse.ArgumentParser):
    """A parser that answers wrong use with one line and where help is, not with its whole usage."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end with exit code 2."""
        message = re.sub(r"invalid int value: ('.*')", r"\1 is not a whole number", message)
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        known = re.findall(r"'(.*?)'", wrong[2]) if wrong else ()
        self.exit(2, f"{self.prog}: {message}{meant(wrong[1], known) if wrong else ''}; see {self.prog} --help\n")


class CommandParser(BriefParser):
    """A parser that may learn from its arguments which options it has, before it reads them."""

    learn: Callable[[CommandParser, Sequence[str]], None] | None = None

    def __init__(self, **named):
        super().__init__(**{"formatter_class": _Help} | named)

    def parse_known_args(self, args=None, namespace=None):
        """Learn, once, and parse; an unknown option is an error here, where the command and its help are named."""
        learn, self.learn = self.learn, None
        if learn:
            learn(self, args or ())
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = (each.partition("=")[0] for each in unknown if each.startswith("--"))
            likely = "".join(meant(option, self._option_string_actions) for option in options)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{likely}")
        return parsed, unknown

    def positionals_in(self, arguments: Sequence[str]) -> Iterator[str]:
        """The arguments that are neither options nor their values, as far as the options are known."""
        rest = iter(arguments)
        for each in rest:
            option = self._option_string_actions.get(each)
            if option and option.nargs != 0:
                next(rest, None)
            elif not each.startswith("-"):
                yield each

    def has_option(self, option: str) -> bool:
        """Whether there is an option of this name."""
        return option in self._option_string_actions

    def explain(self, option: str, told: str) -> None:
        """Give an option its help."""
        self._option_string_actions[option].help = told
