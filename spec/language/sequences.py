"""Sequences: push and pop. Elements are ints; records are written through their slot."""


def push(sequence, value):
    """Append `value` behind the last element."""
    sequence.slots[sequence.length] = value
    sequence.length += 1


def pop(sequence):
    """Remove and return the oldest element of a non-empty sequence, shifting the others."""
    oldest = sequence.slots[0]
    for i in range(len(sequence.slots) - 1):
        sequence.slots[i] = sequence.slots[i + 1]
    sequence.length -= 1
    return oldest
