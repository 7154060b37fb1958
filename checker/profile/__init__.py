"""Where a run's time, memory and states went."""
