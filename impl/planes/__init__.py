"""The data planes of a broker: replication of partitions, and their logs on disk."""
