"""The group coordinator, its failover, and the members of one group."""
