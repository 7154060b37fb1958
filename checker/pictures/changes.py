"""What differs between two nested states made of dicts, lists and plain values.

Lists of equal length are compared place by place. Lists of different length are one
change as a whole if they hold only plain values (`isr: [0, 1, 2] -> [0, 2]`);
otherwise their common beginning and end are skipped, and items appear or disappear by
place (`network[0]: {...} -> ABSENT`). An item that disappears is named by its place in
the old list, one that appears by its place in the new list; applied in the order given,
the changes turn the old state into the new one.
"""

import json
import re

NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
BARE = re.compile(r"[\w/:@-]+", re.ASCII)


class _Absent:
    """The type of ABSENT, which stands for a value that is not there."""

    def __repr__(self):
        return "ABSENT"


ABSENT = _Absent()


def changes(before, after):
    """The list of (path, old, new), path like `brokers[1].epoch`; old or new may be ABSENT."""
    return [(path_text(keys), old, new) for keys, old, new in differences(before, after)]


def differences(before, after, keys=()):
    """Yield (keys, old, new), keys a tuple of dict keys and list places."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from differences(before.get(key, ABSENT), after.get(key, ABSENT), (*keys, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_differences(before, after, keys)
    elif type(before) is not type(after) or before != after:
        yield keys, before, after


def _list_differences(before, after, keys):
    if len(before) == len(after):
        for place, pair in enumerate(zip(before, after)):
            yield from differences(*pair, (*keys, place))
    elif not any(isinstance(item, (dict, list)) for item in (*before, *after)):
        yield keys, before, after
    else:
        shorter = min(len(before), len(after))
        start = _shared(before, after, shorter)
        end = _shared(before[::-1], after[::-1], shorter - start)
        for place in range(start, shorter - end):
            yield from differences(before[place], after[place], (*keys, place))
        for place in reversed(range(shorter - end, len(before) - end)):
            yield (*keys, place), before[place], ABSENT
        for place in range(shorter - end, len(after) - end):
            yield (*keys, place), ABSENT, after[place]


def _shared(before, after, limit):
    for count in range(limit):
        if any(differences(before[count], after[count])):
            return count
    return limit


def path_text(keys):
    """The path as text: `znodes[/controller].epoch`; a key with other signs is quoted."""
    text = ""
    for key in keys:
        if isinstance(key, str) and NAME.fullmatch(key):
            text += f".{key}" if text else key
        elif isinstance(key, int) or BARE.fullmatch(key):
            text += f"[{key}]"
        else:
            text += f"[{json.dumps(key, ensure_ascii=False)}]"
    return text
