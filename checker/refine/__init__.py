"""Refinement: every behaviour of a concrete model is one of an abstract model, as far as they must agree.

For each concrete state the set of abstract states is kept that some abstract behaviour with the same appearance may
be in by now. A concrete step is matched by abstract steps (none, one or several) through states that pass beside the
concrete state before or after it, and end in states that agree. When no abstract state is left, the concrete
behaviour is none of the abstract model's: that is the divergence, and breadth first it is a shortest one. It needs
neither a function between the states nor prophecies, and is exact for finite behaviours at one scope.

`abstract` numbers the abstract states, `matching` says which of them may stand beside a concrete one, `search`
follows the concrete behaviours.
"""
