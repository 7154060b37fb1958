"""A trace in Apalache's Informal Trace Format, which other tools read.

The format is that of https://apalache-mc.org/docs/adr/015adr-trace.html: `vars` names the fields of a
state, and each of `states` gives them all. A record is an object, an array or a sequence a list, a set
``{"#set": [...]}``, a named code its name as a string, a flag a boolean, and any other value an integer.
The format has no null: nobody is -1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkaproof.spec.language.domains import NOBODY, Array, Id, Record, SetOf, named
from kafkaproof.spec.language.layout import length
from kafkaproof.spec.language.model import Property
from kafkaproof.spec.language.plain import Plain, elements_of

if TYPE_CHECKING:
    from kafkaproof.checker.runs.counterexample import Trace


def to_itf(trace: Trace, violated: Property | None) -> dict:
    """The trace as JSON; each state's `#meta` has its index and, from 1 on, the step that leads to it.

    `loop` is the index of the state that the last one equals: from there on, the trace repeats for ever.
    """
    model, record, scope = trace.model, trace.model.state, trace.scope
    states: list[tuple[Plain, dict[str, int | str]]] = [(trace.initial, {"index": 0})]
    for number, (step, _, after) in enumerate(trace.steps, start=1):
        states.append((after, {"index": number, "step": str(step)}))
    lasso = {} if trace.loop is None else {"loop": trace.loop}
    about = f": {violated.name} is violated. {violated.text}" if violated else ""
    return {
        "#meta": {
            "format": "ITF",
            "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
            "source": model.name,
            "scope": dict(scope),
            "description": f"A trace of kafkaproof{about}",
        },
        "vars": list(record.fields),
        "states": [{"#meta": meta, **_value(record, state, scope)} for state, meta in states],
        **lasso,
    }


def _value(domain, value, scope):
    if isinstance(domain, Record):
        if elements := elements_of(domain):
            return [_value(elements.of, element, scope) for element in value.slots[: value.length]]
        return {name: _value(field.domain, getattr(value, name), scope) for name, field in domain.fields.items()}
    if isinstance(domain, Array):
        return [_value(domain.of, element, scope) for element in value[: length(domain, scope)]]
    if isinstance(domain, SetOf):
        return {"#set": named(domain, value)}
    if isinstance(domain, Id) and value == NOBODY:
        return NOBODY
    return named(domain, int(value))
