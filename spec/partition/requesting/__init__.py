"""A failover ends with a request for preferred leaders, also where there is none."""
