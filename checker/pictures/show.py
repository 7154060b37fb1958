"""Values of a state as short readable text."""

import json
import re

from kafkaproof.checker.pictures.changes import ABSENT

PLAIN = re.compile(r"(?!(?:null|true|false)$)(?:0x|[A-Za-z_/])[\w/.:@()+ -]*", re.ASCII)
LIMIT = 56


def show(value):
    """The value as compact text: `{leader: 0, isr: [0, 1]}`; ABSENT as a dash."""
    if value is ABSENT:
        return "—"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{show(key)}: {show(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(show, value)) + "]"
    if isinstance(value, str) and PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def show_change(old, new):
    """The texts of an old and a new value, each cut to LIMIT characters.

    If two long lists begin alike, the common beginning is replaced by its length.
    """
    texts = show(old), show(new)
    if max(map(len, texts)) > LIMIT and isinstance(old, list) and isinstance(new, list):
        texts = _without_shared_start(old, new)
    return tuple(text if len(text) <= LIMIT else text[: LIMIT - 1] + "…" for text in texts)


def _without_shared_start(old, new):
    shared = 0
    while shared < min(len(old), len(new)) and old[shared] == new[shared]:
        shared += 1
    if shared < 2:
        return show(old), show(new)
    return tuple(f"[{', '.join([f'… {shared} alike', *map(show, items[shared:])])}]" for items in (old, new))
