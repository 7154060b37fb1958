"""Refinement: every behaviour of a concrete model is one of an abstract model, as far as they must agree.

With each concrete state goes the set of abstract states that an abstract behaviour with the same visible fields may
have reached. A concrete step is matched by abstract steps (none, one or several) through states that `passes` allows
beside the concrete state before or after it, and that end in states that `agrees` allows. If no abstract state is left,
the concrete behaviour is not one of the abstract model: a divergence, and breadth first it is a shortest one. This
needs neither a refinement mapping nor prophecy variables, and is exact for finite behaviours at one scope.

`abstract` numbers the abstract states, `matching` says which of them may stand beside a concrete one, `search`
follows the concrete behaviours.
"""
