"""The state of a model at the record at which the log of a real ZooKeeper diverges: the one that replay has judged by."""
