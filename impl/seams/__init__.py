"""What the specification's seams are in a running broker: a live ZooKeeper, the network, storage."""
