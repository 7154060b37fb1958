"""The little language: domains, layouts, plain states, sets, steps, models, rebinding, rules."""
