"""A step as pictures draw it, from the declaration of its transition: its lane, words and arrows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kafkaproof.spec.language.domains import named
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.steps import Step


def step_drawn(step: Step, transition: Transition, lanes: list[str]) -> dict[str, object]:
    """A step of a history (`kafkaproof.checker.pictures.history`) without the state after it: text, lane, words and
    arrows.
    """
    values = {**step.arguments, "answer": step.answer or ""}
    arrows = [
        {
            "from": lanes.index(arrow.source.format(**values)),
            "to": lanes.index(arrow.target.format(**values)),
            "label": arrow.label.format(**values),
            "kind": arrow.kind,
        }
        for arrow in transition.arrows
        if arrow.source.format(**values) != arrow.target.format(**values)
    ]
    lane = transition.lane.format(**values)
    return {
        "text": str(step),
        "lane": lanes.index(lane) if lane in lanes else 0,
        "words": words_of(transition, step.arguments),
        "arrows": arrows,
    }


def words_of(transition: Transition, arguments: Mapping[str, int]) -> str:
    """What the transition does, with arguments in the place of their names: ``Broker 1 registers``."""

    def value(match):
        name = match[1]
        return str(named(transition.arguments[name], arguments[name])) if name in arguments else match[0]

    return re.sub(r"`(\w+)`", value, transition.words)
