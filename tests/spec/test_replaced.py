"""What a variant replaces is replaced wherever its transitions call it."""

from types import FunctionType

from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.language.rebind import callees, globals_used, original
from kafkaproof.spec.partition.context import drop_event, forget

MEANT = {(forget, drop_event)}
"""What stands for `forget` has dropped all of the event before it calls this one."""


def test_only_what_stands_for_a_function_still_calls_it():
    assert {place for model in all_models() for place in left(model)} == MEANT


def left(model):
    """The calls of replaced functions that a model's transitions make, but for those in what stands for them: callers and
    called.
    """
    instead: dict = {}
    for function, replacement in model.replaced:
        instead.setdefault(original(function), []).append(original(replacement))
    stands = {each for replacements in instead.values() for each in replacements}
    within = {function: {original(each) for each in callees(*found)} for function, found in instead.items()}
    for caller in callees(*(each.function for each in model.transitions), *model.seams):
        for called in globals_used(caller).values():
            if isinstance(called, FunctionType) and (function := original(called)) in set(instead) - stands:
                if original(caller) not in within[function]:
                    yield original(caller), function
