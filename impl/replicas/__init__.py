"""Which steps of replication run, by what has arrived and by timers."""
