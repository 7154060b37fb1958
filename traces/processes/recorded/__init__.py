"""What a recording of `kafkaproof run` holds: lines of each process, ZooKeeper's log, and one order of all."""
