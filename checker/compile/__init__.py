"""From the little language to machine code: the kernel that judges and expands packed states."""
