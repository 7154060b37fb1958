"""A migration from ZooKeeper to KRaft: who rules, what a quorum writes to ZooKeeper, and its own log beside that."""
