"""An unclean election marks a partition RECOVERING (KIP-704)."""
