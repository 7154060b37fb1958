"""The reference implementation: brokers that run the checked transitions on a real ZooKeeper."""
