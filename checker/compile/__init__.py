"""From the little language to machine code: one kernel that judges and expands packed states."""
