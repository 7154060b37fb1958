"""A model in plain Python: selected by name, executed step by step, its fields found by name."""
