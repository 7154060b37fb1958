"""What Spark does: the cluster, a level's work in each partition, handing states to their owners."""
