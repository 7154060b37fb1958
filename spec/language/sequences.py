"""Sequences: push, pop and prefix test. Elements are ints; records are written through their slots."""


def push(sequence, value):
    """Append `value` after the last element."""
    sequence.slots[sequence.length] = value
    sequence.length += 1


def pop(sequence):
    """Remove and return the oldest element of a non-empty sequence, shifting the others."""
    oldest = sequence.slots[0]
    for i in range(len(sequence.slots) - 1):
        sequence.slots[i] = sequence.slots[i + 1]
    sequence.length -= 1
    return oldest


def begins_with(sequence, target):
    """Whether a sequence begins with the elements of another, in their order."""
    for i in range(target.length):
        if i >= sequence.length or sequence.slots[i] != target.slots[i]:
            return False
    return True
