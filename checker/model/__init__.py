"""A model in plain Python: chosen by name, run step by step, its fields by name."""
