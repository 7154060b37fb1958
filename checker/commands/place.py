"""The options that say where Spark runs."""

from __future__ import annotations

import argparse

from kafkaproof.checker.commands.parser import CommandParser
from kafkaproof.checker.spark.session import Place


def add_place_options(parser: CommandParser) -> None:
    """Add the options of Spark."""
    group = parser.add_argument_group("Spark")
    group.add_argument("--master", default="local[*]", help="Spark master (default %(default)s)")
    group.add_argument(
        "--archive",
        metavar="FILE",
        help="what `kafkaproof pack` made: executors get kafkaproof and its libraries with it, and need no installation",
    )
    group.add_argument(
        "--conf",
        action="append",
        type=_setting,
        default=[],
        metavar="KEY=VALUE",
        help="a setting of Spark, such as spark.executor.memory=4g (repeatable)",
    )


def _setting(text):
    key, equals, value = text.partition("=")
    if not equals or not key.startswith("spark."):
        raise argparse.ArgumentTypeError(f"{text!r} is not a setting of Spark; write spark.executor.memory=4g")
    return key, value


def place_of(options) -> Place:
    """Where Spark runs, as the options say."""
    return Place(options.master, options.archive, dict(options.conf))
