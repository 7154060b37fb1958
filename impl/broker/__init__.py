"""What a broker is: its record, its seams, and how it takes a step and records it."""
